// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables to inputs and targets. Rows are compacted in place, so that the data is held once.
#include "columns.h"

#include <algorithm>
#include <utility>

#include "failure.h"

namespace mercer::cli {

namespace {

template <class T>
void compact(GrowingBuffer<T>* values, int64_t rows, int64_t columns,
             const std::vector<int64_t>& inputs, const std::vector<int64_t>& targets,
             GrowingBuffer<double>* Y) {
  std::vector<T> row(static_cast<size_t>(columns));
  T* out = values->data();
  double* y = Y->extend(static_cast<size_t>(rows) * targets.size());
  for (int64_t i = 0; i < rows; ++i) {
    // The row is copied first: its compacted place begins at or before itself and may overlap it.
    std::copy_n(values->data() + i * columns, columns, row.data());
    for (const int64_t j : inputs) *out++ = row[static_cast<size_t>(j)];
    for (const int64_t j : targets) *y++ = static_cast<double>(row[static_cast<size_t>(j)]);
  }
  values->truncate(static_cast<size_t>(rows) * inputs.size());
  values->trim();
}

bool is_ascending_prefix(const std::vector<int64_t>& inputs, int64_t columns) {
  return static_cast<int64_t>(inputs.size()) == columns &&
         std::is_sorted(inputs.begin(), inputs.end());
}

void take_names(const Table& table, const std::vector<int64_t>& columns,
                std::vector<std::string>* names) {
  if (table.names.empty()) return;
  for (const int64_t j : columns) names->push_back(table.names[static_cast<size_t>(j)]);
}

/// By the place of their column among the inputs.
std::vector<TextColumn> take_texts(std::vector<TextColumn>&& texts,
                                   const std::vector<int64_t>& inputs) {
  std::vector<TextColumn> taken;
  for (size_t j = 0; j < inputs.size(); ++j)
    for (TextColumn& text : texts)
      if (text.column == inputs[j])
        taken.push_back({static_cast<int64_t>(j), std::move(text.levels), std::move(text.words)});
  return taken;
}

/// The same of the forms of numbers, and of words among them.
template <class OfColumn>
std::vector<OfColumn> take_of(const std::vector<OfColumn>& all,
                              const std::vector<int64_t>& columns) {
  std::vector<OfColumn> taken;
  for (const OfColumn& one : all) {
    const auto place = std::ranges::find(columns, one.column);
    if (place == columns.end()) continue;
    taken.push_back(one);
    taken.back().column = place - columns.begin();
  }
  return taken;
}

}  // namespace

std::vector<int64_t> other_columns(int64_t columns, const std::vector<int64_t>& targets) {
  std::vector<bool> taken(static_cast<size_t>(columns));
  for (const int64_t j : targets) taken[static_cast<size_t>(j)] = true;
  std::vector<int64_t> others;
  for (int64_t j = 0; j < columns; ++j) {
    if (!taken[static_cast<size_t>(j)]) others.push_back(j);
  }
  return others;
}

std::vector<double> column_of(const Table& table, int64_t column) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < table.rows; ++i)
    numbers.push_back(table.values.at(i * table.columns + column));
  return numbers;
}

Dataset take_all(Table&& table) {
  Dataset data;
  data.name = table.name;
  data.format = table.format;
  data.n = table.rows;
  data.d = table.columns;
  data.bytes = table.bytes;
  data.words_first = table.words_first;
  data.numbers_first = table.numbers_first;
  data.comments = table.comments;
  data.input_names = std::move(table.names);
  data.text = !table.text_columns.empty();
  data.texts = std::move(table.texts);
  data.X = std::move(table.values);
  data.text_inputs = std::move(table.text_inputs);
  data.forms = std::move(table.forms);
  data.words = std::move(table.words);
  return data;
}

namespace {

/// The columns of X that are targets become Y, the others stay.
void split_numbers(int64_t columns, Dataset* data) {
  const std::vector<int64_t>& inputs = data->input_columns;
  const std::vector<int64_t>& targets = data->target_columns;
  if (targets.empty() && is_ascending_prefix(inputs, columns)) return;
  if (data->X.single) {
    compact(&data->X.f32, data->n, columns, inputs, targets, &data->Y);
  } else {
    compact(&data->X.f64, data->n, columns, inputs, targets, &data->Y);
  }
}

}  // namespace

Dataset take_columns(Table&& table, const std::vector<int64_t>& inputs,
                     const std::vector<int64_t>& targets) {
  std::vector<std::string> input_names;
  std::vector<std::string> target_names;
  take_names(table, inputs, &input_names);
  take_names(table, targets, &target_names);
  std::vector<TextColumn> texts = std::move(table.text_inputs);
  Dataset data = take_all(std::move(table));
  const int64_t columns = data.d;
  data.d = static_cast<int64_t>(inputs.size());
  data.m = static_cast<int64_t>(targets.size());
  data.target_columns = targets;
  data.input_columns = inputs;
  data.text_inputs = take_texts(std::move(texts), inputs);
  data.target_forms = take_of(data.forms, targets);
  data.forms = take_of(data.forms, inputs);
  data.words = take_of(data.words, inputs);
  data.input_names = std::move(input_names);
  data.target_names = std::move(target_names);
  if (data.text && targets.size() != 1) {
    fail_at(data.name, 0, 0,
            "text labels in one of several targets; a target of text must be the only one");
  }
  split_numbers(columns, &data);
  return data;
}

void attach_labels(Table&& labels, Dataset* data) {
  if (labels.rows != data->n) {
    fail_at(labels.name, 0, 0,
            std::to_string(labels.rows) + " labels for the " + std::to_string(data->n) +
                " rows of " + data->name);
  }
  data->m = 1;
  data->labels_name = labels.name;
  data->text = !labels.text_columns.empty();
  data->texts = std::move(labels.texts);
  data->target_names = std::move(labels.names);
  data->target_columns.clear();
  for (int64_t i = 0; i < labels.rows; ++i) data->Y.push_back(labels.values.at(i));
}

}  // namespace mercer::cli
