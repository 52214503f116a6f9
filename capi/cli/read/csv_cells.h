// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields of a CSV to the numbers of a table: what each column holds is found out as rows come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "read/number.h"
#include "read/number_form.h"
#include "read/table.h"

namespace mercer::cli {

class CsvCells {
 public:
  CsvCells(Table* table, const CsvOptions& options) : table_(*table), options_(options) {}
  /// What each column may hold.
  void permit(const TextPermission& permission, size_t columns);
  bool is_ignored(int64_t column) const;
  /// Adds a row. Fails at file:line:field.
  template <class FieldList>
  void add_row(const FieldList& fields, int64_t line) {
    line_ = line;
    double* row = table_.values.f64.extend(kinds_.size());
    for (size_t j = 0; j < kinds_.size(); ++j) row[j] = value(j, fields[j]);
    ++table_.rows;
  }
  /// Text and forms of numbers go to the table.
  void finish();

 private:
  // A column that may hold text is undecided until its first field that is not missing, then
  // numeric (settled) or text for good. Inputs number their texts each for itself, targets all
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
    bool may_lack = false;  // a target that rows may be without
    bool settled = false;   // some number was met
    bool points = false;    // some plain number had a point
    bool formed = false;    // forms_ reads its numbers
  };
  struct Levels {
    std::unordered_map<std::string, size_t> numbers;
    std::vector<std::string> texts;
  };

  double value(size_t j, std::string_view field) {
    Column& column = kinds_[j];
    if (column.kind == Kind::ignored) return 0;
    if (column.kind == Kind::text) return label_number(j, field);
    if (column.kind == Kind::text_input) return level_number(j, field);
    double number = 0;
    if (column.formed) return formed_value(j, field);
    const NumberKind found = parse_number(field, &number);
    if (found != NumberKind::finite) return other_value(j, field, found);
    if (!column.settled) settle(&column);
    if (!column.points) column.points = field.find('.') != field.npos;
    return number;
  }
  static void settle(Column* column);
  static bool is_input(Kind kind) {
    return kind == Kind::undecided_input || kind == Kind::number_input;
  }
  double formed_value(size_t j, std::string_view field);
  double other_value(size_t j, std::string_view field, NumberKind found);
  double input_value(size_t j, std::string_view field, NumberKind found);
  double target_value(size_t j, std::string_view field, NumberKind found);
  double become_text(size_t j, std::string_view field);
  double level_number(size_t j, std::string_view field);
  double label_number(size_t j, std::string_view field);
  static double number_of(std::string_view text, Levels* levels);
  static std::string missing_text(std::string_view field);
  [[noreturn]] void fail_in(size_t j, const std::string& what) const;
  void settle_marks();

  Table& table_;
  CsvOptions options_;
  int64_t line_ = 0;
  std::vector<Column> kinds_;  // small, since every field looks into it
  std::vector<NumberForm> forms_;
  std::vector<Levels> levels_;  // of inputs
  Levels labels_;
};

}  // namespace mercer::cli
