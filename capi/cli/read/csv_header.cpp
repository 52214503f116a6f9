// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/csv_header.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "read/date_form.h"
#include "read/number.h"
#include "read/number_form.h"

namespace mercer::cli {

namespace {

enum class FieldKind { number, text, date, missing };

FieldKind kind_of(const std::string& field) {
  if (is_missing(field)) return FieldKind::missing;
  double value;
  const bool number =
      parse_number(field, &value) != NumberKind::not_a_number || read_written(field).has_value();
  if (number) return FieldKind::number;
  return is_date(field) ? FieldKind::date : FieldKind::text;
}

}  // namespace

bool holds_words(const Fields& fields) {
  return std::ranges::any_of(fields,
                             [](const auto& one) { return kind_of(one) == FieldKind::text; });
}

bool holds_numbers(const Fields& fields) {
  return std::ranges::any_of(fields,
                             [](const auto& one) { return kind_of(one) == FieldKind::number; });
}

bool is_comment(std::string_view line) {
  constexpr std::string_view kSeparators = ",;\t|";
  line = without_blanks(line);
  return line.starts_with('#') &&
         (line.size() == 1 || kSeparators.find(line[1]) == kSeparators.npos);
}

std::string_view without_mark(std::string_view comment) {
  comment = without_blanks(comment);
  while (comment.starts_with('#')) comment.remove_prefix(1);
  return without_blanks(comment);
}

bool looks_like_header(const Fields& first, const Fields& second) {
  int64_t words = 0, values = 0;
  bool above_number = false;
  for (size_t j = 0; j < first.size(); ++j) {
    const FieldKind kind = kind_of(first[j]);
    const bool word = kind == FieldKind::text || kind == FieldKind::date;
    words += word;
    values += kind == FieldKind::number || kind == FieldKind::date;
    above_number =
        above_number || (word && j < second.size() && kind_of(second[j]) == FieldKind::number);
  }
  return words > 0 && (values == 0 || above_number);
}

ColumnNames column_names(const Fields& fields) {
  ColumnNames columns;
  std::unordered_map<std::string, int64_t> places, copies;
  for (size_t j = 0; j < fields.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    std::string name = fields[j].empty() ? name_of_unnamed(column) : fields[j];
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    columns.written.push_back(name);
    const auto [place, added] = places.try_emplace(name, column);
    if (!added) {
      columns.repeated.push_back(column);
      columns.first.push_back(place->second);
      int64_t& k = copies[name];
      do name = columns.written[j] + "." + std::to_string(++k);
      while (!places.try_emplace(name, column).second);
    }
    columns.names.push_back(std::move(name));
  }
  return columns;
}

namespace {

std::string_view without_currency(std::string_view text) {
  for (const std::string_view sign : {"$", "\u20ac", "\u00a3", "\u00a5"})
    if (text.starts_with(sign)) return text.substr(sign.size());
  return text;
}

size_t leading_digits(std::string_view text) {
  const auto end = std::ranges::find_if(text, [](unsigned char c) { return !std::isdigit(c); });
  return static_cast<size_t>(end - text.begin());
}

}  // namespace

std::optional<size_t> split_number(const Fields& fields) {
  for (size_t j = 0; j + 1 < fields.size(); ++j) {
    const std::string_view first = without_currency(fields[j]), second = fields[j + 1];
    const size_t digits = leading_digits(first);
    const bool begins = digits == first.size() && digits >= 1 && digits <= 3;
    const bool ends = leading_digits(second) == 3 && (second.size() == 3 || second[3] == '.');
    const bool tells = first.size() < fields[j].size() || second.starts_with('0');
    if (begins && ends && tells) return j;
  }
  return std::nullopt;
}

char declared_separator(std::string_view line) {
  line = without_blanks(line);
  if (line.size() >= 2 && line.front() == '"' && line.back() == '"')
    line = line.substr(1, line.size() - 2);
  return line.size() == 5 && line.starts_with("sep=") ? line[4] : '\0';
}

}  // namespace mercer::cli
