// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Plain numbers go straight into the table. What is no plain number may be one in another form
// (12%, 1,5), a missing value, or text.
#include "read/csv_cells.h"

#include <algorithm>
#include <limits>

#include "failure.h"

namespace mercer::cli {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kNoTarget =
    ": no target; a fit needs one in every row (take out the rows without)";

}  // namespace

void CsvCells::permit(const TextPermission& permission, size_t columns) {
  const auto become = [&](const std::vector<int64_t>& which, Kind kind) {
    for (const int64_t column : which) kinds_[static_cast<size_t>(column)].kind = kind;
  };
  kinds_.resize(columns);
  forms_.resize(columns);
  become(permission.inputs, Kind::undecided_input);
  become(permission.number_inputs, Kind::number_input);
  become(permission.text_inputs, Kind::text_input);
  become(permission.columns, permission.always ? Kind::text : Kind::undecided);
  become(permission.ignored, Kind::ignored);
  for (const int64_t column : permission.may_lack)
    kinds_[static_cast<size_t>(column)].may_lack = true;
  for (const ColumnForm& form : permission.forms) {
    NumberForm& expected = forms_[static_cast<size_t>(form.column)];
    expected.expect_affix(form.affix);
    if (form.decimal != 0) expected.expect_decimal(form.decimal);
  }
  if (options_.decimal != 0)
    for (NumberForm& form : forms_) form.expect_decimal(options_.decimal);
  for (size_t j = 0; j < columns; ++j) kinds_[j].formed = forms_[j].active();
  levels_.resize(columns);
}

bool CsvCells::is_ignored(int64_t column) const {
  return kinds_[static_cast<size_t>(column)].kind == Kind::ignored;
}

void CsvCells::fail_in(size_t j, const std::string& what) const {
  fail_at(table_.name, line_, static_cast<int64_t>(j) + 1, what);
}

void CsvCells::settle(Column* column) {
  column->settled = true;
  if (column->kind == Kind::undecided) column->kind = Kind::settled_number;
  if (column->kind == Kind::undecided_input) column->kind = Kind::number_input;
}

double CsvCells::formed_value(size_t j, std::string_view field) {
  Column& column = kinds_[j];
  double number = 0;
  switch (forms_[j].read(field, table_.rows, &number)) {
    case NumberForm::Reading::number:
      settle(&column);
      return number;
    case NumberForm::Reading::conflict:
      fail_in(j, forms_[j].conflict());
    default:
      break;
  }
  const NumberKind found = parse_number(field, &number);
  const bool sign = found == NumberKind::finite;  // such as 1e5, which no form writes
  return sign ? number
              : (is_input(column.kind) ? input_value(j, field, found)
                                       : target_value(j, field, found));
}

double CsvCells::other_value(size_t j, std::string_view field, NumberKind found) {
  Column& column = kinds_[j];
  if (found == NumberKind::not_a_number && !is_missing(field)) {
    NumberForm form = forms_[j];
    if (column.settled) form.follow_plain(column.points);
    double number = 0;
    const NumberForm::Reading reading = form.read(field, table_.rows, &number);
    if (reading == NumberForm::Reading::conflict) fail_in(j, form.conflict());
    if (reading == NumberForm::Reading::number) {
      forms_[j] = std::move(form);
      column.formed = true;
      settle(&column);
      return number;
    }
  }
  return is_input(column.kind) ? input_value(j, field, found) : target_value(j, field, found);
}

/// Of a field that is no number.
double CsvCells::input_value(size_t j, std::string_view field, NumberKind found) {
  if (is_missing(field)) {
    if (options_.missing) return kMissing;
    fail_in(j, missing_text(field));
  }
  if (kinds_[j].kind == Kind::undecided_input && found == NumberKind::not_a_number)
    return become_text(j, field);
  std::string what = complaint(found, field);
  if (found == NumberKind::not_a_number && table_.rows > 0)
    what += ", but the rows above hold numbers (--ignore leaves a column out)";
  fail_in(j, what);
}

