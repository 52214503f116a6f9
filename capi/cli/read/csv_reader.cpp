// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CSV: one row per line, a header iff some field of the first line is not a number, text only in
// columns that may hold it (targets of a classification). Numbers go straight from the read buffer
// into the table.
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "failure.h"
#include "read/csv_fields.h"
#include "read/line_reader.h"
#include "read/number.h"
#include "read/table.h"

namespace mercer::cli {

namespace {

// A column that may hold text is undecided until its first row, then numeric (settled) or text for
// good.
enum class ColumnKind : uint8_t { number, undecided, settled_number, text };

class CsvReader {
 public:
  CsvReader(ByteSource& source, const TextRule& text_rule) : lines_(source) {
    table_.name = lines_.name();
    table_.format = Format::csv;
    read_first_line(text_rule);
    std::string_view line;
    while (next_line(&line)) add_row(line);
    finish();
  }
  Table take() { return std::move(table_); }

 private:
  // Blank lines are fine at the end only.
  bool next_line(std::string_view* line) {
    int64_t blank = 0;
    while (lines_.next(line)) {
      if (!without_blanks(*line).empty()) {
        if (blank != 0) fail_at(table_.name, blank, 0, "blank line between rows");
        return true;
      }
      if (blank == 0) blank = lines_.number();
    }
    return false;
  }

  void read_first_line(const TextRule& text_rule) {
    std::string_view line;
    if (!next_line(&line)) fail_at(table_.name, 0, 0, "empty file");
    fields_.split(line, table_.name, lines_.number());
    table_.columns = static_cast<int64_t>(fields_.size());
    bool header = false;
    for (size_t j = 0; j < fields_.size(); ++j) {
      double ignored;
      const NumberKind kind = parse_number(fields_[j], &ignored);
      header = header || kind == NumberKind::not_a_number || kind == NumberKind::empty;
    }
    if (header) take_names();
    kinds_.assign(fields_.size(), ColumnKind::number);
    const TextPermission permission = text_rule(table_.names, table_.columns);
    for (const int64_t column : permission.columns) {
      kinds_[static_cast<size_t>(column)] =
          permission.always ? ColumnKind::text : ColumnKind::undecided;
    }
    if (!header) add_row(line);
  }

  void take_names() {
    std::unordered_set<std::string> seen;
    for (size_t j = 0; j < fields_.size(); ++j) {
      const std::string name(fields_[j]);
      const auto field = static_cast<int64_t>(j) + 1;
      if (name.empty()) fail_at(table_.name, lines_.number(), field, "empty column name");
      if (!seen.insert(name).second) {
        fail_at(table_.name, lines_.number(), field,
                "column name " + shown(name) + " appears twice");
      }
      table_.names.push_back(name);
    }
  }

  void add_row(std::string_view line) {
    fields_.split(line, table_.name, lines_.number());
    if (fields_.size() != kinds_.size()) {
      fail_at(
          table_.name, lines_.number(), 0,
          std::to_string(fields_.size()) + " fields, expected " + std::to_string(kinds_.size()));
    }
    double* row = table_.values.f64.extend(fields_.size());
    for (size_t j = 0; j < fields_.size(); ++j) row[j] = value(j);
    ++table_.rows;
  }

  double value(size_t j) {
    if (kinds_[j] == ColumnKind::text) return text_number(j);
    double number = 0;
    const NumberKind kind = parse_number(fields_[j], &number);
    if (kind == NumberKind::finite) {
      if (kinds_[j] == ColumnKind::undecided) kinds_[j] = ColumnKind::settled_number;
      return number;
    }
    if (kinds_[j] == ColumnKind::undecided && kind == NumberKind::not_a_number) {
      kinds_[j] = ColumnKind::text;
      return text_number(j);
    }
    std::string what = complaint(kind, fields_[j]);
    if (kind == NumberKind::not_a_number && kinds_[j] == ColumnKind::settled_number) {
      what += ", but the rows above hold numbers (--task classification reads labels as text)";
    }
    fail_at(table_.name, lines_.number(), static_cast<int64_t>(j) + 1, what);
  }

  double text_number(size_t j) {
    if (fields_[j].empty()) {
      fail_at(table_.name, lines_.number(), static_cast<int64_t>(j) + 1, "empty label");
    }
    const auto [place, added] = numbers_.try_emplace(std::string(fields_[j]), table_.texts.size());
    if (added) table_.texts.push_back(place->first);
    return static_cast<double>(place->second);
  }

  void finish() {
    if (table_.rows == 0) fail_at(table_.name, 0, 0, "no rows after the header");
    for (size_t j = 0; j < kinds_.size(); ++j) {
      if (kinds_[j] == ColumnKind::text) table_.text_columns.push_back(static_cast<int64_t>(j));
    }
    table_.values.f64.trim();
  }

  LineReader lines_;
  CsvFields fields_;
  Table table_;
  std::vector<ColumnKind> kinds_;
  std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace

Table read_csv(ByteSource& source, const TextRule& text_rule) {
  return CsvReader(source, text_rule).take();
}

}  // namespace mercer::cli
