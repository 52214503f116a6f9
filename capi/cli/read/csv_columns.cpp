// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A column that may hold either is text if most fields are words; a word among numbers is refused.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "failure.h"
#include "read/csv.h"

namespace mercer::cli {
namespace {

constexpr size_t kShortestCode = 3;  // 01 to 12 are months
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool is_number(std::string_view text, char mark = '.') {
  double value;
  return parse_decimal(text, mark, &value) == NumberKind::finite;
}

}  // namespace

CsvColumns::CsvColumns(Table* table, CsvRecords* records, const CsvOptions& options)
    : table_(*table),
      records_(*records),
      options_(options),
      numbers_listed_(std::ranges::any_of(options.missing_words,
                                          [](const auto& word) { return is_number(word); })) {}

void CsvColumns::permit(const TextPermission& permission, size_t columns) {
  columns_.resize(columns);
  advice_ = permission.advice;
  const auto become = [&](const std::vector<int64_t>& which, Role role) {
    for (const int64_t column : which) columns_[column].role = role;
  };
  become(permission.inputs, Role::input);
  become(permission.number_inputs, Role::number_input);
  become(permission.text_inputs, Role::text_input);
  become(permission.columns, permission.always ? Role::label : Role::target);
  become(permission.ignored, Role::ignored);
  for (const int64_t column : permission.may_lack) columns_[column].may_lack = true;
  for (const int64_t column : permission.words) columns_[column].words = true;
  for (const int64_t column : permission.dates) columns_[column].date = true;
  for (const auto& [column, form] : permission.forms) columns_[column].form = form;
  known_ = permission.known;
}

bool CsvColumns::is_ignored(int64_t column) const { return columns_[column].role == Role::ignored; }

void CsvColumns::add_row(const CsvRecords::Place& place) {
  places_.push_back(place);
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    const std::string_view field = records_[j];
    const bool text = column.role == Role::label || column.role == Role::text_input || column.date;
    double x = 0;
    if (column.role != Role::ignored &&
        (text || (numbers_listed_ && is_listed(field)) ||
         (column.form ? !read_formed(field, *column.form, &x)
                      : parse_decimal(field, options_.decimal, &x) != NumberKind::finite))) {
      x = kMissing;
      column.cells.push_back({table_.rows, field});
    }
    column.zeros = column.zeros || (field.size() >= kShortestCode && field[0] == '0' &&
                                    field.find_first_not_of("0123456789") == field.npos);
    table_.numbers.values.push_back(x);
  }
  ++table_.rows;
}

double& CsvColumns::number(int64_t row, size_t j) {
  return table_.numbers.values[static_cast<size_t>(row) * columns_.size() + j];
}

std::string CsvColumns::text_at(int64_t row, size_t j) {
  records_.go_to(places_[row]);
  records_.read();
  return std::string(records_[j]);
}

bool CsvColumns::is_listed(std::string_view field) const {
  return std::ranges::find(options_.missing_words, field) != options_.missing_words.end();
}

bool CsvColumns::is_missing_here(std::string_view field) const {
  return is_missing(field) || is_listed(field);
}

void CsvColumns::refuse(size_t j, const Cell& cell, const std::string& what) const {
  fail_at(table_.name, places_[cell.row].line, static_cast<int64_t>(j) + 1, what);
}

void CsvColumns::refuse_missing(size_t j, const Cell& cell) const {
  const Role role = columns_[j].role;
  refuse(j, cell,
         (cell.text.empty() ? "empty field" : shown(cell.text)) +
             (role == Role::target || role == Role::label
                  ? ": no target; a fit needs one in every row (take out the rows without)"
              : advice_ != nullptr
                  ? "; missing values are refused (take those rows out)"
                  : "; missing values are refused (a fit with --missing flag fills and flags "
                    "them)"));
}