double CsvCells::target_value(size_t j, std::string_view field, NumberKind found) {
  const Column& column = kinds_[j];
  if (is_missing(field) && column.may_lack) return kMissing;
  if (is_missing(field) && column.kind != Kind::number)
    fail_in(j, (field.empty() ? "empty field" : shown(field)) + kNoTarget);
  if (column.kind == Kind::undecided && found == NumberKind::not_a_number) {
    kinds_[j].kind = Kind::text;
    return label_number(j, field);
  }
  std::string what = complaint(found, field);
  if (found == NumberKind::not_a_number && column.kind == Kind::settled_number)
    what += ", but the rows above hold numbers (--task classification reads labels as text)";
  fail_in(j, what);
}

std::string CsvCells::missing_text(std::string_view field) {
  return (field.empty() ? "empty field" : shown(field)) +
         std::string("; missing values are refused (a fit with --missing fill fills them)");
}

/// The fields above, all of them missing, are the level "".
double CsvCells::become_text(size_t j, std::string_view field) {
  kinds_[j].kind = Kind::text_input;
  const double missing = table_.rows > 0 ? number_of("", &levels_[j]) : 0;
  for (int64_t i = 0; i < table_.rows; ++i)
    table_.values.f64[static_cast<size_t>(i) * kinds_.size() + j] = missing;
  return level_number(j, field);
}

double CsvCells::number_of(std::string_view text, Levels* levels) {
  const auto [place, added] = levels->numbers.try_emplace(std::string(text), levels->texts.size());
  if (added) levels->texts.push_back(place->first);
  return static_cast<double>(place->second);
}

double CsvCells::level_number(size_t j, std::string_view field) {
  const bool missing = is_missing(field);
  if (missing && !options_.missing) fail_in(j, missing_text(field));
  return number_of(missing ? std::string_view() : field, &levels_[j]);
}

double CsvCells::label_number(size_t j, std::string_view field) {
  if (field.empty() && kinds_[j].may_lack) return kMissing;
  if (field.empty()) fail_in(j, std::string("empty field") + kNoTarget);
  return number_of(field, &labels_);
}

// Columns where every number is like 1,234 follow the other columns of the file.
void CsvCells::settle_marks() {
  char decimal = 0;
  for (const NumberForm& form : forms_) {
    const char found = form.group() == ',' ? '.' : form.decimal();
    if (found == ',' || (found == '.' && form.group() == ',')) decimal = found;
    if (decimal == ',') break;
  }
  for (size_t j = 0; j < kinds_.size(); ++j) {
    NumberForm& form = forms_[j];
    if (!form.undecided()) continue;
    if (form.decimal() == 0 && form.group() != ',') {
      if (decimal == 0)
        fail_at(table_.name, 0, 0,
                "column " +
                    (table_.names.empty() ? std::to_string(j + 1) : shown(table_.names[j])) +
                    " holds numbers such as " + shown(form.described(0).example) +
                    ", whose comma may be decimal or stand between thousands: --decimal comma or "
                    "--decimal point says");
      form.settle(decimal);
    }
    for (const int64_t i : form.take_undecided())
      table_.values.f64[static_cast<size_t>(i) * kinds_.size() + j] /= 1000;
  }
}

void CsvCells::finish() {
  settle_marks();
  for (size_t j = 0; j < kinds_.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    const Kind kind = kinds_[j].kind;
    if (kind == Kind::text) table_.text_columns.push_back(column);
    if (kind == Kind::text_input)
      table_.text_inputs.push_back({column, std::move(levels_[j].texts)});
    const NumberForm& form = forms_[j];
    if (form.example_row() < 0) continue;
    table_.forms.push_back(form.described(column));
    table_.forms.back().value =
        table_.values.f64[static_cast<size_t>(form.example_row()) * kinds_.size() + j];
  }
  table_.texts = std::move(labels_.texts);
  table_.values.f64.trim();
}

}  // namespace mercer::cli
