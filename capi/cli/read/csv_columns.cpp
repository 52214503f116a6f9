// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A column that may hold either is text if its first field that is not missing is, unless one or two
// words in few rows stand among numbers: these say that the number is missing.
#include "read/csv_columns.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "failure.h"
#include "read/csv_fields.h"
#include "read/number.h"

namespace mercer::cli {

namespace {

/// 62.898 and 1.234.567, but not 0.898 or 62.89.
bool may_be_thousands(std::string_view number) {
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  const size_t first = std::min(number.find('.'), number.size());
  if (first == 0 || first > 3 || number[0] == '0' || (number.size() - first) % 4 != 0) return false;
  for (size_t i = 0; i < number.size(); ++i) {
    const bool mark = i >= first && (i - first) % 4 == 0;
    if (mark ? number[i] != '.' : number[i] < '0' || number[i] > '9') return false;
  }
  return true;
}

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kNoTarget =
    ": no target; a fit needs one in every row (take out the rows without)";

bool is_number(std::string_view text) {
  double value;
  return parse_number(text, &value) == NumberKind::finite;
}

/// Neither a number, whatever its mark, nor one that is not finite.
bool is_word(std::string_view text) {
  double value;
  return parse_number(text, &value) == NumberKind::not_a_number && !read_comma(text);
}

int64_t rows_of(const std::vector<WordRows>& words) {
  int64_t rows = 0;
  for (const WordRows& one : words) rows += one.rows;
  return rows;
}

}  // namespace

bool are_missing_words(const std::vector<WordRows>& words, int64_t numbers) {
  constexpr size_t kMostWords = 2;
  constexpr int64_t kNumbersPerWord = 19;
  return !words.empty() && words.size() <= kMostWords &&
         numbers >= kNumbersPerWord * rows_of(words);
}

std::string words_text(const std::vector<WordRows>& words, int64_t rows) {
  std::string text;
  for (const WordRows& one : words) {
    if (!text.empty()) text += " and ";
    text.append(shown(one.word)).append(" in ").append(std::to_string(one.rows));
  }
  return text + " of " + counted(rows, "row");
}

CsvColumns::CsvColumns(Table* table, CsvRecords* records, const CsvOptions& options)
    : table_(*table),
      records_(*records),
      options_(options),
      numbers_listed_(std::ranges::any_of(options.missing_words, is_number)) {}

void CsvColumns::permit(const TextPermission& permission, size_t columns) {
  columns_.resize(columns);
  const auto become = [&](const std::vector<int64_t>& which, Role role) {
    for (const int64_t column : which) columns_[static_cast<size_t>(column)].role = role;
  };
  become(permission.inputs, Role::input);
  become(permission.number_inputs, Role::number_input);
  become(permission.text_inputs, Role::text_input);
  become(permission.columns, permission.always ? Role::label : Role::target);
  become(permission.ignored, Role::ignored);
  for (Column& column : columns_) column.decimal = options_.decimal;
  for (const int64_t column : permission.may_lack)
    columns_[static_cast<size_t>(column)].may_lack = true;
  for (const int64_t column : permission.commas)
    if (options_.decimal == 0) columns_[static_cast<size_t>(column)].decimal = ',';
  for (const ColumnWords& known : permission.words)
    for (const WordRows& one : known.words)
      columns_[static_cast<size_t>(known.column)].known.push_back(one.word);
}

bool CsvColumns::is_ignored(int64_t column) const {
  return columns_[static_cast<size_t>(column)].role == Role::ignored;
}

void CsvColumns::add_row(const CsvRecords::Place& place) {
  places_.push_back(place);
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    const std::string_view field = records_[j];
    const bool text = column.role == Role::label || column.role == Role::text_input;
    double x = 0;
    if (column.role != Role::ignored) {
      if (text || (numbers_listed_ && is_listed(field)) ||
          parse_number(field, &x) != NumberKind::finite) {
        x = kMissing;
        column.cells.push_back({table_.rows, field});
      } else if (!column.decimals && field.find('.') != field.npos) {
        if (column.point < 0) column.point = table_.rows;
        column.decimals = !may_be_thousands(field);
      }
    }
    table_.numbers.values.push_back(x);
  }
  ++table_.rows;
}

double& CsvColumns::number(int64_t row, size_t j) {
  return table_.numbers.values[static_cast<size_t>(row) * columns_.size() + j];
}

std::string CsvColumns::text_at(int64_t row, size_t j) {
  records_.go_to(places_[static_cast<size_t>(row)]);
  records_.read();
  return std::string(records_[j]);
}

bool CsvColumns::is_listed(std::string_view field) const {
  return std::ranges::find(options_.missing_words, field) != options_.missing_words.end();
}