/// Of what is no number in a column of numbers.
void CsvColumns::refuse_word(size_t j, const Cell& cell) const {
  double value;
  const NumberKind kind = parse_number(cell.text, &value);
  const Column& column = columns_[j];
  const std::string name = typed(column_name(table_, static_cast<int64_t>(j)));
  const std::string as_missing = "--missing-word=" + typed(cell.text) + " takes it as missing";
  const bool input = column.role == Role::input && advice_ == nullptr,
             word = kind == NumberKind::not_a_number;
  std::string what = complaint(kind, cell.text);
  if (known_ && column.form)
    what = shown(cell.text) + " is not of the form of the column in training, " +
           example_of(*column.form);
  else if (column.role != Role::number && options_.decimal == ',' && kind == NumberKind::finite)
    what = shown(cell.text) + " has a decimal point, where a decimal comma is expected";
  else if (column.role != Role::number && options_.decimal != ',' && is_number(cell.text, ','))
    what = shown(cell.text) +
           " may be a number with a decimal comma (--decimal comma) or with thousands (--decimal "
           "point), in all of the column";
  else if (kind == NumberKind::not_finite && input)
    what += " (" + as_missing + ")";
  else if (word && (input || column.role == Role::target))
    what += ", but " + std::to_string(table_.rows - words_of(column)) + " of " +
            counted(table_.rows, "row") + " hold numbers (" +
            (input ? as_missing + ", --text " + name + " the column as text, --ignore " + name +
                         " leaves it out" +
                         (words_of(column) == 1 ? "; a line of totals or units has to go)" : ")")
                   : "--task classification reads labels as text)");
  else if (word && advice_ != nullptr)
    what += " (--ignore " + name + " leaves column " + name + " out" + advice_ + ")";
  refuse(j, cell, what);
}

/// Fields that are neither missing nor numbers, whatever their mark.
int64_t CsvColumns::words_of(const Column& column) const {
  return std::ranges::count_if(column.cells, [this](const Cell& cell) {
    double value;
    return !is_missing_here(cell.text) && !is_number(cell.text, ',') &&
           parse_number(cell.text, &value) == NumberKind::not_a_number;
  });
}

void CsvColumns::judge(size_t j) {
  const Column& column = columns_[j];
  if (column.role == Role::ignored) return;
  if (column.date && !column.form) return find_dates(j);
  if (column.zeros && column.role == Role::input && is_code(j)) return make_text(j);
  if (column.cells.empty() || find_form(j)) return;
  const bool asked = column.role == Role::text_input || column.role == Role::label;
  const bool open = column.role == Role::input || column.role == Role::target;
  const auto missing = std::ranges::count_if(
      column.cells, [this](const Cell& cell) { return is_missing_here(cell.text); });
  const bool words = open && 2 * words_of(column) > table_.rows - missing;
  if (asked || words) return make_text(j);
  make_numbers(j);
}

/// Of all rows, "" where the field is missing.
std::vector<std::string> CsvColumns::texts_of(size_t j) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < table_.rows; ++i) {
    texts.push_back(text_at(i, j));
    if (is_missing_here(texts.back())) texts.back().clear();
  }
  return texts;
}

/// Whole numbers of one length, some of which begin with 0: zip codes and the like.
bool CsvColumns::is_code(size_t j) {
  size_t length = 0;
  for (const std::string& text : texts_of(j)) {
    if (text.empty()) continue;
    if (length == 0) length = text.size();
    if (text.size() != length || text.find_first_not_of("0123456789") != text.npos) return false;
  }
  const std::string name = column_name(table_, static_cast<int64_t>(j));
  table_.notes.push_back("column " + name +
                         " holds codes, whole numbers of one length that begin with 0: text "
                         "(--numbers " +
                         typed(name) + " takes them as numbers)");
  return true;
}

/// Takes the column as numbers of one form if it is one.
bool CsvColumns::find_form(size_t j) {
  const Column& column = columns_[j];
  const bool open = column.role == Role::input || column.role == Role::target ||
                    column.role == Role::number_input;
  double value;
  const auto first = std::ranges::find_if(
      column.cells, [this](const Cell& cell) { return !is_missing_here(cell.text); });
  if (!open || known_ || column.form || first == column.cells.end() ||
      first->text.find_first_of("0123456789") == std::string_view::npos ||
      parse_number(first->text, &value) == NumberKind::not_finite)
    return false;
  std::vector<std::string> texts = texts_of(j);
  std::erase(texts, "");
  const std::optional<NumberForm> form = form_of(texts, options_.decimal, options_.decimal_asked);
  if (!form) return false;
  table_.notes.push_back("column " + column_name(table_, static_cast<int64_t>(j)) +
                         " holds numbers as " + std::string(first->text) + ", read as " +
                         (read_formed(first->text, *form, &value), number_text(value)));
  take_form(j, *form);
  return true;
}

