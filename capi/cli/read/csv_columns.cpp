// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a whole column says: which mark is decimal, which words stand for missing numbers.
#include <algorithm>
#include <cmath>

#include "failure.h"
#include "read/csv_cells.h"
#include "read/utf8.h"

namespace mercer::cli {

bool CsvCells::is_listed(std::string_view field) const {
  return std::ranges::find(options_.missing_words, field) != options_.missing_words.end();
}

bool CsvCells::is_missing_here(std::string_view field) const {
  return is_missing(field) || is_listed(field);
}

void CsvCells::fail_in(size_t j, const std::string& what) const {
  fail_at(table_.name, line_, static_cast<int64_t>(j) + 1, what);
}

std::string CsvCells::name_of(size_t j) const {
  return table_.names.empty() ? std::to_string(j + 1) : table_.names[j];
}

int64_t CsvCells::line_of(int64_t row) const {
  const auto later = std::ranges::upper_bound(ahead_, row, {}, &std::pair<int64_t, int64_t>::first);
  return row + (later - 1)->second;
}

std::string CsvCells::missing_text(std::string_view field) const {
  return (field.empty() ? "empty field" : shown(field)) +
         "; missing values are refused (a fit with --missing flag fills and flags them)";
}

/// Did some plain number have a point? The rows above tell, but for a number like 5.0.
bool CsvCells::has_points(size_t j) const {
  if (columns_[j].points) return true;
  const auto& numbers = table_.values.f64;
  for (int64_t i = 0; i < row_; ++i) {
    const double x = numbers[static_cast<size_t>(i) * columns_.size() + j];
    if (x != std::floor(x) && !std::isnan(x)) return true;
  }
  return false;
}

/// What makes a word in a column of numbers go.
std::string CsvCells::ways_out(size_t j, std::string_view word) const {
  const std::string name = typed(name_of(j));
  return " (--missing-word=" + typed(word) + " takes it as missing, --text " + name +
         " the column as text, --ignore " + name + " leaves it out)";
}

/// The texts of the first rows are read again, as numbers and words for missing ones.
void CsvCells::become_numbers(size_t j, int64_t rows) {
  TextLevels levels = std::move(levels_[j]);
  levels_[j] = {};
  columns_[j].kind = Kind::number_input;
  words_[j] = levels.words_among_numbers();
  for (WordRows& word : words_[j]) word = {word.word};
  reading_again_ = true;
  const int64_t line = line_, row = row_;
  for (row_ = 0; row_ < rows; ++row_) {
    line_ = line_of(row_);
    double& cell = table_.values.f64[static_cast<size_t>(row_) * columns_.size() + j];
    cell = value(j, levels.texts()[static_cast<size_t>(cell)]);
  }
  reading_again_ = false;
  line_ = line;
  row_ = row;
}

// Columns where every number is like 1,234 follow the other columns of the file.
void CsvCells::settle_marks() {
  char decimal = 0;
  for (const NumberForm& form : forms_) {
    const char found = form.group() == ',' ? '.' : form.decimal();
    if (found == ',' || (found == '.' && form.group() == ',')) decimal = found;
    if (decimal == ',') break;
  }
  for (size_t j = 0; j < columns_.size(); ++j) {
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
      table_.values.f64[static_cast<size_t>(i) * columns_.size() + j] /= 1000;
  }
}

void CsvCells::settle_words(size_t j) {
  const std::vector<WordRows>& words = words_[j];
  if (words.empty() || !columns_[j].open) return;
  int64_t numbers = 0;
  for (int64_t i = 0; i < table_.rows; ++i)
    numbers += !std::isnan(table_.values.f64[static_cast<size_t>(i) * columns_.size() + j]);
  line_ = line_of(words[0].first);
  if (!are_missing_words(words, numbers))
    fail_in(j, shown(words[0].word) + " is not a number, but " + std::to_string(numbers) + " of " +
                   counted(table_.rows, "row") + " hold numbers" + ways_out(j, words[0].word));
  if (!options_.missing)
    fail_in(j,
            words_text(words, table_.rows) +
                ", where the others hold numbers: taken as missing, which is refused (a fit with "
                "--missing flag fills and flags them, --text " +
                typed(name_of(j)) + " takes the column as text)");
  table_.words.push_back({static_cast<int64_t>(j), words});
}

/// A target of numbers and a word or two is no text.
void CsvCells::require_text_targets() const {
  const std::vector<WordRows> words = labels_.words_among_numbers();
  if (words.empty()) return;
  for (size_t j = 0; j < columns_.size(); ++j)
    if (columns_[j].kind == Kind::text && columns_[j].open)
      fail_at(table_.name, line_of(words[0].first), static_cast<int64_t>(j) + 1,
              words_text(words, table_.rows) +
                  ", where the others hold numbers: no target; a fit needs one in every row (take "
                  "out the rows without; --task classification reads labels as text)");
}

void CsvCells::finish() {
  for (size_t j = 0; j < columns_.size(); ++j) {
    const bool text = columns_[j].kind == Kind::text_input && columns_[j].open;
    if (text) require_utf8(table_.name, levels_[j].texts());
    if (text && !levels_[j].words_among_numbers().empty()) become_numbers(j, table_.rows);
    settle_words(j);
  }
  require_utf8(table_.name, labels_.texts());
  require_text_targets();
  settle_marks();
  for (size_t j = 0; j < columns_.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    const Kind kind = columns_[j].kind;
    if (kind == Kind::text) table_.text_columns.push_back(column);
    if (kind == Kind::text_input) {
      std::vector<WordRows> words;
      if (columns_[j].open) words = levels_[j].words_beside_numbers();
      table_.text_inputs.push_back({column, std::move(levels_[j].texts()), std::move(words)});
    }
    const NumberForm& form = forms_[j];
    if (form.example_row() < 0) continue;
    table_.forms.push_back(form.described(column));
    table_.forms.back().value =
        table_.values.f64[static_cast<size_t>(form.example_row()) * columns_.size() + j];
  }
  table_.texts = std::move(labels_.texts());
  table_.values.f64.trim();
}

}  // namespace mercer::cli
