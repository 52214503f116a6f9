// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers by std::from_chars / to_chars (C++17): correctly rounded, locale-free.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "failure.h"
#include "read/table.h"

namespace mercer::cli {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

namespace {

/// 1.5D+00, as Fortran writes doubles: `at` is where the D stands.
NumberKind parse_fortran(std::string_view text, size_t at, double* value) {
  const bool exponent = at > 0 && at + 1 < text.size() && (text[at] == 'D' || text[at] == 'd') &&
                        text.find_first_not_of("+-0123456789", at + 1) == text.npos;
  if (!exponent) return NumberKind::not_a_number;
  std::string plain(text);
  plain[at] = 'e';
  return parse_number(plain, value);
}

}  // namespace

NumberKind parse_number(std::string_view text, double* value) {
  text = without_blanks(text);
  if (text.empty()) return NumberKind::empty;
  if (text.front() == '+' && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, *value);
  if (result.ec == std::errc::invalid_argument || result.ptr != end)
    return parse_fortran(text, static_cast<size_t>(result.ptr - text.data()), value);
  if (result.ec == std::errc::result_out_of_range) {
    // from_chars says the same of 1e999 and of 1e-999; the second is a fine zero.
    if (text.find("e-") == text.npos && text.find("E-") == text.npos)
      return NumberKind::out_of_range;
    *value = 0;
  }
  return std::isfinite(*value) ? NumberKind::finite : NumberKind::not_finite;
}

NumberKind parse_decimal(std::string_view text, char mark, double* value) {
  if (mark != ',') return parse_number(text, value);
  if (text.find('.') != text.npos) return NumberKind::not_a_number;
  std::string plain(text);
  std::ranges::replace(plain, ',', '.');
  return parse_number(plain, value);
}

std::string complaint(NumberKind kind, std::string_view text) {
  switch (kind) {
    case NumberKind::empty:
      return "empty field, expected a number";
    case NumberKind::not_finite:
      return shown(text) + " is not a finite number";
    case NumberKind::out_of_range:
      return shown(text) + " is out of the range of double";
    default:
      return shown(text) + " is not a number";
  }
}

std::string number_text(double value) {
  char buffer[64];
  if (std::fabs(value) < 9007199254740992.0 && value == std::floor(value)) {
    const auto whole = static_cast<int64_t>(value);
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, whole).ptr};
  }
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string rounded(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  return buffer;
}

}  // namespace mercer::cli
