// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The last line break outside of quotes ends a block: up to there quotes are even in number, since a
// quote in a quoted field is doubled.
#include "read/record_blocks.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "failure.h"
#include "read/table.h"

namespace mercer::cli {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Behind the last line break outside of quotes; 0: there is none.
size_t end_of_records(std::string_view text) {
  const bool odd = std::ranges::count(text, '"') % 2 != 0;
  bool open = odd;
  for (size_t at = text.size(); at > 0; --at) {
    if (text[at - 1] == '"') open = !open;
    if (text[at - 1] == '\n' && !open) return at;
  }
  return 0;
}

/// Behind the record that begins here.
size_t end_of_record(std::string_view text, size_t at) {
  bool open = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') open = !open;
    if (text[at] == '\n' && !open) return at + 1;
  }
  return at;
}

/// Of the number of a record (Steele, Lea, Flood 2014).
uint64_t hash_of(uint64_t seed, uint64_t number) {
  uint64_t z = seed * 0xd1342543de82ef95 + (number + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

struct Sampled {
  uint64_t hash;
  int64_t number;
  std::string text;
  bool operator<(const Sampled& other) const { return hash < other.hash; }
};

}  // namespace

RecordBlocks::RecordBlocks(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "rb"), std::fclose) {
  constexpr const char* kAgain = ", which --stream would have to read more than once";
  if (path == "-") throw Failure(std::string("standard input") + kAgain + ": save it to a file");
  struct stat known {};
  if (file_ == nullptr || fstat(fileno(file_.get()), &known) != 0)
    fail_at(path, 0, 0, std::strerror(errno));
  if (!S_ISREG(known.st_mode)) throw Failure(path + " is no file" + kAgain);
  whole_ = !fill();
  if (read_.starts_with("\x1f\x8b"))
    throw Failure(path + ": packed by gzip, unpack it for --stream");
  require_known_format(path, read_);
  if (read_.starts_with("\x93NUMPY")) throw Failure(path + ": --stream reads CSV, not .npy");
  mark_ = read_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  start_ = read_.substr(mark_, whole_ ? std::string::npos : end_of_records(read_) - mark_);
}

/// Reads on until there is a block and more; false at the end of the file.
bool RecordBlocks::fill() {
  while (!ended_ && (read_.size() < kBlockBytes || end_of_records(read_) == 0)) {
    stop_if_interrupted();
    const size_t before = read_.size();
    require_memory(path_ + ": a record", static_cast<double>(before));
    read_.resize(before + kBlockBytes);
    const size_t got = std::fread(read_.data() + before, 1, kBlockBytes, file_.get());
    read_.resize(before + got);
    if (std::ferror(file_.get()) != 0) fail_at(path_, 0, 0, std::strerror(errno));
    ended_ = got < kBlockBytes;
  }
  return !ended_;
}

void RecordBlocks::rewind() {
  const auto to = static_cast<long>(mark_ + head_);
  if (std::fseek(file_.get(), to, SEEK_SET) != 0) fail_at(path_, 0, 0, std::strerror(errno));
  line_ = 1 + std::count(start_.begin(), start_.begin() + static_cast<long>(head_), '\n');
  ended_ = false;
  read_.clear();
}

bool RecordBlocks::next(std::string* rows, int64_t* line) {
  const bool more = fill();
  if (read_.empty()) return false;
  const size_t end = more ? end_of_records(read_) : read_.size();
  *rows = read_.substr(0, end);
  *line = line_;
  line_ += std::ranges::count(*rows, '\n');
  read_.erase(0, end);
  require_text(path_, *rows);
  return true;
}

std::string RecordBlocks::sample(int64_t count, uint64_t seed) {
  std::vector<Sampled> kept;  // a heap, the largest hash first
  std::string rows;
  int64_t number = 0, line = 0;
  for (rewind(); next(&rows, &line);)
    for (size_t at = 0, end = 0; at < rows.size(); at = end, ++number) {
      end = end_of_record(rows, at);
      const uint64_t hash = hash_of(seed, static_cast<uint64_t>(number));
      const bool full = std::ssize(kept) == count;
      if (full && hash >= kept.front().hash) continue;
      if (full) {
        std::pop_heap(kept.begin(), kept.end());
        kept.pop_back();
      }
      kept.push_back({hash, number, rows.substr(at, end - at)});
      std::push_heap(kept.begin(), kept.end());
    }
  std::ranges::sort(kept, {}, &Sampled::number);
  std::string text = head();
  for (const Sampled& one : kept) text += one.text;
  return text;
}

}  // namespace mercer::cli
