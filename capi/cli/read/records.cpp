// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/records.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "failure.h"
#include "read/csv.h"

namespace mercer::cli {

size_t end_of_record(std::string_view text, bool first) {
  size_t end = 0;
  bool open = false;
  for (size_t at = 0; at < text.size() && !(first && end > 0); ++at) {
    if (text[at] == '"') open = !open;
    if (text[at] == '\n' && !open) end = at + 1;
  }
  return end;
}

RecordBlocks::RecordBlocks(const std::string& path, bool again)
    : path_(path),
      file_(path == "-" ? fdopen(dup(STDIN_FILENO), "rb") : std::fopen(path.c_str(), "rb"),
            std::fclose) {
  struct stat known {};
  if (file_ == nullptr || fstat(fileno(file_.get()), &known) != 0)
    fail_at(path, 0, 0, std::strerror(errno));
  if (again && (path == "-" || !S_ISREG(known.st_mode)))
    throw Failure(name_of_file(path) +
                  ", which --stream would have to read more than once: save it to a file");
  const bool whole = !fill();
  require_known_format(path, read_);
  if (read_.starts_with("\x1f\x8b") || read_.starts_with("\x93NUMPY"))
    throw Failure(path + ": packed by gzip, or .npy: --stream reads plain CSV");
  start_ = read_.substr(0, whole ? read_.size() : end_of_record(read_, false));
}

void RecordBlocks::begin_rows_at(size_t bytes) {
  head_ = bytes + (start_.starts_with("\xef\xbb\xbf") ? 3 : 0);  // a byte order mark
}

/// Reads on until there is a block; false at the end of the file.
bool RecordBlocks::fill() {
  constexpr size_t kBlock = size_t{1} << 20;
  pollfd waiting = {fileno(file_.get()), POLLIN, 0};
  while (!ended_ && (read_.size() < kBlock || end_of_record(read_, true) == 0)) {
    stop_if_interrupted();
    // A pipe that says nothing for now: what there is goes on.
    if (end_of_record(read_, true) > 0 && poll(&waiting, 1, 0) == 0) break;
    const size_t before = read_.size();
    read_.resize(before + kBlock);
    const ssize_t count = ::read(waiting.fd, read_.data() + before, kBlock);
    read_.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno != EINTR) fail_at(path_, 0, 0, std::strerror(errno));
    ended_ = count == 0;
  }
  return !ended_;
}

void RecordBlocks::rewind() {
  if (lseek(fileno(file_.get()), static_cast<off_t>(head_), SEEK_SET) < 0)
    fail_at(path_, 0, 0, std::strerror(errno));
  line_ = 1 + std::ranges::count(head(), '\n');
  ended_ = false;
  read_.clear();
}

bool RecordBlocks::next(std::string* rows, int64_t* line) {
  const bool more = fill();
  if (read_.empty()) return false;
  *rows = read_.substr(0, more ? end_of_record(read_, false) : read_.size());
  *line = line_;
  line_ += std::ranges::count(*rows, '\n');
  read_.erase(0, rows->size());
  return true;
}

}  // namespace mercer::cli
