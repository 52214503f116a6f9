// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Plain numbers go straight into the table. What is no plain number may be one in another form
// (12%, 1,5), a missing value, or text.
#include "read/csv_cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "failure.h"

namespace mercer::cli {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kNoTarget =
    ": no target; a fit needs one in every row (take out the rows without)";

bool is_number(std::string_view text) {
  double value;
  return parse_number(text, &value) == NumberKind::finite;
}

}  // namespace

CsvCells::CsvCells(Table* table, const CsvOptions& options)
    : table_(*table),
      options_(options),
      numbers_listed_(std::ranges::any_of(options.missing_words, is_number)) {}

void CsvCells::permit(const TextPermission& permission, size_t columns) {
  columns_.resize(columns);
  forms_.resize(columns);
  levels_.resize(columns);
  words_.resize(columns);
  const auto become = [&](const std::vector<int64_t>& which, Kind kind) {
    for (const int64_t column : which) columns_[static_cast<size_t>(column)].kind = kind;
  };
  become(permission.inputs, Kind::undecided_input);
  become(permission.number_inputs, Kind::number_input);
  become(permission.text_inputs, Kind::text_input);
  become(permission.columns, permission.always ? Kind::text : Kind::undecided);
  become(permission.ignored, Kind::ignored);
  for (Column& column : columns_)
    column.open = column.kind == Kind::undecided_input || column.kind == Kind::undecided;
  for (const int64_t column : permission.may_lack)
    columns_[static_cast<size_t>(column)].may_lack = true;
  for (const ColumnWords& known : permission.words)
    words_[static_cast<size_t>(known.column)] = known.words;
  for (const ColumnForm& form : permission.forms) {
    NumberForm& expected = forms_[static_cast<size_t>(form.column)];
    expected.expect_affix(form.affix);
    if (form.decimal != 0) expected.expect_decimal(form.decimal);
  }
  if (options_.decimal != 0)
    for (NumberForm& form : forms_) form.expect_decimal(options_.decimal);
  for (size_t j = 0; j < columns; ++j) columns_[j].formed = forms_[j].active();
}

bool CsvCells::is_ignored(int64_t column) const {
  return columns_[static_cast<size_t>(column)].kind == Kind::ignored;
}

namespace {

/// The end of a plain number; nullptr for anything else.
const char* read_plain(const char* at, const char* end, double* value) {
  const std::from_chars_result read = std::from_chars(at, end, *value);
  return read.ec == std::errc() && std::isfinite(*value) ? read.ptr : nullptr;
}

/// The end of a field that is not quoted and without tabs around; nullptr for another.
const char* read_other(std::string_view rest, char separator, std::string_view* field) {
  const size_t end = std::min(rest.find(separator), rest.size());
  *field = rest.substr(0, end);
  while (field->ends_with(' ')) field->remove_suffix(1);
  const bool tabs = field->starts_with('\t') || field->ends_with('\t');
  return tabs || field->starts_with('"') ? nullptr : rest.data() + end;
}

}  // namespace

bool CsvCells::add_simple_line(std::string_view line, char separator, int64_t number) {
  const size_t columns = columns_.size(), before = table_.values.f64.size();
  if (plain_columns_ == 0 || (separator == ' ' && plain_columns_ < columns)) return false;
  double* row = table_.values.f64.extend(columns);
  const char *at = line.data(), *end = at + line.size();
  others_.clear();
  for (size_t j = 0; j < columns && at != nullptr; ++j) {
    while (at < end && *at == ' ') ++at;
    if (columns_[j].plain) {
      at = read_plain(at, end, &row[j]);
    } else {
      at = read_other(line.substr(static_cast<size_t>(at - line.data())), separator,
                      &others_.emplace_back());
    }
    if (at == nullptr) break;
    const bool last = j + 1 == columns;
    if (last ? at != end : at == end || *at++ != separator) at = nullptr;
  }
  if (at == nullptr) {
    table_.values.f64.truncate(before);
    return false;
  }
  begin_row(number);
  for (size_t j = 0, k = 0; k < others_.size(); ++j)
    if (!columns_[j].plain) row[j] = other_value(j, others_[k++]);
  ++table_.rows;
  return true;
}

/// Of a number: the column holds numbers.
void CsvCells::settle(size_t j, std::string_view field) {
  Column& column = columns_[j];
  if (column.kind == Kind::undecided) column.kind = Kind::settled_number;
  if (column.kind == Kind::undecided_input) column.kind = Kind::number_input;
  const bool plain = !column.formed && !numbers_listed_;
  if (!column.settled) column.points = field.find('.') != field.npos;
  column.settled = true;
  plain_columns_ += static_cast<size_t>(plain) - static_cast<size_t>(column.plain);
  column.plain = plain;
}