bool CsvColumns::is_missing_here(std::string_view field) const {
  return is_missing(field) || is_listed(field);
}

std::string CsvColumns::name_of(size_t j) const {
  return table_.names.empty() ? std::to_string(j + 1) : table_.names[j];
}

void CsvColumns::refuse(size_t j, const Cell& cell, const std::string& what) const {
  fail_at(table_.name, places_[static_cast<size_t>(cell.row)].line, static_cast<int64_t>(j) + 1,
          what);
}

void CsvColumns::refuse_missing(size_t j, const Cell& cell) const {
  const std::string field = cell.text.empty() ? "empty field" : shown(cell.text);
  const Role role = columns_[j].role;
  if (role == Role::target || role == Role::label) refuse(j, cell, field + kNoTarget);
  refuse(j, cell,
         field + "; missing values are refused (a fit with --missing flag fills and flags them)");
}

/// Of what is no number in a column of numbers.
void CsvColumns::refuse_word(size_t j, const Cell& cell, int64_t words) const {
  double value;
  const NumberKind kind = parse_number(cell.text, &value);
  const Column& column = columns_[j];
  std::string what = complaint(kind, cell.text);
  const std::string name = typed(name_of(j));
  if (read_comma(cell.text) && column.role != Role::number)
    what = column.point >= 0 ? shown(cell.text) +
                                   ", where other numbers of the column have a "
                                   "decimal point: one mark for all of them"
                             : shown(cell.text) +
                                   " may be a number with a decimal comma or with thousands: "
                                   "--decimal comma, or write thousands without a mark";
  else if (kind == NumberKind::not_finite && column.role == Role::input)
    what += " (--missing-word=" + typed(cell.text) + " takes it as missing)";
  else if (kind == NumberKind::not_a_number && column.role == Role::input)
    what += ", but " + std::to_string(table_.rows - words) + " of " + counted(table_.rows, "row") +
            " hold numbers (--missing-word=" + typed(cell.text) + " takes it as missing, --text " +
            name + " the column as text, --ignore " + name + " leaves it out)";
  else if (kind == NumberKind::not_a_number && column.role == Role::target)
    what += ", but the rows above hold numbers (--task classification reads labels as text)";
  refuse(j, cell, what);
}

/// Words that are neither missing nor numbers with a decimal comma.
std::vector<WordRows> CsvColumns::words_of(const Column& column) const {
  std::unordered_map<std::string_view, size_t> places;
  std::vector<WordRows> words;
  for (const Cell& cell : column.cells) {
    if (is_missing_here(cell.text) || read_comma(cell.text)) continue;
    const auto [place, added] = places.try_emplace(cell.text, words.size());
    if (added) words.push_back({std::string(cell.text)});
    ++words[place->second].rows;
  }
  return words;
}

int64_t CsvColumns::numbers_of(const Column& column) const {
  const auto commas = std::ranges::count_if(
      column.cells, [](const Cell& cell) { return read_comma(cell.text).has_value(); });
  return table_.rows - std::ssize(column.cells) + commas;
}

/// Is the first field that is not missing a word?
bool CsvColumns::begins_with_word(const Column& column) const {
  int64_t row = 0;
  for (const Cell& cell : column.cells) {
    if (cell.row > row) return false;
    if (!is_missing_here(cell.text)) return is_word(cell.text);
    ++row;
  }
  return false;
}

void CsvColumns::judge(size_t j) {
  const Column& column = columns_[j];
  const bool wrong_mark = column.decimal == ',' && column.point >= 0;
  if (column.role == Role::ignored || (column.cells.empty() && !wrong_mark)) return;
  if (column.role == Role::text_input) return make_text(j, true, {});
  if (column.role == Role::label) return make_labels(j);
  const bool open = column.role == Role::input || column.role == Role::target;
  if (!open || !begins_with_word(column)) return make_numbers(j);
  std::vector<WordRows> words = words_of(column);
  const int64_t numbers = numbers_of(column);
  const bool few = are_missing_words(words, numbers);
  if (few && column.role == Role::target)
    refuse(j, column.cells[0],
           words_text(words, table_.rows) +
               ", where the others hold numbers: no target; a fit needs one in every row (take "
               "out the rows without; --task classification reads labels as text)");
  if (few) return make_numbers(j);
  if (column.role == Role::target) return make_labels(j);
  constexpr size_t kTold = 3;
  if (numbers <= rows_of(words)) words.clear();
  words.resize(std::min(words.size(), kTold));
  make_text(j, false, std::move(words));
}

