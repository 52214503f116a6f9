// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A file as blocks of whole records: rows of a CSV, lines of libsvm, rows of an array in .npy or HDF5.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "read/table.h"

namespace mercer::cli {

/// Some of a file's records: the bytes that hold them, and the line, in an array the row, of the
/// first.
struct RecordRange {
  size_t begin = 0, end = std::numeric_limits<size_t>::max();
  int64_t line = 1;
};

/// Which file it is, and when it was written last.
struct FileState {
  uint64_t device = 0, number = 0;
  int64_t bytes = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const FileState&) const = default;
};

/// Blocks of whole records of a file that is not read at once.
class RecordBlocks {
 public:
  /// Fails for what is no table, and for .npy in Fortran's order; with `again` also for what is no
  /// plain file: it is read more than once. - is standard input.
  RecordBlocks(const std::string& path, bool again);
  const std::string& path() const { return path_; }
  const FileState& state() const { return state_; }
  Format format() const { return format_; }
  /// The first block as a file of its own, with names above.
  std::string start() const { return format_ == Format::npy ? file_of(start_) : start_; }
  /// CSV: where the first row is, behind names and comments.
  void begin_rows_at(size_t bytes);
  /// Of a plain file, whose rows begin where they are known to.
  const RecordRange& range() const { return range_; }
  void take(const RecordRange& range) { range_ = range; }
  /// The k-th of n parts of the rows as even as records allow. `sum` adds up numbers that n
  /// processes have, of which each calls this for a part of its own.
  RecordRange part(int64_t k, int64_t n, const std::function<void(double*, size_t)>& sum);
  /// Goes to the first record.
  void rewind();
  /// The next records, some 1 MiB, and the line of the first; of a CSV whose rows' place is not
  /// known with what is above them. False at the end.
  bool next(std::string* records, int64_t* line);
  /// These as a file that has names above, or a header, if this one has.
  std::string file_of(std::string_view records) const;
  /// The length of the first record of a block; 0: it does not end there.
  size_t first_record(std::string_view records) const { return end_of(records, true); }
  int64_t count(std::string_view records) const;

 private:
  FileState state_;
  void begin_array(const std::string& name, size_t size);
  [[noreturn]] void fail_truncated() const;
  bool fill();
  size_t end_of(std::string_view text, bool first) const;
  void scan(size_t begin, size_t end, const std::function<bool(std::string_view)>& body);
  RecordRange line_part(int64_t k, int64_t n, const std::function<void(double*, size_t)>& sum);
  RecordRange next_record(size_t place, bool open, int64_t line);

  std::string path_, start_, read_;        // read_: not yet given
  std::unique_ptr<ArrayFile> array_file_;  // whose bytes are read in place of file_'s
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  Format format_ = Format::csv;
  NpyLayout array_ = {};
  bool ended_ = false;
  std::string head_ = {};
  RecordRange range_;
  size_t at_ = 0;     // bytes read
  int64_t line_ = 1;  // of read_
};

}  // namespace mercer::cli