/// Of a field that is no plain number in a column of such.
double CsvCells::other_value(size_t j, std::string_view field) {
  Column& column = columns_[j];
  double number = 0;
  if (column.kind == Kind::ignored) return 0;
  if (column.kind == Kind::text) return label_number(j, field);
  if (column.kind == Kind::text_input) return level_number(j, field);
  const bool listed = is_listed(field);
  if (column.formed && !listed && read_by(&forms_[j], j, field, &number)) {
    if (!column.settled) settle(j, field);
    return number;
  }
  NumberKind found = parse_number(field, &number);
  if (listed && found == NumberKind::finite) found = NumberKind::not_a_number;
  const bool word = found == NumberKind::not_a_number && !is_missing_here(field);
  const bool plain = found == NumberKind::finite && !column.formed;
  if (plain || (word && !column.formed && finds_form(j, field, &number))) {
    settle(j, field);
    return number;
  }
  if (found == NumberKind::finite) return number;  // such as 1e5, which no form writes
  return is_input(column.kind) ? input_value(j, field, found) : target_value(j, field, found);
}

/// False for what no form writes.
bool CsvCells::read_by(NumberForm* form, size_t j, std::string_view field, double* number) const {
  const NumberForm::Reading found = form->read(field, row_, number);
  if (found == NumberForm::Reading::conflict) fail_in(j, form->conflict());
  return found == NumberForm::Reading::number;
}

/// Of the first field that is no plain number: is it one of another form?
bool CsvCells::finds_form(size_t j, std::string_view field, double* number) {
  NumberForm form = forms_[j];
  if (columns_[j].settled) form.follow_plain(has_points(j));
  if (!read_by(&form, j, field, number)) return false;
  forms_[j] = std::move(form);
  columns_[j].formed = true;
  return true;
}

/// Of a field that is no number.
double CsvCells::input_value(size_t j, std::string_view field, NumberKind found) {
  if (is_missing_here(field)) {
    if (options_.missing) return kMissing;
    fail_in(j, missing_text(field));
  }
  const bool word = found == NumberKind::not_a_number;
  const bool open = columns_[j].open;
  if (columns_[j].kind == Kind::undecided_input && word) return become_text(j, field);
  if (word && count_word(field, row_, open && !reading_again_, &words_[j])) {
    if (open || options_.missing) return kMissing;  // what open columns may lack settle_words says
    fail_in(j, missing_text(field));
  }
  if (found == NumberKind::not_finite)
    fail_in(j,
            complaint(found, field) + " (--missing-word=" + typed(field) + " takes it as missing)");
  const bool above = word && open;
  fail_in(j, complaint(found, field) +
                 (above ? ", but the rows above hold numbers" + ways_out(j, field) : ""));
}

double CsvCells::target_value(size_t j, std::string_view field, NumberKind found) {
  const Column& column = columns_[j];
  const bool missing = is_missing_here(field);
  if (missing && column.may_lack) return kMissing;
  if (missing && column.kind != Kind::number)
    fail_in(j, (field.empty() ? "empty field" : shown(field)) + kNoTarget);
  if (column.kind == Kind::undecided && found == NumberKind::not_a_number) {
    columns_[j].kind = Kind::text;
    return label_number(j, field);
  }
  std::string what = complaint(found, field);
  if (found == NumberKind::not_a_number && column.kind == Kind::settled_number)
    what += ", but the rows above hold numbers (--task classification reads labels as text)";
  fail_in(j, what);
}

/// The fields above, all of them missing, are the level "".
double CsvCells::become_text(size_t j, std::string_view field) {
  columns_[j].kind = Kind::text_input;
  for (int64_t i = 0; i < row_; ++i)
    table_.values.f64[static_cast<size_t>(i) * columns_.size() + j] =
        static_cast<double>(levels_[j].number_of("", i));
  return level_number(j, field);
}

double CsvCells::level_number(size_t j, std::string_view field) {
  const bool missing = is_missing_here(field);
  if (missing && !options_.missing) fail_in(j, missing_text(field));
  TextLevels& levels = levels_[j];
  const size_t level = levels.number_of(missing ? std::string_view() : field, row_);
  if (!columns_[j].open || !levels.have_doubled() || levels.words_among_numbers().empty())
    return static_cast<double>(level);
  become_numbers(j, row_);
  return value(j, field);
}

double CsvCells::label_number(size_t j, std::string_view field) {
  const bool missing = field.empty() || is_listed(field);
  if (missing && columns_[j].may_lack) return kMissing;
  if (missing) fail_in(j, (field.empty() ? "empty field" : shown(field)) + kNoTarget);
  return static_cast<double>(labels_.number_of(field, row_));
}

}  // namespace mercer::cli
