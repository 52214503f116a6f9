// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "row_parts.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "failure.h"
#include "processes.h"
#include "split.h"

namespace mercer::cli {
namespace {

/// The files of a pattern by name; of what has no *, ? or [, or is a file's name, itself.
std::vector<std::string> files_of(const std::string& pattern) {
  struct stat known {};
  if (pattern.find_first_of("*?[") == pattern.npos || stat(pattern.c_str(), &known) == 0)
    return {pattern};
  glob_t found{};
  std::string dataset;  // of files of HDF5
  int status = glob(pattern.c_str(), 0, nullptr, &found);
  if (const size_t colon = pattern.find(":/"); status == GLOB_NOMATCH && colon != pattern.npos) {
    dataset = pattern.substr(colon);
    status = glob(pattern.substr(0, colon).c_str(), 0, nullptr, &found);
  }
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  for (std::string& path : paths) path += dataset;
  globfree(&found);
  if (status != 0) fail_at(pattern, 0, 0, "no file has a name of this pattern");
  return paths;
}

/// Of a file's beginning: names, number of columns, and where rows begin; of these nothing is read.
Table head_of(const RecordBlocks& file, const ColumnRequest& columns) {
  CsvOptions options = csv_options(columns);
  const std::string start = file.start();
  options.text = &start;
  options.no_rows = true;
  options.rows_line = file.format() == Format::csv ? 0 : 1;
  return read_table(
      file.path(),
      [](const std::vector<std::string>&, int64_t count) {
        TextPermission permission;
        permission.ignored.resize(static_cast<size_t>(count));
        std::iota(permission.ignored.begin(), permission.ignored.end(), 0);
        return permission;
      },
      options);
}

std::string columns_text(const Table& table) {
  return table.names.empty() ? counted(table.columns, "column")
                             : "columns " + listed(table.names, 12);
}

void require_alike(const Table& table, const Table& first) {
  if (table.format == first.format && table.names == first.names &&
      (table.columns == first.columns || table.format == Format::libsvm))
    return;
  fail_at(table.name, 0, 0,
          (table.format == first.format ? columns_text(table) : "another format") + ", expected " +
              columns_text(first) + " as in " + first.name);
}

void sum_over_all(double* numbers, size_t n) { processes().sum({numbers, n}); }

}  // namespace

void for_each_block(const std::string& path, ColumnRequest columns,
                    const std::function<BlockHead(const ColumnRequest&)>& read) {
  RecordBlocks file(path, false);
  const bool csv = file.format() == Format::csv;
  std::string records, content;
  columns.content = &content;
  bool has_numbers = false;
  for (bool first = true; file.next(&records, &columns.rows_line); first = false) {
    if (first && csv) columns.rows_line = 0;  // with what is above: lines are counted from there
    content = file.file_of(records);
    const BlockHead head = read(columns);
    file.begin_rows_at(head.rows_at);
    if (csv) columns.header = head.named ? "yes" : "no";
    has_numbers = has_numbers || head.has_numbers;
  }
  if (file.format() == Format::libsvm && !has_numbers)
    fail_at(name_of_file(path), 0, 0, "no index:value entries in any row");
}

RowParts::RowParts(const std::string& pattern, const ColumnRequest& columns) : columns_(columns) {
  const std::vector<std::string> paths = files_of(pattern);
  first_ = std::make_unique<RecordBlocks>(paths[0], true);
  const Table first = head_of(*first_, columns_);
  format_ = first.format;
  if (format_ == Format::csv) columns_.header = first.names.empty() ? "no" : "yes";
  first_->begin_rows_at(first.rows_at);
  const Processes& all = processes();
  const auto files = std::ssize(paths);
  if (files == 1) {
    const RecordRange range =
        all.count() == 1 ? first_->range() : first_->part(all.rank(), all.count(), sum_over_all);
    parts_.push_back({paths[0], first.rows_at, range, first_->state()});
  } else {
    for (int64_t k = files * all.rank() / all.count(); k < files * (all.rank() + 1) / all.count();
         ++k) {
      RecordBlocks file(paths[k], true);
      const Table head = head_of(file, columns_);
      require_alike(head, first);
      file.begin_rows_at(head.rows_at);
      parts_.push_back({paths[k], head.rows_at, file.range(), file.state()});
    }
  }
  if (format_ == Format::libsvm) find_indices();
}

/// The index of the first column, and how many there are, from all rows.
void RowParts::find_indices() {
  double largest = 0, from_0 = 0;
  PartBlock block;
  CsvOptions options = csv_options(columns_);
  for (rewind(); next(&block);) {
    options.rows_line = block.line;
    const Table table = read_libsvm(block.content, block.path, options);
    largest = std::max(largest, static_cast<double>(table.columns + table.first_index));
    from_0 = std::max(from_0, table.first_index == 0 ? 1.0 : 0.0);
  }
  std::vector<double> found(static_cast<size_t>(2 * processes().count()), 0.0);
  const auto own = static_cast<size_t>(2 * processes().rank());
  found[own] = largest;
  found[own + 1] = from_0;
  processes().sum(found);
  for (size_t k = 0; k < found.size(); k += 2) {
    largest = std::max(largest, found[k]);
    from_0 = std::max(from_0, found[k + 1]);
  }
  columns_.index_base = from_0 > 0 ? "0" : "1";
  columns_.least_columns = static_cast<int64_t>(largest) - (from_0 > 0 ? 0 : 1);
}

void RowParts::rewind() {
  at_ = 0;
  file_.reset();
}

bool RowParts::next_records(std::string* records, int64_t* line) {
  while (file_ == nullptr || !file_->next(records, line)) {
    if (at_ == parts_.size()) return false;
    const Part& part = parts_[at_++];
    file_ = std::make_unique<RecordBlocks>(part.path, true);
    if (file_->state() != part.state)
      fail_at(part.path, 0, 0, "it was changed or replaced while it was read");
    file_->begin_rows_at(part.rows_at);
    file_->take(part.range);
    file_->rewind();
  }
  return true;
}

bool RowParts::next(PartBlock* block) {
  std::string records;
  if (!next_records(&records, &block->line)) return false;
  block->path = file_->path();
  block->content = file_->file_of(records);
  return true;
}

bool RowParts::skip() {
  std::string records;
  int64_t line = 0;
  if (!next_records(&records, &line))
    throw Failure(first_->path() + ": fewer rows than before, expected the same");
  return format_ == Format::npy || records.find_first_not_of(" \t\r\n") != records.npos;
}

std::string RowParts::identity() const {
  std::string all;
  for (const Part& part : parts_) {
    all += part.path;
    for (const auto number :
         {static_cast<int64_t>(part.range.begin), static_cast<int64_t>(part.range.end),
          part.state.bytes, part.state.seconds, part.state.nanoseconds})
      all.append(" ").append(std::to_string(number));
    all += "\n";
  }
  return all;
}

std::string RowParts::sample(int64_t most, uint64_t seed) {
  std::string records, taken;
  int64_t own = 0, line = 0;
  for (rewind(); next_records(&records, &line);) own += file_->count(records);
  const Processes::Count count = processes().count_of(own);
  // Each record is taken with this probability.
  const double share = static_cast<double>(most) / static_cast<double>(count.all);
  uint64_t state = seed + static_cast<uint64_t>(count.before) * kSplitmixStep;
  for (rewind(); next_records(&records, &line);)
    for (std::string_view left = records; !left.empty();) {
      const size_t end = file_->first_record(left);
      const std::string_view record = left.substr(0, end > 0 ? end : left.size());
      left.remove_prefix(record.size());
      const double hash = std::ldexp(static_cast<double>(splitmix64(&state)), -64);
      if (share >= 1 || hash < share) taken += record;
      // The last record of a file may lack its line break.
      if (format_ != Format::npy && !taken.empty() && taken.back() != '\n') taken += '\n';
    }
  return first_->file_of(processes().joined(taken));
}

}  // namespace mercer::cli
