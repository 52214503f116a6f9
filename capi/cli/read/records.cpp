// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/records.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <vector>

#include "failure.h"

namespace mercer::cli {
namespace {

constexpr size_t kRecordBlock = size_t{1} << 20;

/// Behind the first line break outside of quotes, or the last; 0: there is none. A quote in a
/// quoted field is doubled, so that quotes are even in number there.
size_t end_of_lines(std::string_view text, bool quotes, bool first) {
  size_t end = 0;
  bool open = false;
  for (size_t at = 0; at < text.size() && !(first && end > 0); ++at) {
    if (quotes && text[at] == '"') open = !open;
    if (text[at] == '\n' && !open) end = at + 1;
  }
  return end;
}

}  // namespace

RecordBlocks::RecordBlocks(const std::string& path, bool again)
    : path_(path),
      array_file_(open_hdf5(path)),
      file_(path == "-" ? fdopen(dup(STDIN_FILENO), "rb")
                        : std::fopen((array_file_ ? array_file_->file() : path).c_str(), "rb"),
            std::fclose) {
  struct stat known {};
  if (file_ == nullptr || fstat(fileno(file_.get()), &known) != 0)
    fail_at(path, 0, 0, std::strerror(errno));
  if (S_ISDIR(known.st_mode)) fail_at(path, 0, 0, std::strerror(EISDIR));
  state_ = {known.st_dev, known.st_ino, known.st_size, known.st_mtim.tv_sec, known.st_mtim.tv_nsec};
  const bool plain = path != "-" && S_ISREG(known.st_mode);
  if (again && !plain)
    throw Failure(name_of_file(path) +
                  ", which --stream would have to read more than once: save it to a file");
  if (plain) range_.end = array_file_ ? array_file_->size() : static_cast<size_t>(known.st_size);
  fill();
  const std::string name = name_of_file(path);
  require_known_format(name, read_);
  if (read_.starts_with("\x1f\x8b"))
    throw Failure(name + ": packed by gzip: --stream reads plain files");
  format_ = format_of(read_, path);
  if (format_ == Format::npy) begin_array(name, plain ? range_.end : 0);
  start_ = read_.substr(0, ended_ ? read_.size() : end_of(read_, false));
}

/// size: of the file, 0 of a pipe.
void RecordBlocks::begin_array(const std::string& name, size_t size) {
  array_ = npy_layout(read_, name);
  head_ = read_.substr(0, array_.begin);
  read_.erase(0, array_.begin);
  range_ = {array_.begin, array_.begin + array_.row_bytes * static_cast<size_t>(array_.rows)};
  if (std::max(size, at_) > range_.end)
    fail_at(name, 0, 0, "more data than the header's " + array_.shape);
  if (size > 0 && size < range_.end) fail_truncated();
  fill();
}

void RecordBlocks::fail_truncated() const {
  fail_at(name_of_file(path_), 0, 0, "truncated: it ends before the header's " + array_.shape);
}

void RecordBlocks::begin_rows_at(size_t bytes) {
  if (format_ != Format::csv) return;
  range_.begin = bytes + (start_.starts_with("\xef\xbb\xbf") ? 3 : 0);  // a byte order mark
  head_ = start_.substr(0, range_.begin);
  range_.line = 1 + std::ranges::count(head_, '\n');
}

size_t RecordBlocks::end_of(std::string_view text, bool first) const {
  if (format_ != Format::npy) return end_of_lines(text, format_ == Format::csv, first);
  const size_t rows = text.size() / array_.row_bytes;
  return array_.row_bytes * (first ? std::min<size_t>(rows, 1) : rows);
}

int64_t RecordBlocks::count(std::string_view records) const {
  if (format_ == Format::npy) return std::ssize(records) / static_cast<int64_t>(array_.row_bytes);
  int64_t count = 0;
  for (; !records.empty(); ++count) {
    const size_t end = first_record(records);
    records.remove_prefix(end > 0 ? end : records.size());
  }
  return count;
}

std::string RecordBlocks::file_of(std::string_view records) const {
  if (format_ == Format::npy) return npy_header(array_, count(records)).append(records);
  return head_ + std::string(records);
}

/// Reads on until there is a block; false at the end of the file.
bool RecordBlocks::fill() {
  pollfd waiting = {fileno(file_.get()), POLLIN, 0};
  while (!ended_ && (read_.size() < kRecordBlock || end_of(read_, true) == 0)) {
    stop_if_interrupted();
    // A pipe that says nothing for now: what there is goes on.
    if (end_of(read_, true) > 0 && poll(&waiting, 1, 0) == 0) break;
    // Full to the byte, however little a read gives: blocks depend on the file alone.
    const size_t before = read_.size(),
                 most = std::min(before < kRecordBlock ? kRecordBlock - before : kRecordBlock,
                                 range_.end - at_);
    read_.resize(before + most);
    char* const to = read_.data() + before;
    const ssize_t count = most == 0     ? 0
                          : array_file_ ? static_cast<ssize_t>(array_file_->read(to, at_, most))
                                        : ::read(waiting.fd, to, most);
    const int fault = errno;
    at_ += static_cast<size_t>(std::max<ssize_t>(count, 0));
    read_.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && fault != EINTR) fail_at(path_, 0, 0, std::strerror(fault));
    ended_ = count == 0;
  }
  return !ended_;
}

