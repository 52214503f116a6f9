// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lines of a ByteSource with their numbers: LF or CRLF, any length, a UTF-8 byte order mark
// skipped.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "read/byte_source.h"

namespace mercer::cli {

class LineReader {
 public:
  explicit LineReader(ByteSource& source);
  /// False at the end. The view lives until the next call and ends before the line break.
  bool next(std::string_view* line);
  /// Number of the line last returned, from 1.
  int64_t number() const { return number_; }
  const std::string& name() const { return source_.name(); }

 private:
  bool refill();

  ByteSource& source_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool ended_ = false;
  int64_t number_ = 0;
};

}  // namespace mercer::cli
