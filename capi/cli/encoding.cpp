// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "encoding.h"

#include <algorithm>

#include "failure.h"
#include "memory.h"
#include "read/date_form.h"
#include "read/number.h"

namespace mercer::cli {

namespace {

constexpr size_t kMostLevels = 64;
constexpr int64_t kLeastRows = 5;
constexpr int64_t kLeastIds = 20;  // fewer levels are kept or pooled

std::string number_of(const Dataset& data, int64_t input) {
  const auto j = static_cast<size_t>(input);
  return std::to_string((j < data.input_columns.size() ? data.input_columns[j] : input) + 1);
}

std::string name_of(const Dataset& data, int64_t input) {
  const auto j = static_cast<size_t>(input);
  return "column " +
         (j < data.input_names.size() ? shown(data.input_names[j]) : number_of(data, input));
}

std::string option_for(const Dataset& data, int64_t input) {
  const auto j = static_cast<size_t>(input);
  return "--ignore " +
         (j < data.input_names.size() ? typed(data.input_names[j]) : number_of(data, input));
}

/// How many of the texts; and the first of them.
template <class Is>
int64_t count_of(const std::vector<std::string>& texts, Is is, std::string* first) {
  const auto found = std::ranges::find_if(texts, is);
  if (found != texts.end()) *first = *found;
  return std::ranges::count_if(texts, is);
}

/// 0.5 kg
bool has_unit(const std::string& text) {
  double value;
  const size_t letter = text.find_first_not_of("0123456789.,+-eE ");
  return letter != text.npos && letter > 0 &&
         text.find_first_of("0123456789", letter) == text.npos &&
         parse_number(std::string_view(text).substr(0, letter), &value) == NumberKind::finite;
}

/// What most of the texts are if they are no levels: "dates ('2024-05-31')", or "".
std::string no_levels(const std::vector<std::string>& texts, int64_t n) {
  const auto distinct = std::ssize(texts);
  std::string first;
  if (2 * count_of(texts, is_date, &first) > distinct)
    return "dates (" + shown(first) + "), which are no numbers";
  if (distinct >= kLeastIds && 2 * count_of(texts, is_clock, &first) > distinct)
    return "times (" + shown(first) + "), which are no numbers";
  if (distinct < kLeastIds || 10 * distinct <= 9 * n) return "";
  if (2 * count_of(texts, has_unit, &first) > distinct)
    return "numbers with text behind them (" + shown(first) + ")";
  return "text that is nearly all distinct (" + std::to_string(distinct) + " texts in " +
         std::to_string(n) + " rows), as names and ids are";
}

void refuse_dates_and_ids(const Dataset& data, const TextColumn& text) {
  const std::string what = no_levels(text.levels, data.n);
  if (what.empty()) return;
  fail_at(data.name, 0, 0,
          name_of(data, text.column) + " holds " + what +
              (what.starts_with("numbers") ? ": take the text out of the file, or " : ": ") +
              option_for(data, text.column) + " leaves it out");
}

std::vector<int64_t> rows_of_levels(const Dataset& data, const TextColumn& text) {
  std::vector<int64_t> rows(text.levels.size(), 0);
  for (int64_t i = 0; i < data.n; ++i)
    ++rows[static_cast<size_t>(data.X.at(i * data.d + text.column))];
  return rows;
}

Encoding choose_levels(const Dataset& data, const TextColumn& text) {
  const std::vector<int64_t> rows = rows_of_levels(data, text);
  std::vector<size_t> order(rows.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return rows[a] != rows[b] ? rows[a] > rows[b] : text.levels[a] < text.levels[b];
  });
  Encoding encoding;
  encoding.input = text.column;
  for (const size_t k : order)
    if (encoding.levels.size() < kMostLevels && rows[k] >= kLeastRows)
      encoding.levels.push_back(text.levels[k]);
  std::ranges::sort(encoding.levels);
  encoding.other = encoding.levels.size() < order.size();
  return encoding;
}

/// The column of each level of the data among those of the encoding; -1: none.
std::vector<int64_t> places_of(const Encoding& encoding, const std::vector<std::string>& levels,
                               std::vector<bool>* known) {
  std::vector<int64_t> places;
  for (const std::string& level : levels) {
    const auto found = std::ranges::lower_bound(encoding.levels, level);
    const bool own = found != encoding.levels.end() && *found == level;
    known->push_back(own || level.empty());  // what is missing is counted as that
    const auto last = static_cast<int64_t>(encoding.levels.size());
    places.push_back(own ? found - encoding.levels.begin() : encoding.other ? last : -1);
  }
  return places;
}

}  // namespace

void refuse_target_text(const Dataset& data) {
  const std::string what = data.text ? no_levels(data.texts, data.n) : "";
  if (what.empty()) return;
  const std::string name = !data.labels_name.empty() ? "of " + data.labels_name
                           : data.target_names.empty()
                               ? "column " + std::to_string(data.target_columns.at(0) + 1)
                               : shown(data.target_names[0]);
  fail_at(data.name, 0, 0,
          "the target, " + name + ", holds " + what + ": --target names another column");
}

std::string first_with_unit(const TextColumn& text) {
  std::string first;
  const bool most = 2 * count_of(text.levels, has_unit, &first) > std::ssize(text.levels);
  return most && std::ssize(text.levels) >= kLeastIds ? first : "";
}

std::vector<Encoding> choose_encodings(const Dataset& data) {
  std::vector<Encoding> encodings;
  for (const TextColumn& text : data.text_inputs) {
    refuse_dates_and_ids(data, text);
    encodings.push_back(choose_levels(data, text));
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

namespace {

/// Where levels of an input stand among its columns, -1: nowhere, and which of them are known.
struct LevelPlaces {
  std::vector<int64_t> places;
  std::vector<bool> known;
};

/// A row of numbers and levels as numbers alone, into zeros; unknown[e] counts levels of encoding e
/// that are not known.
void encode_row(const Numbers& X, int64_t first, int64_t d, const std::vector<Encoding>& encodings,
                const std::vector<LevelPlaces>& levels, double* row,
                std::vector<int64_t>* unknown) {
  size_t e = 0;
  for (int64_t j = 0; j < d; ++j) {
    const double x = X.at(first + j);
    if (e == encodings.size() || encodings[e].input != j) {
      *row++ = x;
      continue;
    }
    const auto level = static_cast<size_t>(x);
    if (levels[e].places[level] >= 0) row[levels[e].places[level]] = 1;
    (*unknown)[e] += levels[e].known[level] ? 0 : 1;
    row += encodings[e++].width();
  }
}

}  // namespace

std::vector<int64_t> encode(const std::vector<Encoding>& encodings, Dataset* data) {
  std::vector<int64_t> unknown(encodings.size(), 0);
  if (encodings.empty()) return unknown;
  const int64_t d = encoded_inputs(data->d, encodings);
  require_memory(data->name + ": text inputs as columns of 0 and 1",
                 8 * static_cast<double>(data->n) * static_cast<double>(d));
  std::vector<LevelPlaces> levels(encodings.size());
  for (size_t e = 0; e < encodings.size(); ++e)
    levels[e].places = places_of(encodings[e], data->text_inputs[e].levels, &levels[e].known);
  Numbers encoded;
  for (int64_t i = 0; i < data->n; ++i) {
    double* row = encoded.f64.extend(static_cast<size_t>(d));
    std::fill_n(row, d, 0.0);
    encode_row(data->X, i * data->d, data->d, encodings, levels, row, &unknown);
  }
  encoded.trim();
  data->X = std::move(encoded);
  data->d = d;
  return unknown;
}

}  // namespace mercer::cli