void CsvColumns::find_dates(size_t j) {
  const Column& column = columns_[j];
  std::vector<std::string> texts = texts_of(j);
  std::erase(texts, "");
  const std::vector<std::string> orders = date_orders(texts);
  if (orders.size() == 1 || texts.empty())
    return take_form(j, {.date = texts.empty() ? "ymd" : orders[0]});
  for (const Cell& cell : column.cells)
    if (!orders.empty() ||
        (!is_missing_here(cell.text) && date_orders({std::string(cell.text)}).empty()))
      refuse(
          j, cell,
          shown(cell.text) +
              (orders.empty() ? " is no date nor time" : " may be of two orders of day and month") +
              ", expected all of --dates " + typed(column_name(table_, static_cast<int64_t>(j))) +
              " as 2024-05-31, 31.05.2024 or 5/31/2024, with hh:mm:ss behind or not, or as "
              "hh:mm:ss");
  refuse(j, column.cells.at(0), "the column holds dates of several orders of day, month and year");
}

/// What is not of the form is judged as in other columns of numbers.
void CsvColumns::take_form(size_t j, const NumberForm& form) {
  Column& column = columns_[j];
  const std::vector<std::string> texts = texts_of(j);
  column.form = form;
  table_.forms.push_back({static_cast<int64_t>(j), form});
  for (int64_t i = 0; i < table_.rows; ++i)
    if (!texts[i].empty()) read_formed(texts[i], form, &number(i, j));
  std::erase_if(column.cells, [this](const Cell& cell) { return !is_missing_here(cell.text); });
  make_numbers(j);
}

void CsvColumns::make_text(size_t j) {
  const Role role = columns_[j].role;
  std::vector<int64_t> lines;
  if (role == Role::target || role == Role::label) {
    table_.text = true;
    return number_texts(j, &table_.texts, &lines);
  }
  TextColumn text{static_cast<int64_t>(j), {}, {}, role == Role::text_input};
  number_texts(j, &text.levels, &text.lines);
  table_.text_inputs.push_back(std::move(text));
}

/// Each row's text as its number among these, to which new ones are added.
void CsvColumns::number_texts(size_t j, std::vector<std::string>* texts,
                              std::vector<int64_t>* lines) {
  const Column& column = columns_[j];
  const bool input = column.role == Role::input || column.role == Role::text_input;
  std::unordered_map<std::string, size_t> places;
  for (const std::string& known : *texts) places.emplace(known, places.size());
  auto cell = column.cells.begin();
  for (int64_t i = 0; i < table_.rows; ++i) {
    const bool plain = cell == column.cells.end() || cell->row != i;
    std::string text = plain ? text_at(i, j) : std::string((cell++)->text);
    if (input && !column.words ? is_missing_here(text) : text.empty() || is_listed(text)) {
      if (!(input ? options_.missing : column.may_lack)) refuse_missing(j, {i, text});
      if (!input) continue;
      text.clear();
    }
    const auto [place, added] = places.try_emplace(text, texts->size());
    if (added) {
      texts->push_back(text);
      lines->push_back(places_[i].line);
    }
    number(i, j) = static_cast<double>(place->second);
  }
  require_utf8(table_.name, *texts);
}

void CsvColumns::make_numbers(size_t j) {
  const Column& column = columns_[j];
  const bool input = column.role == Role::input || column.role == Role::number_input;
  for (const Cell& cell : column.cells) {
    const bool may_say = input || column.may_lack || column.role != Role::number;
    if (!may_say || !is_missing_here(cell.text)) refuse_word(j, cell);
    if (!(input ? options_.missing : column.may_lack)) refuse_missing(j, cell);
  }
}

void CsvColumns::finish() {
  for (size_t j = 0; j < columns_.size(); ++j) judge(j);
}

}  // namespace mercer::cli
