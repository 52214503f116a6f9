// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CSV: one row per line, text only in columns that may hold it (inputs, targets of a
// classification). Numbers go straight from the read buffer into the table. The first line is a
// header iff some field of it is text, and either none is a number or some text stands above a
// number.
#include <algorithm>
#include <cstdint>
#include <limits>
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

// A column that may hold text is undecided until its first field that is not missing, then numeric
// (settled) or text for good. Inputs number their texts each for itself, targets all together.
enum class ColumnKind : uint8_t {
  number,
  undecided,
  settled_number,
  text,
  undecided_input,
  number_input,
  text_input,
  ignored
};

bool is_input(ColumnKind kind) {
  return kind == ColumnKind::undecided_input || kind == ColumnKind::number_input;
}

class CsvReader {
 public:
  CsvReader(ByteSource& source, const TextRule& text_rule, const CsvOptions& options)
      : lines_(source), options_(options) {
    table_.name = lines_.name();
    table_.format = Format::csv;
    read_first_line(text_rule);
    std::string_view line;
    while (next_line(&line)) {
      split(line, lines_.number());
      add_row();
    }
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
    const std::string first(line);
    const int64_t number = lines_.number();
    fields_.separate_by(options_.separator != 0 ? options_.separator : separator_of(first));
    split(first, number);
    table_.columns = static_cast<int64_t>(fields_.size());
    const std::vector<FieldKind> kinds = field_kinds();
    const bool more = next_line(&line);
    const std::string second(more ? line : std::string_view());
    const bool header = is_header(kinds, second);
    split(first, number);
    if (header) take_names(number);
    permit(text_rule(table_.names, table_.columns));
    if (!header) add_row();
    if (!more) return;
    split(second, lines_.number());
    add_row();
  }

  enum class FieldKind { number, text, missing };

  std::vector<FieldKind> field_kinds() const {
    std::vector<FieldKind> kinds;
    for (size_t j = 0; j < fields_.size(); ++j) {
      double ignored;
      const NumberKind kind = parse_number(fields_[j], &ignored);
      const bool text = kind == NumberKind::not_a_number;
      kinds.push_back(is_missing(fields_[j]) ? FieldKind::missing
                      : text                 ? FieldKind::text
                                             : FieldKind::number);
    }
    return kinds;
  }

  bool is_header(const std::vector<FieldKind>& first, const std::string& second) {
    const auto count = [&](FieldKind kind) { return std::ranges::count(first, kind); };
    if (count(FieldKind::text) == 0) return false;
    if (count(FieldKind::number) == 0) return true;
    split(second, lines_.number());
    const std::vector<FieldKind> below = field_kinds();
    for (size_t j = 0; j < std::min(first.size(), below.size()); ++j)
      if (first[j] == FieldKind::text && below[j] == FieldKind::number) return true;
    return false;
  }

  void permit(const TextPermission& permission) {
    const auto become = [&](const std::vector<int64_t>& columns, ColumnKind kind) {
      for (const int64_t column : columns) kinds_[static_cast<size_t>(column)] = kind;
    };
    kinds_.assign(fields_.size(), ColumnKind::number);
    become(permission.inputs, ColumnKind::undecided_input);
    become(permission.number_inputs, ColumnKind::number_input);
    become(permission.text_inputs, ColumnKind::text_input);
    become(permission.columns, permission.always ? ColumnKind::text : ColumnKind::undecided);
    become(permission.ignored, ColumnKind::ignored);
    levels_.resize(kinds_.size());
  }

  void split(std::string_view line, int64_t number) {
    fields_.split(line, table_.name, number);
    line_ = number;
  }

  void take_names(int64_t line) {
    std::unordered_set<std::string> seen;
    for (size_t j = 0; j < fields_.size(); ++j) {
      const std::string name(fields_[j]);
      const auto field = static_cast<int64_t>(j) + 1;
      if (name.empty()) fail_at(table_.name, line, field, "empty column name");
      if (!seen.insert(name).second) {
        fail_at(table_.name, line, field, "column name " + shown(name) + " appears twice");
      }
      table_.names.push_back(name);
    }
  }

  void add_row() {
    if (fields_.size() != kinds_.size()) {
      fail_at(
          table_.name, line_, 0,
          std::to_string(fields_.size()) + " fields, expected " + std::to_string(kinds_.size()));
    }
    double* row = table_.values.f64.extend(fields_.size());
    for (size_t j = 0; j < fields_.size(); ++j) row[j] = value(j);
    ++table_.rows;
  }

