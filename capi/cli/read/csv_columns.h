// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields of a CSV to the numbers of a table. Plain numbers go straight into it; what each column
// holds beside them is judged once, when all rows are there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "read/csv_fields.h"
#include "read/table.h"

namespace mercer::cli {

class CsvColumns {
 public:
  CsvColumns(Table* table, CsvRecords* records, const CsvOptions& options);
  /// What each column may hold.
  void permit(const TextPermission& permission, size_t columns);
  bool is_ignored(int64_t column) const;
  /// Adds the record that was read, which begins at this place.
  void add_row(const CsvRecords::Place& place);
  /// Judges every column. Fails at file:line:field for what is neither a number, a word for a
  /// missing one nor text that may be there.
  void finish();

 private:
  enum class Role : uint8_t { number, input, number_input, text_input, target, label, ignored };
  struct Cell {  // that is no plain number
    int64_t row;
    std::string_view text;
  };
  struct Column {
    Role role = Role::number;
    bool may_lack = false;           // a target that rows may be without
    char decimal = 0;                // 0: as it tells
    int64_t point = -1;              // the first row whose number has a decimal point
    bool decimals = false;           // some point does not stand as those of thousands do
    std::vector<Cell> cells;         // by row
    std::vector<std::string> known;  // words for missing numbers
  };

  double& number(int64_t row, size_t j);
  std::string text_at(int64_t row, size_t j);
  bool is_listed(std::string_view field) const;
  bool is_missing_here(std::string_view field) const;
  std::vector<WordRows> words_of(const Column& column) const;
  int64_t numbers_of(const Column& column) const;
  bool begins_with_word(const Column& column) const;
  void judge(size_t j);
  void make_text(size_t j, bool asked, std::vector<WordRows> words);
  void make_labels(size_t j);
  void make_numbers(size_t j);
  bool take_comma(size_t j, const Cell& cell);
  bool is_missing_number(size_t j, const Cell& cell, bool word);
  [[noreturn]] void refuse(size_t j, const Cell& cell, const std::string& what) const;
  [[noreturn]] void refuse_missing(size_t j, const Cell& cell) const;
  [[noreturn]] void refuse_word(size_t j, const Cell& cell, int64_t words) const;
  std::string name_of(size_t j) const;

  Table& table_;
  CsvRecords& records_;
  CsvOptions options_;
  bool numbers_listed_ = false;            // some word for what is missing is a number
  bool comma_file_ = false;                // some column has decimal commas for certain
  std::vector<CsvRecords::Place> places_;  // of rows
  std::vector<Column> columns_;
};

/// At most two words, in at most one of twenty rows that are not empty.
bool are_missing_words(const std::vector<WordRows>& words, int64_t numbers);

}  // namespace mercer::cli
