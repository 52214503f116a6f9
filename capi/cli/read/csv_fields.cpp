// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Splitting and quoting of CSV fields.
#include "read/csv_fields.h"

#include "failure.h"
#include "read/number.h"

namespace mercer::cli {

namespace {

/// Where the quote closes from `at` on, npos for nowhere; quotes inside are doubled.
size_t closing_quote(std::string_view line, size_t at, bool* doubled) {
  for (;; ++at) {
    at = line.find('"', at);
    if (at == line.npos || at + 1 >= line.size() || line[at + 1] != '"') return at;
    *doubled = true;
    ++at;
  }
}

}  // namespace

std::string_view CsvFields::take_quoted(std::string_view line, size_t* at, const std::string& file,
                                        int64_t line_number) {
  const auto field = static_cast<int64_t>(fields_.size()) + 1;
  const size_t start = *at + 1;
  bool doubled = false;
  const size_t close = closing_quote(line, start, &doubled);
  *at = close == line.npos ? close : close + 1;
  if (close == line.npos) return {};
  const size_t end = after_blanks(line, *at);
  const bool ended =
      end == line.size() || line[end] == separator_ || (separator_ == ' ' && end > *at);
  if (separator_ != ' ') *at = end;
  if (!ended) {
    fail_at(file, line_number, field, "text after the closing quote");
  }
  const std::string_view inside = line.substr(start, close - start);
  if (!doubled) return inside;
  std::string& text = unquoted_[unquoted_used_++];
  text.clear();
  for (size_t k = 0; k < inside.size(); ++k) {
    text += inside[k];
    if (inside[k] == '"') ++k;
  }
  return text;
}

size_t CsvFields::after_blanks(std::string_view line, size_t at) const {
  while (at < line.size() && is_blank(line[at])) ++at;
  return at;
}

void CsvFields::take_plain(std::string_view line, size_t* at) {
  const size_t end =
      separator_ == ' ' ? line.find_first_of(" \t", *at) : line.find(separator_, *at);
  std::string_view field = line.substr(*at, end == line.npos ? end : end - *at);
  while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  fields_.push_back(field);
  *at = end == line.npos ? line.size() : end;
}

bool CsvFields::split(std::string_view line, const std::string& file, int64_t line_number) {
  fields_.clear();
  raw_.clear();
  unquoted_used_ = 0;
  if (separator_ == ' ') line = without_blanks(line);
  size_t at = 0;
  for (;;) {
    const size_t begin = at, first = after_blanks(line, at);
    if (first < line.size() && line[first] == '"') {
      // Enough storage up front, so that no view moves while the line is split.
      if (unquoted_.size() < line.size() / 4 + 1) unquoted_.resize(line.size() / 4 + 1);
      at = first;
      fields_.push_back(take_quoted(line, &at, file, line_number));
      if (at == line.npos) return false;
    } else {
      take_plain(line, &at);
    }
    raw_.push_back(line.substr(begin, at - begin));
    if (at >= line.size()) return true;
    ++at;  // the separator
    if (separator_ == ' ') at = after_blanks(line, at);
    if (at == line.size()) {
      fields_.push_back({});
      raw_.push_back({});
      return true;
    }
  }
}

namespace {

/// Semicolons between fields of which each holds at most one comma, between digits: 1,5;2,5;3
bool has_decimal_commas(std::string_view line) {
  const auto is_digit = [&](size_t k) {
    return k < line.size() && line[k] >= '0' && line[k] <= '9';
  };
  bool seen = false;
  for (size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '"' || line[k] == '\t') return false;
    if (line[k] == ';') seen = false;
    if (line[k] != ',') continue;
    if (seen || k == 0 || !is_digit(k - 1) || !is_digit(k + 1)) return false;
    seen = true;
  }
  return line.find(';') != line.npos;
}

}  // namespace

char separator_of(std::string_view line) {
  int64_t commas = 0, semicolons = 0, tabs = 0, blanks = 0;
  bool quoted = false;
  line = without_blanks(line);
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
    blanks += c == ' ';
  }
  if (tabs > 0) return '\t';
  if (semicolons > commas || has_decimal_commas(line)) return ';';
  return commas == 0 && blanks > 0 ? ' ' : ',';
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

std::string csv_copy(std::string_view raw) {
  const bool quoted = without_blanks(raw).starts_with('"');
  return quoted || raw.find(',') == raw.npos ? std::string(raw) : csv_field(raw);
}

}  // namespace mercer::cli
