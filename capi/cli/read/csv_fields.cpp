// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Splitting and quoting of CSV fields.
#include <algorithm>

#include "failure.h"
#include "read/csv.h"

namespace mercer::cli {
namespace {
constexpr int64_t kMostBreaks = 100;  // of one field
}

bool CsvRecords::ends_line(size_t at) const {
  return at >= text_.size() || text_[at] == '\n' ||
         (text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] == '\n'));
}

std::string_view CsvRecords::line() const {
  const size_t feed = std::min(text_.find('\n', place_.at), text_.size());
  std::string_view line = text_.substr(place_.at, feed - place_.at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void CsvRecords::end_line(size_t feed) {
  place_ = {feed == text_.npos ? text_.size() : feed + 1, place_.line + breaks_ + 1};
}

bool CsvRecords::find_line() {
  breaks_ = 0;
  while (place_.at < text_.size() && without_blanks(line()).empty()) pass_line();
  return place_.at < text_.size();
}

size_t CsvRecords::after_blanks(size_t at) const {
  while (at < text_.size() && is_blank(text_[at])) ++at;
  return at;
}

/// From `at` on; quotes inside are doubled.
size_t CsvRecords::closing_quote(size_t at, bool* doubled) {
  int64_t breaks = 0;
  for (size_t from = at;; ++at) {
    at = text_.find('"', at);
    const size_t end = std::min(at, text_.size());
    breaks += std::count(text_.begin() + static_cast<int64_t>(from),
                         text_.begin() + static_cast<int64_t>(end), '\n');
    from = end;
    if (at == text_.npos || breaks > kMostBreaks)
      fail_at(file_, place_.line, std::ssize(fields_) + 1,
              "the quote is not closed on this line nor on the " + std::to_string(kMostBreaks) +
                  " below");
    if (at + 1 >= text_.size() || text_[at + 1] != '"') {
      breaks_ += breaks;
      return at;
    }
    *doubled = true;
    ++at;
  }
}

void CsvRecords::take_quoted(size_t* at) {
  const size_t start = *at + 1;
  bool doubled = false;
  const size_t close = closing_quote(start, &doubled);
  const size_t end = after_blanks(close + 1);
  const bool ended =
      ends_line(end) || text_[end] == separator_ || (separator_ == ' ' && end > close + 1);
  if (!ended) fail_at(file_, place_.line, std::ssize(fields_) + 1, "text after the closing quote");
  *at = separator_ == ' ' ? close + 1 : end;
  const std::string_view inside = text_.substr(start, close - start);
  if (!doubled) {
    fields_.push_back(inside);
    return;
  }
  std::string& text = unquoted_.emplace_back();
  for (size_t k = 0; k < inside.size(); ++k) {
    text += inside[k];
    if (inside[k] == '"') ++k;
  }
  fields_.emplace_back(text);
}

void CsvRecords::take_plain(size_t* at) {
  size_t end = *at;
  while (!ends_line(end) && text_[end] != separator_ &&
         !(separator_ == ' ' && is_blank(text_[end])))
    ++end;
  fields_.push_back(without_blanks(text_.substr(*at, end - *at)));
  *at = end;
}

void CsvRecords::read() {
  fields_.clear();
  breaks_ = 0;
  for (size_t at = separator_ == ' ' ? after_blanks(place_.at) : place_.at;;) {
    const size_t first = after_blanks(at);
    if (first < text_.size() && text_[first] == '"') {
      at = first;
      take_quoted(&at);
    } else {
      take_plain(&at);
    }
    if (separator_ == ' ') at = after_blanks(at);
    if (ends_line(at)) return end_line(text_.find('\n', at));
    if (separator_ != ' ') ++at;
  }
}

char separator_of(std::string_view line, char decimal) {
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
  if (semicolons > (decimal == ',' ? 0 : commas)) return ';';
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

}  // namespace mercer::cli
