// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dates by their shape: two or three words of digits or a month's name, of sizes that can be.
#include "read/date_form.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "read/number.h"

namespace mercer::cli {

namespace {

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// "jan", "January" and what lies between them.
template <size_t N>
bool is_name(std::string_view word, const std::string_view (&names)[N]) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word.size() >= 3 &&
         std::ranges::any_of(names, [&](std::string_view name) { return name.starts_with(lower); });
}

bool is_month(std::string_view word) {
  static constexpr std::string_view kMonths[] = {"january",   "february", "march",    "april",
                                                 "may",       "june",     "july",     "august",
                                                 "september", "october",  "november", "december"};
  return is_name(word, kMonths);
}

bool is_weekday(std::string_view word) {
  static constexpr std::string_view kDays[] = {"monday", "tuesday",  "wednesday", "thursday",
                                               "friday", "saturday", "sunday"};
  return is_name(word, kDays);
}

/// Words of digits or letters, and what stands between them.
struct Parts {
  std::vector<std::string_view> words;
  std::vector<std::string_view> between;
};

bool split(std::string_view text, Parts* parts) {
  constexpr std::string_view kBetween = "-/., ";
  while (!text.empty() && parts->words.size() <= 3) {
    size_t length = 0;
    const auto same = digit(text[0]) ? digit : letter;
    while (length < text.size() && same(text[length])) ++length;
    if (length == 0) return false;
    parts->words.push_back(text.substr(0, length));
    text.remove_prefix(length);
    const size_t next = std::min(text.find_first_not_of(kBetween), text.size());
    if (next == 0 && !text.empty()) return false;
    parts->between.push_back(text.substr(0, next));
    text.remove_prefix(next);
  }
  return text.empty();
}

bool is_number(std::string_view word, int least, int most) {
  if (word.empty() || word.size() > 2 || !digit(word[0])) return false;
  int value = 0;
  for (const char c : word) value = 10 * value + (c - '0');
  return value >= least && value <= most;
}

bool is_year(std::string_view word) {
  return digit(word[0]) &&
         (word.size() == 2 || (word.size() == 4 && (word[0] == '1' || word[0] == '2')));
}

bool is_day_and_month(std::string_view a, std::string_view b) {
  return (is_number(a, 1, 31) && is_number(b, 1, 12)) ||
         (is_number(a, 1, 12) && is_number(b, 1, 31));
}

bool is_day_of(const Parts& parts) {
  const auto& [w, between] = parts;
  if (w.size() == 2) {
    const bool numbers = between[0] == "-" || between[0] == "/";
    return (is_month(w[0]) && is_year(w[1])) ||
           (numbers && w[0].size() == 4 && is_year(w[0]) && is_number(w[1], 1, 12)) ||
           (numbers && w[1].size() == 4 && is_year(w[1]) && is_number(w[0], 1, 12));
  }
  if (w.size() != 3) return false;
  if (is_month(w[0])) return is_number(w[1], 1, 31) && is_year(w[2]);
  if (is_month(w[1]))
    return (is_number(w[0], 1, 31) && is_year(w[2])) || (is_year(w[0]) && is_number(w[2], 1, 31));
  if (between[0] != between[1] || between[0].size() != 1) return false;
  return (w[0].size() == 4 && is_year(w[0]) && is_number(w[1], 1, 12) && is_number(w[2], 1, 31)) ||
         (is_year(w[2]) && is_day_and_month(w[0], w[1]));
}

bool take_digits(std::string_view* text, size_t least, size_t most) {
  size_t length = 0;
  while (length < text->size() && digit((*text)[length])) ++length;
  if (length < least || length > most) return false;
  text->remove_prefix(length);
  return true;
}

bool take(std::string_view* text, std::string_view what) {
  if (text->size() < what.size()) return false;
  for (size_t k = 0; k < what.size(); ++k)
    if (std::tolower(static_cast<unsigned char>((*text)[k])) != what[k]) return false;
  text->remove_prefix(what.size());
  return true;
}

bool is_zone(std::string_view text) {
  text = without_blanks(text);
  if (text.empty() || take(&text, "z") || take(&text, "utc") || take(&text, "gmt"))
    return text.empty();
  if (!take(&text, "+") && !take(&text, "-")) return false;
  if (!take_digits(&text, 2, 4)) return false;
  return text.empty() || (take(&text, ":") && take_digits(&text, 2, 2) && text.empty());
}

}  // namespace

bool is_clock(std::string_view text) {
  text = without_blanks(text);
  if (!take_digits(&text, 1, 2) || !take(&text, ":") || !take_digits(&text, 2, 2)) return false;
  if (take(&text, ":")) {
    if (!take_digits(&text, 2, 2)) return false;
    if ((take(&text, ".") || take(&text, ",")) && !take_digits(&text, 1, 9)) return false;
  }
  text = without_blanks(text);
  if (!take(&text, "am")) take(&text, "pm");
  return is_zone(text);
}

bool is_date(std::string_view text) {
  text = without_blanks(text);
  const size_t word = std::find_if_not(text.begin(), text.end(), letter) - text.begin();
  if (is_weekday(text.substr(0, word)))
    text.remove_prefix(std::min(text.find_first_not_of(", ", word), text.size()));
  if (text.size() < 5 || text.size() > 48) return false;
  // A time begins one or two digits before the first colon.
  const size_t colon = text.find(':');
  if (colon != text.npos) {
    size_t begin = colon;
    while (begin > 0 && colon - begin < 2 && digit(text[begin - 1])) --begin;
    if (begin == 0 || !is_clock(text.substr(begin))) return false;
    const char before = text[begin - 1];
    if (before != ' ' && before != 'T' && before != 't') return false;
    text = without_blanks(text.substr(0, begin - 1));
    while (!text.empty() && text.back() == ',') text.remove_suffix(1);
  }
  Parts parts;
  return split(text, &parts) && is_day_of(parts);
}

}  // namespace mercer::cli