void CsvColumns::make_text(size_t j, bool asked, std::vector<WordRows> words) {
  TextColumn text{static_cast<int64_t>(j), {}, {}, asked, std::move(words)};
  std::unordered_map<std::string, size_t> places;
  auto cell = columns_[j].cells.begin();
  for (int64_t i = 0; i < table_.rows; ++i) {
    const bool plain = cell == columns_[j].cells.end() || cell->row != i;
    std::string level = plain ? text_at(i, j) : std::string((cell++)->text);
    if (is_missing_here(level)) {
      if (!options_.missing) refuse_missing(j, {i, level});
      level.clear();
    }
    const auto [place, added] = places.try_emplace(level, text.levels.size());
    if (added) {
      text.levels.push_back(level);
      text.lines.push_back(places_[static_cast<size_t>(i)].line);
    }
    number(i, j) = static_cast<double>(place->second);
  }
  require_utf8(table_.name, text.levels);
  table_.text_inputs.push_back(std::move(text));
}

void CsvColumns::make_labels(size_t j) {
  table_.text = true;
  std::unordered_map<std::string, size_t> places;
  for (size_t k = 0; k < table_.texts.size(); ++k) places.emplace(table_.texts[k], k);
  auto cell = columns_[j].cells.begin();
  for (int64_t i = 0; i < table_.rows; ++i) {
    const bool plain = cell == columns_[j].cells.end() || cell->row != i;
    const std::string label = plain ? text_at(i, j) : std::string((cell++)->text);
    if (label.empty() || is_listed(label)) {
      if (!columns_[j].may_lack) refuse_missing(j, {i, label});
      continue;
    }
    const auto [place, added] = places.try_emplace(label, table_.texts.size());
    if (added) table_.texts.push_back(label);
    number(i, j) = static_cast<double>(place->second);
  }
  require_utf8(table_.name, table_.texts);
}

bool CsvColumns::take_comma(size_t j, const Cell& cell) {
  const Column& column = columns_[j];
  const std::optional<CommaNumber> read = read_comma(cell.text);
  const bool plain = column.role == Role::number && !column.may_lack;
  if (!read || column.decimal == '.' || plain) return false;
  if (column.point >= 0 || (column.decimal == 0 && !comma_file_)) return false;
  number(cell.row, j) = read->value;
  if (table_.commas.empty() || table_.commas.back() != static_cast<int64_t>(j))
    table_.commas.push_back(static_cast<int64_t>(j));
  return true;
}

/// Fails where missing numbers are refused.
bool CsvColumns::is_missing_number(size_t j, const Cell& cell, bool word) {
  const Column& column = columns_[j];
  const bool input = column.role == Role::input || column.role == Role::number_input;
  if (column.role == Role::number && !column.may_lack) return false;
  if (!is_missing_here(cell.text)) {
    const bool known = std::ranges::find(column.known, cell.text) != column.known.end();
    if (!(known || word) || !input) return false;
  }
  if (input ? !options_.missing : !column.may_lack) refuse_missing(j, cell);
  return true;
}

void CsvColumns::make_numbers(size_t j) {
  Column& column = columns_[j];
  if (column.decimal == ',' && column.point >= 0)
    refuse(j, {column.point, {}},
           shown(text_at(column.point, j)) +
               " has a decimal point, where a decimal comma is expected");
  std::vector<WordRows> words;
  if (column.role == Role::input) words = words_of(column);
  const int64_t count = rows_of(words);
  const bool few = are_missing_words(words, numbers_of(column));
  for (const Cell& cell : column.cells) {
    const bool word = few && is_word(cell.text);
    if (word && !options_.missing && !is_missing_here(cell.text))
      refuse(j, cell,
             words_text(words, table_.rows) +
                 ", where the others hold numbers: taken as missing, which is refused (a fit with "
                 "--missing flag fills and flags them, --text " +
                 typed(name_of(j)) + " takes the column as text)");
    if (take_comma(j, cell) || is_missing_number(j, cell, word)) continue;
    refuse_word(j, cell, count);
  }
  if (few) table_.words.push_back({static_cast<int64_t>(j), std::move(words)});
}

void CsvColumns::finish() {
  for (const Column& column : columns_)
    for (const Cell& cell : column.cells) {
      const bool text = column.role == Role::label || column.role == Role::text_input;
      if (text || comma_file_ || column.point >= 0) break;
      const std::optional<CommaNumber> read = read_comma(cell.text);
      comma_file_ = read && read->certain;
    }
  for (size_t j = 0; j < columns_.size(); ++j) judge(j);
  for (size_t j = 0; j < columns_.size() && !table_.commas.empty(); ++j) {
    const Column& column = columns_[j];
    if (column.decimal != 0 || column.point < 0 || column.decimals) continue;
    refuse(j, {column.point, {}},
           shown(text_at(column.point, j)) +
               " may be a number with a decimal point or with thousands, where other columns have "
               "decimal commas: write thousands without a mark, and decimals alike");
  }
}

}  // namespace mercer::cli
