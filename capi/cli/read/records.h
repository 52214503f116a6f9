// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A CSV file as blocks of whole records.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace mercer::cli {

/// Behind the first line break outside of quotes, or the last; 0: there is none. A quote in a
/// quoted field is doubled, so that quotes are even in number there.
size_t end_of_record(std::string_view text, bool first);

/// Blocks of whole records of a CSV file that is not read at once.
class RecordBlocks {
 public:
  /// Fails for what is no text; with `again` also for what is no plain file: it is read more than
  /// once. - is standard input.
  RecordBlocks(const std::string& path, bool again);
  const std::string& start() const { return start_; }  // the first block, with what is above
  /// Names and comments, which are above the rows.
  std::string head() const { return start_.substr(0, head_); }
  void begin_rows_at(size_t bytes);
  /// Goes to the first row.
  void rewind();
  /// The next rows, some 1 MiB, and the line where they begin, in a first pass with what is above
  /// them. False at the end.
  bool next(std::string* rows, int64_t* line);

 private:
  bool fill();
  std::string path_, start_, read_;  // read_: not yet given
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool ended_ = false;
  size_t head_ = 0;
  int64_t line_ = 1;  // of read_
};

}  // namespace mercer::cli
