// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A CSV file that is not read whole: blocks of its records, and a uniform sample of these.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace mercer::cli {

/// Blocks end where a line does and quotes match.
class RecordBlocks {
 public:
  /// Fails for what is no plain file of text: a pipe could not be read again.
  explicit RecordBlocks(const std::string& path);

  /// The first block, without a byte order mark.
  const std::string& start() const { return start_; }
  /// Whether that is all of the file.
  bool is_whole() const { return whole_; }
  /// Where records of rows begin, in bytes of the first block, below names and comments.
  void begin_rows_at(size_t bytes) { head_ = bytes; }
  std::string head() const { return start_.substr(0, head_); }

  /// Goes to the first row.
  void rewind();
  /// The next rows, some 1 MiB, and the line of the file where they begin. False at the end.
  bool next(std::string* rows, int64_t* line);

  /// One pass: the head, and `count` of the lines below it, those of the smallest hash of seed and
  /// number, in their order; all if there are no more.
  std::string sample(int64_t count, uint64_t seed);

 private:
  bool fill();

  std::string path_, start_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool whole_ = false, ended_ = false;
  size_t head_ = 0, mark_ = 0;  // mark_: bytes of a byte order mark
  std::string read_;            // bytes that were read and not yet given
  int64_t line_ = 1;            // of the first of these
};

}  // namespace mercer::cli
