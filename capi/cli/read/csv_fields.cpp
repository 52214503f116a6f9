// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Splitting and quoting of CSV fields. A quoted field must end on its line: a line break inside a
// number table is a forgotten quote far more often than data.
#include "read/csv_fields.h"

#include <cstring>

#include "failure.h"
#include "read/number.h"

namespace mercer::cli {

std::string_view CsvFields::take_quoted(std::string_view line, size_t* at, const std::string& file,
                                        int64_t line_number) {
  const auto field = static_cast<int64_t>(fields_.size()) + 1;
  const size_t start = *at + 1;
  bool doubled = false;
  size_t i = start;
  for (;; ++i) {
    i = line.find('"', i);
    if (i == line.npos) fail_at(file, line_number, field, "the quote is not closed on this line");
    if (i + 1 >= line.size() || line[i + 1] != '"') break;
    doubled = true;
    ++i;
  }
  *at = i + 1;
  while (*at < line.size() && (line[*at] == ' ' || line[*at] == '\t')) ++*at;
  if (*at < line.size() && line[*at] != ',') {
    fail_at(file, line_number, field, "text after the closing quote");
  }
  const std::string_view inside = line.substr(start, i - start);
  if (!doubled) return inside;
  std::string& text = unquoted_[unquoted_used_++];
  text.clear();
  for (size_t k = 0; k < inside.size(); ++k) {
    text += inside[k];
    if (inside[k] == '"') ++k;
  }
  return text;
}

void CsvFields::split(std::string_view line, const std::string& file, int64_t line_number) {
  fields_.clear();
  unquoted_used_ = 0;
  size_t at = 0;
  for (;;) {
    size_t first = at;
    while (first < line.size() && (line[first] == ' ' || line[first] == '\t')) ++first;
    if (first < line.size() && line[first] == '"') {
      // Enough storage up front, so that no view moves while the line is split.
      if (unquoted_.size() < line.size() / 4 + 1) unquoted_.resize(line.size() / 4 + 1);
      at = first;
      fields_.push_back(take_quoted(line, &at, file, line_number));
    } else {
      const void* comma =
          at < line.size() ? std::memchr(line.data() + at, ',', line.size() - at) : nullptr;
      const size_t end = comma != nullptr
                             ? static_cast<size_t>(static_cast<const char*>(comma) - line.data())
                             : line.size();
      fields_.push_back(without_blanks(line.substr(at, end - at)));
      at = end;
    }
    if (at >= line.size()) return;
    ++at;  // the comma
    if (at == line.size()) {
      fields_.push_back({});
      return;
    }
  }
}

std::string csv_field(std::string_view text) {
  const bool plain =
      text.find_first_of(",\"\r\n") == text.npos && without_blanks(text).size() == text.size();
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace mercer::cli
