// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields of a CSV to the numbers of a table: what each column holds is found out as rows come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/number.h"
#include "read/number_form.h"
#include "read/number_words.h"
#include "read/table.h"
#include "read/text_levels.h"

namespace mercer::cli {

class CsvCells {
 public:
  CsvCells(Table* table, const CsvOptions& options);
  /// What each column may hold.
  void permit(const TextPermission& permission, size_t columns);
  bool is_ignored(int64_t column) const;
  /// Adds a row. Fails at file:line:field.
  template <class FieldList>
  void add_row(const FieldList& fields, int64_t line) {
    begin_row(line);
    double* row = table_.values.f64.extend(columns_.size());
    for (size_t j = 0; j < columns_.size(); ++j) row[j] = value(j, fields[j]);
    ++table_.rows;
  }
  /// The same without taking the line apart first, where every column that is known to hold plain
  /// numbers does, and nothing is quoted; otherwise leaves everything as it was, and the line to
  /// add_row.
  bool add_simple_line(std::string_view line, char separator, int64_t number);
  /// Text and forms of numbers go to the table.
  void finish();

 private:
  // A column that may hold text is undecided until its first field that is not missing, then
  // numeric (settled) or text for good; an input of text whose levels are numbers but for a word or
  // two becomes numeric at the end. Inputs number their texts each for itself, targets all
  // together.
  enum class Kind : uint8_t {
    number,
    undecided,
    settled_number,
    text,
    undecided_input,
    number_input,
    text_input,
    ignored
  };
  struct Column {
    Kind kind = Kind::number;
    bool plain = false;     // numbers without a form, of which one was met
    bool settled = false;   // some number was met
    bool open = false;      // what it holds is found out
    bool may_lack = false;  // a target that rows may be without
    bool points = false;    // the first plain number had a point
    bool formed = false;    // forms_ reads its numbers
  };

  double value(size_t j, std::string_view field) {
    double number;
    if (columns_[j].plain && parse_number(field, &number) == NumberKind::finite) return number;
    return other_value(j, field);
  }
  void begin_row(int64_t line) {
    const int64_t ahead = line - table_.rows;
    if (ahead_.empty() || ahead != ahead_.back().second) ahead_.emplace_back(table_.rows, ahead);
    line_ = line;
    row_ = table_.rows;
  }
  static bool is_input(Kind kind) {
    return kind == Kind::undecided_input || kind == Kind::number_input;
  }
  bool is_listed(std::string_view field) const;
  bool is_missing_here(std::string_view field) const;
  void settle(size_t j, std::string_view field);
  bool has_points(size_t j) const;
  double other_value(size_t j, std::string_view field);
  bool read_by(NumberForm* form, size_t j, std::string_view field, double* number) const;
  bool finds_form(size_t j, std::string_view field, double* number);
  double input_value(size_t j, std::string_view field, NumberKind found);
  double target_value(size_t j, std::string_view field, NumberKind found);
  double become_text(size_t j, std::string_view field);
  void become_numbers(size_t j, int64_t rows);
  double level_number(size_t j, std::string_view field);
  double label_number(size_t j, std::string_view field);
  std::string missing_text(std::string_view field) const;
  std::string ways_out(size_t j, std::string_view word) const;
  std::string name_of(size_t j) const;
  int64_t line_of(int64_t row) const;
  [[noreturn]] void fail_in(size_t j, const std::string& what) const;
  void settle_marks();
  void settle_words(size_t j);
  void require_text_targets() const;

  Table& table_;
  CsvOptions options_;
  bool numbers_listed_ = false;  // some word for what is missing is a number
  // From which row on by how much the number of its line is larger: rows may span lines.
  std::vector<std::pair<int64_t, int64_t>> ahead_;
  int64_t line_ = 0, row_ = 0;
  bool reading_again_ = false;  // rows above, whose words are known
  size_t plain_columns_ = 0;
  std::vector<std::string_view> others_;  // fields of the line that are not of plain columns
  std::vector<Column> columns_;           // small, since every field looks into it
  std::vector<NumberForm> forms_;
  std::vector<std::vector<WordRows>> words_;
  std::vector<TextLevels> levels_;  // of inputs
  TextLevels labels_;
};

}  // namespace mercer::cli
