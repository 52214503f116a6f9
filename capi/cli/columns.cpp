// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables to inputs and targets.
#include <algorithm>
#include <utility>

#include "dataset.h"
#include "failure.h"

namespace mercer::cli {

namespace {

std::vector<std::string> names_of(const Table& table, const std::vector<int64_t>& columns) {
  std::vector<std::string> names;
  for (const int64_t j : columns)
    if (!table.names.empty()) names.push_back(table.names[static_cast<size_t>(j)]);
  return names;
}

int64_t place_of(const std::vector<int64_t>& columns, int64_t column) {
  const auto place = std::ranges::find(columns, column);
  return place == columns.end() ? -1 : place - columns.begin();
}

/// What is known of columns, by the place of its column among these.
template <class OfColumn>
std::vector<OfColumn> take_of(std::vector<OfColumn>&& all, const std::vector<int64_t>& columns) {
  std::vector<OfColumn> taken;
  for (OfColumn& one : all) {
    one.column = place_of(columns, one.column);
    if (one.column >= 0) taken.push_back(std::move(one));
  }
  std::ranges::sort(taken, {}, &OfColumn::column);
  return taken;
}

std::vector<int64_t> places_of(const std::vector<int64_t>& all,
                               const std::vector<int64_t>& columns) {
  std::vector<int64_t> places;
  for (const int64_t one : all)
    if (place_of(columns, one) >= 0) places.push_back(place_of(columns, one));
  return places;
}

std::vector<double> taken(const Table& table, const std::vector<int64_t>& columns) {
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(table.rows) * columns.size());
  for (int64_t i = 0; i < table.rows; ++i)
    for (const int64_t j : columns) numbers.push_back(table.numbers.at(i * table.columns + j));
  return numbers;
}

}  // namespace

std::vector<int64_t> other_columns(int64_t columns, const std::vector<int64_t>& targets) {
  std::vector<bool> taken(static_cast<size_t>(columns));
  for (const int64_t j : targets) taken[static_cast<size_t>(j)] = true;
  std::vector<int64_t> others;
  for (int64_t j = 0; j < columns; ++j)
    if (!taken[static_cast<size_t>(j)]) others.push_back(j);
  return others;
}

std::vector<double> column_of(const Table& table, int64_t column) { return taken(table, {column}); }

Dataset take_all(Table&& table) {
  Dataset data;
  static_cast<FileFacts&>(data) = std::move(static_cast<FileFacts&>(table));
  data.n = table.rows;
  data.d = table.columns;
  data.input_names = std::move(table.names);
  data.X = std::move(table.numbers);
  return data;
}

Dataset take_columns(Table&& table, const std::vector<int64_t>& inputs,
                     const std::vector<int64_t>& targets) {
  if (table.text && targets.size() != 1)
    fail_at(table.name, 0, 0,
            "text labels in one of several targets; a target of text must be the only one");
  std::vector<std::string> input_names = names_of(table, inputs);
  std::vector<std::string> target_names = names_of(table, targets);
  std::vector<double> Y = taken(table, targets);
  const bool whole =
      targets.empty() && std::ssize(inputs) == table.columns && std::ranges::is_sorted(inputs);
  if (!whole) table.numbers.values = taken(table, inputs);
  Dataset data = take_all(std::move(table));
  data.d = std::ssize(inputs);
  data.m = std::ssize(targets);
  data.Y = std::move(Y);
  data.target_columns = targets;
  data.input_columns = inputs;
  data.text_inputs = take_of(std::move(data.text_inputs), inputs);
  data.words = take_of(std::move(data.words), inputs);
  data.target_commas = places_of(data.commas, targets);
  data.commas = places_of(data.commas, inputs);
  data.input_names = std::move(input_names);
  data.target_names = std::move(target_names);
  return data;
}

void attach_labels(Table&& labels, Dataset* data) {
  if (labels.rows != data->n)
    fail_at(labels.name, 0, 0,
            std::to_string(labels.rows) + " labels for the " + std::to_string(data->n) +
                " rows of " + data->name);
  data->m = 1;
  data->labels_name = labels.name;
  data->text = labels.text;
  data->texts = std::move(labels.texts);
  data->target_names = std::move(labels.names);
  data->target_columns.clear();
  data->Y = std::move(labels.numbers.values);
}

int64_t column_of(const Dataset& data, int64_t input) {
  const auto j = static_cast<size_t>(input);
  return (j < data.input_columns.size() ? data.input_columns[j] : input) + 1;
}

std::string input_name(const Dataset& data, int64_t input) {
  const auto j = static_cast<size_t>(input);
  return j < data.input_names.size() ? data.input_names[j] : std::to_string(column_of(data, input));
}

std::string target_name(const Dataset& data, int64_t target) {
  const auto k = static_cast<size_t>(target);
  if (k < data.target_names.size()) return data.target_names[k];
  return std::to_string(k < data.target_columns.size() ? data.target_columns[k] + 1 : target + 1);
}

}  // namespace mercer::cli