void RecordBlocks::rewind() {
  if (lseek(fileno(file_.get()), static_cast<off_t>(range_.begin), SEEK_SET) < 0)
    fail_at(path_, 0, 0, std::strerror(errno));
  at_ = range_.begin;
  line_ = range_.line;
  ended_ = false;
  read_.clear();
}

bool RecordBlocks::next(std::string* records, int64_t* line) {
  const bool more = fill();
  if (read_.empty()) return false;
  *records = read_.substr(0, more ? end_of(read_, false) : read_.size());
  if (format_ == Format::npy && !more && at_ < range_.end) fail_truncated();
  *line = line_;
  line_ += format_ == Format::npy ? count(*records) : std::ranges::count(*records, '\n');
  read_.erase(0, records->size());
  return true;
}

/// Calls body for bytes from begin to end, until it returns false.
void RecordBlocks::scan(size_t begin, size_t end,
                        const std::function<bool(std::string_view)>& body) {
  std::string bytes(kRecordBlock, ' ');
  for (size_t at = begin; at < end;) {
    stop_if_interrupted();
    const ssize_t count = pread(fileno(file_.get()), bytes.data(), std::min(kRecordBlock, end - at),
                                static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at(path_, 0, 0, std::strerror(errno));
    if (count == 0 || !body({bytes.data(), static_cast<size_t>(count)})) return;
    at += static_cast<size_t>(count);
  }
}

RecordRange RecordBlocks::part(int64_t k, int64_t n,
                               const std::function<void(double*, size_t)>& sum) {
  if (format_ != Format::npy) return line_part(k, n, sum);
  const auto place = [&](int64_t part) {
    return array_.rows / n * part + array_.rows % n * part / n;
  };
  const auto bytes = [&](int64_t part) {
    return array_.begin + array_.row_bytes * static_cast<size_t>(place(part));
  };
  return {bytes(k), bytes(k + 1), place(k) + 1};
}

/// Whether a place is within quotes is known once all quotes before it are counted: each process
/// counts those of its part of the bytes, and then finds the first record that begins there.
RecordRange RecordBlocks::line_part(int64_t k, int64_t n,
                                    const std::function<void(double*, size_t)>& sum) {
  const auto all = static_cast<double>(range_.end - range_.begin);
  const auto at = [&](int64_t part) {
    return range_.begin +
           static_cast<size_t>(all * static_cast<double>(part) / static_cast<double>(n));
  };
  std::vector<double> table(static_cast<size_t>(2 * n + 1), 0.0);  // quotes, then line breaks
  scan(at(k), k + 1 == n ? range_.end : at(k + 1), [&](std::string_view bytes) {
    table[k] += format_ == Format::csv ? std::ranges::count(bytes, '"') : 0;
    table[n + k] += std::ranges::count(bytes, '\n');
    return true;
  });
  sum(table.data(), table.size());
  const auto before = [&](int64_t first) {
    return static_cast<int64_t>(
        std::accumulate(table.begin() + first, table.begin() + first + k, 0.0));
  };
  RecordRange range = range_;
  if (k > 0) range = next_record(at(k), before(0) % 2 == 1, range_.line + before(n));
  std::vector<double> begins(static_cast<size_t>(n + 1), 0.0);
  begins[k] = static_cast<double>(range.begin);
  sum(begins.data(), begins.size());
  if (k + 1 < n) range.end = static_cast<size_t>(begins[k + 1]);
  return range;
}

/// From the first record on that begins behind a place in a line, within quotes or not.
RecordRange RecordBlocks::next_record(size_t place, bool open, int64_t line) {
  bool found = false;
  scan(place, range_.end, [&](std::string_view bytes) {
    for (const char c : bytes) {
      ++place;
      if (c == '"' && format_ == Format::csv) open = !open;
      if (c == '\n') ++line;
      found = c == '\n' && !open;
      if (found) return false;
    }
    return true;
  });
  return {found ? place : range_.end, range_.end, line};
}

}  // namespace mercer::cli
