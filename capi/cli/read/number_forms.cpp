// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers of a column that has one form beside the plain one: $1,234.50, 12 %, 1.234,50, dates.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>

#include "read/table.h"

namespace mercer::cli {
namespace {

/// Before or behind the digits. Beside those before the percent sign a comma parts thousands, and
/// beside these and it a point is the decimal mark.
constexpr std::string_view kSymbols[] = {"$", "£", "¥", "%", "€", "USD", "EUR", "GBP", "CHF"};
constexpr int64_t kPercent = 3;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// -$5 as {"-5", "$"}.
struct CurrencyNumber {
  std::string body;
  std::string_view symbol;
};
CurrencyNumber undressed(std::string_view text) {
  CurrencyNumber number;
  const auto take_sign = [&] {
    if (!text.empty() && (text[0] == '-' || text[0] == '+') && number.body.empty()) {
      number.body = text[0];
      text.remove_prefix(1);
    }
  };
  take_sign();
  for (const std::string_view symbol : kSymbols) {
    const bool before = text.starts_with(symbol);
    if (!before && !text.ends_with(symbol)) continue;
    text = without_blanks(before ? text.substr(symbol.size())
                                 : text.substr(0, text.size() - symbol.size()));
    if (before) take_sign();
    number.symbol = symbol;
    break;
  }
  number.body += text;
  return number;
}

/// Takes marks between groups of three digits out of what stands before the decimal mark; how many.
/// -1: what is there are no such groups.
int64_t take_marks(std::string* body, char thousands, char decimal) {
  const size_t begin = body->find_first_of("+-") == 0 ? 1 : 0;
  const size_t end = std::min(body->find(decimal), body->size());
  std::string whole;
  int64_t marks = 0;
  size_t group = 0;
  for (size_t k = begin; k < end; ++k) {
    const bool mark = (*body)[k] == thousands;
    if (mark && (marks == 0 ? group < 1 || group > 3 : group != 3)) return -1;
    if (!mark) whole += (*body)[k];
    marks += mark;
    group = mark ? 0 : group + 1;
  }
  if (marks == 0) return 0;
  if (group != 3 || !all_digits(whole)) return -1;
  *body = body->substr(0, begin) + whole + body->substr(end);
  return marks;
}

/// Of a field: whether it has marks of thousands, and whether these can mean nothing else.
enum class Fit { none, plain, either, sure };
Fit fit_of(std::string body, const NumberForm& form, double* value) {
  const int64_t marks = form.thousands == 0 ? 0 : take_marks(&body, form.thousands, form.decimal);
  if (marks < 0 || parse_decimal(body, form.decimal, value) != NumberKind::finite) return Fit::none;
  const bool own = form.thousands != '.' && form.thousands != ',';
  const bool sure = own || marks > 1 || body.find(form.decimal) != body.npos;
  return marks == 0 ? Fit::plain : sure ? Fit::sure : Fit::either;
}

Fit fit_of(const std::vector<std::string>& texts, const NumberForm& form) {
  Fit most = Fit::plain;
  double value;
  for (const std::string& text : texts) {
    const CurrencyNumber number = undressed(text);
    const Fit fit = fit_of(number.body, form, &value);
    if (number.symbol != form.symbol || fit == Fit::none) return Fit::none;
    most = std::max(most, fit);
  }
  return most;
}

std::vector<NumberForm> forms_with(const std::string& symbol) {
  std::vector<NumberForm> forms;
  for (const std::string_view marks : {".", ".,", ",.", ". ", ", ", ".'", ","})
    forms.push_back({symbol, marks[0], marks.size() > 1 ? marks[1] : '\0', {}});
  return forms;
}

/// Numbers that these marks part: 3 of a date, 2 or 3 of a time.
std::vector<std::string_view> parted(std::string_view text, std::string_view marks) {
  std::vector<std::string_view> parts;
  for (size_t mark = text.find_first_of(marks); mark != text.npos;
       mark = text.find_first_of(marks)) {
    parts.push_back(text.substr(0, mark));
    text.remove_prefix(mark + 1);
  }
  parts.push_back(text);
  return parts;
}

/// hh:mm, hh:mm:ss.fff, with AM or PM, Z or +hh:mm behind, in seconds.
bool read_time(std::string_view text, double* time) {
  double offset = 0, hours = 0, minutes = 0, seconds = 0, noon = -1;
  for (const auto& [word, add] : {std::pair{"AM", 0.0}, {"PM", 12.0}, {"am", 0.0}, {"pm", 12.0}})
    if (text.ends_with(word)) noon = add;
  if (noon >= 0) text = without_blanks(text.substr(0, text.size() - 2));
  if (text.ends_with('Z')) text.remove_suffix(1);
  const size_t zone = text.find_first_of("+-");
  if (zone != text.npos) {
    const std::string_view behind = text.substr(zone + 1);
    if (behind.find_first_of("+-") != behind.npos || !read_time(behind, &offset)) return false;
    if (text[zone] == '-') offset = -offset;
    text = text.substr(0, zone);
  }
  const std::vector<std::string_view> parts = parted(text, ":");
  if (parts.size() < 2 || parts.size() > 3 || !all_digits(parts[0]) || !all_digits(parts[1]))
    return false;
  const bool numbers = parse_number(parts[0], &hours) == NumberKind::finite &&
                       parse_number(parts[1], &minutes) == NumberKind::finite &&
                       (parts.size() < 3 || parse_number(parts[2], &seconds) == NumberKind::finite);
  if (!numbers || hours > (noon < 0 ? 24 : 12) || minutes >= 60 || seconds < 0 || seconds >= 61)
    return false;
  if (noon >= 0) hours = (hours == 12 ? 0 : hours) + noon;
  *time = hours * 3600 + minutes * 60 + seconds - offset;
  return true;
}

/// order: of day, month and year, as "dmy"; "time": there is no date.
bool read_date(std::string_view text, std::string_view order, double* days) {
  constexpr double kDay = 86400;
  double time = 0;
  if (order == "time") {
    const bool good = read_time(text, &time);
    *days = time / kDay;
    return good;
  }
  const size_t end = std::min(text.find_first_of("T "), text.size());
  if (end < text.size() && !read_time(without_blanks(text.substr(end + 1)), &time)) return false;
  const std::vector<std::string_view> parts = parted(text.substr(0, end), "-/.");
  if (parts.size() != 3 || parts[order.find('y')].size() != 4) return false;
  int year = 0;
  unsigned month = 0, day = 0;
  for (const size_t k : {0, 1, 2}) {
    const bool number = order[k] == 'y' ? parse_whole(parts[k], &year)
                                        : parse_whole(parts[k], order[k] == 'm' ? &month : &day);
    if (!number) return false;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return false;
  *days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) + time / kDay;
  return true;
}

}  // namespace

bool read_formed(std::string_view text, const NumberForm& form, double* value) {
  if (!form.date.empty()) return read_date(text, form.date, value);
  const CurrencyNumber number = undressed(text);
  const bool bare = number.symbol.empty() && form.symbol != "%";  // 0.12 may be 12 %
  return (bare || number.symbol == form.symbol) && fit_of(number.body, form, value) != Fit::none;
}

std::optional<NumberForm> form_of(const std::vector<std::string>& texts, char decimal, bool asked) {
  const std::string symbol(undressed(texts.at(0)).symbol);
  const auto known = std::ranges::find(kSymbols, symbol) - std::begin(kSymbols);
  const NumberForm marked{symbol, ',', '.', {}};
  for (const NumberForm& form : forms_with(symbol)) {
    const bool same = form.thousands == 0 && symbol.empty();  // as what is read without a form
    if (asked ? form.decimal != decimal : same) continue;
    const Fit fit = fit_of(texts, form);
    if (fit == Fit::none || (fit == Fit::plain && form.thousands != 0)) continue;
    const bool one =
        form.thousands == 0
            ? form.decimal == ',' || known <= kPercent || fit_of(texts, marked) != Fit::either
            : fit == Fit::sure || (form.decimal == '.' && known < kPercent);
    if (asked || one) return form;
    return {};
  }
  return {};
}

std::string example_of(const NumberForm& form) {
  if (form.date == "ymd") return "2024-05-31";
  if (form.date == "dmy") return "31.05.2024";
  if (form.date == "mdy") return "5/31/2024";
  if (form.date == "time") return "hh:mm:ss";
  if (form.symbol == "%") return std::string("12") + form.decimal + "5%";
  const std::string thousand = form.thousands == 0 ? "1" : std::string("1") + form.thousands;
  return form.symbol + thousand + "234" + form.decimal + "5";
}

std::optional<std::pair<size_t, std::string>> odd_number(const std::vector<std::string>& texts) {
  std::optional<std::pair<size_t, std::string>> odd;
  int64_t most = std::ssize(texts) / 2;
  std::vector<std::string> symbols(std::begin(kSymbols), std::end(kSymbols));
  symbols.insert(symbols.begin(), "");
  for (const std::string& symbol : symbols)
    for (const NumberForm& form : forms_with(symbol)) {
      const auto odd_one = [&](const std::string& text) {
        return fit_of({text}, form) == Fit::none;
      };
      const int64_t count = std::ssize(texts) - std::ranges::count_if(texts, odd_one);
      if (count <= most || count == std::ssize(texts)) continue;
      most = count;
      odd = {std::ranges::find_if(texts, odd_one) - texts.begin(), example_of(form)};
    }
  return odd;
}

std::vector<std::string> date_orders(const std::vector<std::string>& texts) {
  std::vector<std::string> orders;
  double days;
  for (const char* order : {"ymd", "dmy", "mdy", "time"})
    if (std::ranges::all_of(texts, [&](const auto& text) { return read_date(text, order, &days); }))
      orders.emplace_back(order);
  return orders;
}

}  // namespace mercer::cli
