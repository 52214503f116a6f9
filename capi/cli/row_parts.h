// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files that are read block by block. The training rows of a stream are a file, or all files of a
// pattern one after the other, of which a process reads its share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataset.h"
#include "read/records.h"

namespace mercer::cli {

/// What the first block says of those that follow.
struct BlockHead {
  explicit BlockHead(const Dataset& rows)
      : rows_at(rows.rows_at),
        named(!rows.input_names.empty()),
        has_numbers(!rows.X.values.empty()) {}
  size_t rows_at;
  bool named, has_numbers;
};
/// Calls read(columns) for each block of a file, once and in order: columns with its content.
void for_each_block(const std::string& path, ColumnRequest columns,
                    const std::function<BlockHead(const ColumnRequest&)>& read);

/// Rows as a file of its own that a reader takes, and where they are.
struct PartBlock {
  std::string path, content;
  int64_t line = 1;  // of the first row
};

/// Whole files go to processes by their order; a single one is shared by its records.
class RowParts {
 public:
  /// Fails where a file is missing, is no table, or has other columns than the first.
  RowParts(const std::string& pattern, const ColumnRequest& columns);
  Format format() const { return format_; }
  /// For reads of blocks: whether a line of names is above, and how libsvm counts columns.
  const ColumnRequest& columns() const { return columns_; }
  void rewind();
  bool next(PartBlock* block);
  /// Passes over the next block; false: one of no rows. Fails at the end.
  bool skip();
  /// Which bytes of which files are read, and when these were written.
  std::string identity() const;
  /// About `most` records of all processes, all of fewer, as a file that has names above if others
  /// have; the seed decides which. The same in all processes.
  std::string sample(int64_t most, uint64_t seed);

 private:
  struct Part {
    std::string path;
    size_t rows_at = 0;
    RecordRange range;
    FileState state;
  };
  void find_indices();
  bool next_records(std::string* records, int64_t* line);

  ColumnRequest columns_;
  Format format_ = Format::csv;
  std::vector<Part> parts_;  // of this process
  size_t at_ = 0;
  std::unique_ptr<RecordBlocks> file_;   // of parts_[at_ - 1]
  std::unique_ptr<RecordBlocks> first_;  // of all files
};

}  // namespace mercer::cli
