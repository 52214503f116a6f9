// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/csv_header.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "read/number.h"

namespace mercer::cli {

namespace {

enum class FieldKind { number, text, missing };

FieldKind kind_of(std::string_view field) {
  if (is_missing(field)) return FieldKind::missing;
  double value;
  const bool number =
      parse_number(field, &value) != NumberKind::not_a_number || read_comma(field).has_value();
  return number ? FieldKind::number : FieldKind::text;
}

bool begins_like_number(std::string_view field) {
  return !field.empty() && std::isdigit(static_cast<unsigned char>(field[0])) != 0;
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
    const bool word = kind == FieldKind::text;
    words += word;
    values += kind == FieldKind::number || begins_like_number(first[j]);
    above_number =
        above_number || (word && j < second.size() && kind_of(second[j]) == FieldKind::number);
  }
  return words > 0 && (values == 0 || above_number);
}

ColumnNames column_names(const std::vector<std::string>& written) {
  return column_names(Fields(written.begin(), written.end()));
}

ColumnNames column_names(const Fields& fields) {
  ColumnNames columns;
  std::unordered_map<std::string, int64_t> places, copies;
  for (size_t j = 0; j < fields.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    std::string name = fields[j].empty() ? name_of_unnamed(column) : std::string(fields[j]);
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

char declared_separator(std::string_view line) {
  line = without_blanks(line);
  if (line.size() >= 2 && line.front() == '"' && line.back() == '"')
    line = line.substr(1, line.size() - 2);
  return line.size() == 5 && line.starts_with("sep=") ? line[4] : '\0';
}

}  // namespace mercer::cli
