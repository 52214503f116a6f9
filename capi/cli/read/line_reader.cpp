// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lines from large reads.
#include "read/line_reader.h"

#include <cstring>

namespace mercer::cli {

LineReader::LineReader(ByteSource& source) : source_(source), buffer_(size_t{1} << 20) {
  if (source_.peek(3) == "\xef\xbb\xbf") {
    char mark[3];
    source_.read(mark, 3);
  }
}

bool LineReader::refill() {
  if (ended_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const size_t got = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  ended_ = got < buffer_.size() - end_;
  end_ += got;
  return got > 0;
}

bool LineReader::next(std::string_view* line) {
  size_t searched = 0;
  const char* feed = nullptr;
  for (;;) {
    const char* from = buffer_.data() + begin_ + searched;
    feed = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_ - searched));
    if (feed != nullptr) break;
    searched = end_ - begin_;
    if (!refill()) break;
  }
  if (feed == nullptr && begin_ == end_) return false;
  const char* start = buffer_.data() + begin_;
  size_t length = feed != nullptr ? static_cast<size_t>(feed - start) : end_ - begin_;
  begin_ += length + (feed != nullptr ? 1 : 0);
  if (length > 0 && start[length - 1] == '\r') --length;
  *line = {start, length};
  ++number_;
  return true;
}

}  // namespace mercer::cli