  [[noreturn]] void fail_in(size_t j, const std::string& what) const {
    fail_at(table_.name, line_, static_cast<int64_t>(j) + 1, what);
  }

  double value(size_t j) {
    const ColumnKind kind = kinds_[j];
    if (kind == ColumnKind::ignored) return 0;
    if (kind == ColumnKind::text) return label_number(j);
    if (kind == ColumnKind::text_input) return level_number(j);
    double number = 0;
    const NumberKind found = parse_number(fields_[j], &number);
    if (found == NumberKind::finite) {
      settle(j);
      return number;
    }
    return is_input(kind) ? input_value(j, found) : target_value(j, found);
  }

  void settle(size_t j) {
    if (kinds_[j] == ColumnKind::undecided) kinds_[j] = ColumnKind::settled_number;
    if (kinds_[j] == ColumnKind::undecided_input) kinds_[j] = ColumnKind::number_input;
  }

  /// Of a field that is no number.
  double input_value(size_t j, NumberKind found) {
    if (is_missing(fields_[j])) {
      if (options_.missing) return std::numeric_limits<double>::quiet_NaN();
      fail_in(j, missing_text(j));
    }
    if (kinds_[j] == ColumnKind::undecided_input && found == NumberKind::not_a_number) {
      return become_text(j);
    }
    std::string what = complaint(found, fields_[j]);
    if (found == NumberKind::not_a_number && table_.rows > 0)
      what += ", but the rows above hold numbers (--ignore leaves a column out)";
    fail_in(j, what);
  }

  double target_value(size_t j, NumberKind found) {
    if (kinds_[j] == ColumnKind::undecided && found == NumberKind::not_a_number) {
      kinds_[j] = ColumnKind::text;
      return label_number(j);
    }
    std::string what = complaint(found, fields_[j]);
    if (found == NumberKind::not_a_number && kinds_[j] == ColumnKind::settled_number) {
      what += ", but the rows above hold numbers (--task classification reads labels as text)";
    }
    fail_in(j, what);
  }

  std::string missing_text(size_t j) const {
    return (fields_[j].empty() ? "empty field" : shown(fields_[j])) +
           std::string("; missing values are refused (a fit with --missing fill fills them)");
  }

  /// The fields above, all of them missing, are the level "".
  double become_text(size_t j) {
    kinds_[j] = ColumnKind::text_input;
    const double missing = table_.rows > 0 ? number_of("", &levels_[j]) : 0;
    for (int64_t i = 0; i < table_.rows; ++i)
      table_.values.f64[static_cast<size_t>(i) * kinds_.size() + j] = missing;
    return level_number(j);
  }

  struct Levels {
    std::unordered_map<std::string, size_t> numbers;
    std::vector<std::string> texts;
  };

  static double number_of(std::string_view text, Levels* levels) {
    const auto [place, added] =
        levels->numbers.try_emplace(std::string(text), levels->texts.size());
    if (added) levels->texts.push_back(place->first);
    return static_cast<double>(place->second);
  }

  double level_number(size_t j) {
    const bool missing = is_missing(fields_[j]);
    if (missing && !options_.missing) fail_in(j, missing_text(j));
    return number_of(missing ? std::string_view() : fields_[j], &levels_[j]);
  }

  double label_number(size_t j) {
    if (fields_[j].empty()) fail_in(j, "empty label");
    return number_of(fields_[j], &labels_);
  }

  void finish() {
    if (table_.rows == 0) fail_at(table_.name, 0, 0, "no rows after the header");
    for (size_t j = 0; j < kinds_.size(); ++j) {
      const auto column = static_cast<int64_t>(j);
      if (kinds_[j] == ColumnKind::text) table_.text_columns.push_back(column);
      if (kinds_[j] == ColumnKind::text_input)
        table_.text_inputs.push_back({column, std::move(levels_[j].texts)});
    }
    table_.texts = std::move(labels_.texts);
    table_.values.f64.trim();
  }

  LineReader lines_;
  CsvFields fields_;
  Table table_;
  CsvOptions options_;
  int64_t line_ = 0;  // of the fields
  std::vector<ColumnKind> kinds_;
  std::vector<Levels> levels_;  // of inputs
  Levels labels_;
};

}  // namespace

bool is_missing(std::string_view field) {
  return field.empty() || field == "NA" || field == "NaN" || field == "nan" || field == "?";
}

Table read_csv(ByteSource& source, const TextRule& text_rule, const CsvOptions& options) {
  return CsvReader(source, text_rule, options).take();
}

}  // namespace mercer::cli
