// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>
#include <cctype>
#include <optional>

#include "failure.h"
#include "metadata.h"

namespace mercer::cli {
namespace {

constexpr size_t kMostLevels = 64;
constexpr int64_t kLeastIds = 20;  // fewer levels are kept or pooled

/// 12%, $5, 1,234, 31.5.2024, 8 050: digits and what is around them, no number nor range (10-19).
bool is_dressed_number(const std::string& text) {
  constexpr std::string_view kSigns = "0123456789.,'%$:/+- ";
  double value;
  const auto is_other = [&](char c) {
    return static_cast<unsigned char>(c) < 0x80 && kSigns.find(c) == kSigns.npos;
  };
  const std::string body = text.substr(text.find_first_not_of("+-") == 1 ? 1 : 0);
  return body.find_first_of("0123456789") != body.npos && std::ranges::none_of(body, is_other) &&
         std::ranges::count(body, '-') != 1 &&
         parse_number(text, &value) == NumberKind::not_a_number;
}

/// 2024-05-31, 31 May 2024, 0.5 kg, $21.7k: behind signs and symbols of currencies a digit.
bool begins_like_number(const std::string& text) {
  double value;
  const auto begin = std::ranges::find_if(text, [](unsigned char c) {
    return c < 0x80 &&
           std::string_view("+-$ ").find(static_cast<char>(c)) == std::string_view::npos;
  });
  return begin != text.end() && std::isdigit(static_cast<unsigned char>(*begin)) != 0 &&
         parse_number(text, &value) == NumberKind::not_a_number;
}

/// A text that is no level, as most of a column's are, and why.
struct NoLevel {
  size_t place;
  std::string why;
};

template <class Is>
std::optional<NoLevel> most(const std::vector<std::string>& texts, Is is) {
  const auto first = std::ranges::find_if(texts, is);
  if (2 * std::ranges::count_if(texts, is) <= std::ssize(texts)) return {};
  if (const auto odd = odd_number(texts))
    return NoLevel{odd->first, "is not of the form of most of the column's numbers, " +
                                   odd->second + " say: a column is read in one form"};
  return NoLevel{static_cast<size_t>(first - texts.begin()),
                 "is a number, a date or a time in a form that is not read (numbers are: digits "
                 "and one decimal mark, or all of a column in one form)"};
}

std::optional<NoLevel> find_no_level(const std::vector<std::string>& texts, int64_t n) {
  const auto distinct = std::ssize(texts);
  if (auto found = most(texts, is_dressed_number)) return found;
  if (distinct < kLeastIds) return {};
  if (auto found = most(texts, begins_like_number)) return found;
  if (10 * distinct <= 9 * n) return {};
  return NoLevel{0, "is one of " + std::to_string(distinct) + " texts in " + std::to_string(n) +
                        " rows, nearly all distinct, as names and ids are"};
}

void refuse_no_levels(const Dataset& data, const TextColumn& text) {
  const std::optional<NoLevel> found = find_no_level(text.levels, data.n);
  if (text.asked || !found) return;
  const std::string name = typed(input_name(data, text.column));
  fail_at(data.name, text.lines[found->place], column_of(data, text.column),
          shown(text.levels[found->place]) + " in column " + shown(input_name(data, text.column)) +
              " " + found->why + ": --ignore " + name + " leaves the column out, --text " + name +
              " takes it as text, --dates " + name + " reads dates and times");
}

std::vector<int64_t> rows_of_levels(const Dataset& data, const TextColumn& text) {
  std::vector<int64_t> rows(text.levels.size(), 0);
  for (int64_t i = 0; i < data.n; ++i) ++rows[data.X.at(i * data.d + text.column)];
  return rows;
}

Encoding choose_levels(const Dataset& data, const TextColumn& text, int64_t least) {
  const std::vector<int64_t> rows = rows_of_levels(data, text);
  std::vector<size_t> order;
  for (size_t k = 0; k < rows.size(); ++k)
    if (rows[k] > 0) order.push_back(k);  // rows of weight 0 hold the others
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return rows[a] != rows[b] ? rows[a] > rows[b] : text.levels[a] < text.levels[b];
  });
  Encoding encoding;
  encoding.input = text.column;
  encoding.asked = text.asked;
  for (const size_t k : order)
    if (encoding.levels.size() < kMostLevels && rows[k] >= least)
      encoding.levels.push_back(text.levels[k]);
  std::ranges::sort(encoding.levels);
  encoding.other = encoding.levels.size() < order.size();
  return encoding;
}

/// The column of a level among those of its encoding; -1: none.
int64_t place_of(const Encoding& encoding, const std::string& level) {
  const auto found = std::ranges::lower_bound(encoding.levels, level);
  if (found != encoding.levels.end() && *found == level) return found - encoding.levels.begin();
  return encoding.other ? std::ssize(encoding.levels) : -1;
}

}  // namespace

void refuse_target_text(const Dataset& data) {
  if (!data.text) return;
  const std::optional<NoLevel> found = find_no_level(data.texts, data.n);
  if (!found) return;
  const std::string name =
      !data.labels_name.empty() ? "of " + data.labels_name : shown(target_name(data, 0));
  fail_at(data.name, 0, 0,
          shown(data.texts[found->place]) + " in the target, " + name + ", " + found->why +
              ": --target names another column");
}

std::vector<Encoding> choose_encodings(const Dataset& data, int64_t least) {
  std::vector<Encoding> encodings;
  for (const TextColumn& text : data.text_inputs) {
    refuse_no_levels(data, text);
    encodings.push_back(choose_levels(data, text, least));
  }
  return encodings;
}

int64_t encoded_inputs(int64_t inputs, const std::vector<Encoding>& encodings) {
  for (const Encoding& encoding : encodings) inputs += encoding.width() - 1;
  return inputs;
}

std::vector<std::string> encoded_names(const std::vector<std::string>& names,
                                       const std::vector<Encoding>& encodings) {
  std::vector<std::string> encoded;
  auto next = encodings.begin();
  for (size_t j = 0; j < names.size(); ++j) {
    if (next == encodings.end() || next->input != static_cast<int64_t>(j)) {
      encoded.push_back(names[j]);
      continue;
    }
    for (const std::string& level : next->levels)
      encoded.push_back(names[j] + "=" + (level.empty() ? "(missing)" : level));
    if (next->other) encoded.push_back(names[j] + "=(other)");
    ++next;
  }
  return encoded;
}

std::vector<int64_t> encode(const std::vector<Encoding>& encodings, Dataset* data) {
  std::vector<int64_t> unknown(encodings.size(), 0);
  if (encodings.empty()) return unknown;
  const int64_t d = encoded_inputs(data->d, encodings);
  require_memory(data->name + ": text inputs as columns of 0 and 1",
                 8 * static_cast<double>(data->n) * static_cast<double>(d));
  std::vector<double> encoded(data->n * d);
  size_t e = 0;
  for (int64_t j = 0, to = 0; j < data->d; ++j) {
    const bool text = e < encodings.size() && encodings[e].input == j;
    for (int64_t i = 0; i < data->n; ++i) {
      const double x = data->X.at(i * data->d + j);
      double* const row = encoded.data() + i * d + to;
      if (!text) *row = x;
      if (!text) continue;
      const std::string& level = data->text_inputs[e].levels[x];
      const int64_t place = place_of(encodings[e], level);
      if (place >= 0) row[place] = 1;
      // What is missing is counted as that.
      const bool own = place >= 0 && place < std::ssize(encodings[e].levels);
      unknown[e] += own || level.empty() ? 0 : 1;
    }
    to += text ? encodings[e++].width() : 1;
  }
  data->X.values = std::move(encoded);
  data->d = d;
  return unknown;
}

}  // namespace mercer::cli
