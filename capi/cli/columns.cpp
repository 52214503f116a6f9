// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables to inputs and targets.
#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "dataset.h"
#include "failure.h"
#include "metadata.h"

namespace mercer::cli {
namespace {

std::vector<std::string> names_of(const Table& table, const std::vector<int64_t>& columns) {
  std::vector<std::string> names;
  for (const int64_t j : columns)
    if (!table.names.empty()) names.push_back(table.names[j]);
  return names;
}

std::vector<double> taken(const Table& table, const std::vector<int64_t>& columns) {
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(table.rows) * columns.size());
  for (int64_t i = 0; i < table.rows; ++i)
    for (const int64_t j : columns) numbers.push_back(table.numbers.at(i * table.columns + j));
  return numbers;
}

/// Every column is an input; none is named one by one, since libsvm indices may be in the millions.
Dataset take_all(Table&& table) {
  Dataset data;
  static_cast<FileFacts&>(data) = std::move(static_cast<FileFacts&>(table));
  data.n = table.rows;
  data.d = table.columns;
  data.X = std::move(table.numbers);
  return data;
}

/// The columns of inputs, by their place among these.
std::vector<TextColumn> text_of(std::vector<TextColumn>&& all, const std::vector<int64_t>& inputs) {
  std::vector<TextColumn> texts;
  for (TextColumn& one : all) {
    const auto place = std::ranges::find(inputs, one.column);
    if (place == inputs.end()) continue;
    one.column = place - inputs.begin();
    texts.push_back(std::move(one));
  }
  std::ranges::sort(texts, {}, &TextColumn::column);
  return texts;
}

/// Numbers of the column's distinct fields, which may be text.
std::vector<double> groups_of(const Table& table, int64_t column) {
  if (table.kept.empty()) return column_of(table, column);
  std::unordered_map<std::string_view, double> numbers;
  std::vector<double> groups;
  for (const std::string& field : table.kept[0]) {
    if (is_missing(field))
      fail_at(
          table.name, 0, 0,
          "row " + std::to_string(groups.size() + 1) + " has no group, expected one in every row");
    groups.push_back(numbers.try_emplace(field, static_cast<double>(numbers.size())).first->second);
  }
  return groups;
}

}  // namespace

std::vector<int64_t> other_columns(int64_t columns, const std::vector<int64_t>& targets) {
  std::vector<bool> taken(columns);
  for (const int64_t j : targets) taken[j] = true;
  std::vector<int64_t> others;
  for (int64_t j = 0; j < columns; ++j)
    if (!taken[j]) others.push_back(j);
  return others;
}

std::vector<double> column_of(const Table& table, int64_t column) { return taken(table, {column}); }

Dataset take_columns(Table&& table, const Layout& layout) {
  const std::vector<int64_t>&inputs = layout.inputs, &targets = layout.targets;
  if (table.text && targets.size() != 1)
    fail_at(table.name, 0, 0,
            "text labels in one of several targets; a target of text must be the only one");
  std::vector<double> Y = taken(table, targets), weights, groups;
  if (layout.weights >= 0) weights = column_of(table, layout.weights);
  if (layout.groups >= 0) groups = groups_of(table, layout.groups);
  const bool whole = std::ssize(inputs) == table.columns && std::ranges::is_sorted(inputs);
  if (!whole) table.numbers.values = taken(table, inputs);
  Dataset data = take_all(std::move(table));
  data.d = std::ssize(inputs);
  data.m = std::ssize(targets);
  data.Y = std::move(Y);
  data.weights = std::move(weights);
  data.groups = std::move(groups);
  data.target_columns = targets;
  data.input_columns = inputs;
  data.ignored_columns = layout.ignored;
  data.text_inputs = text_of(std::move(data.text_inputs), inputs);
  data.input_names = names_of(table, inputs);
  data.target_names = names_of(table, targets);
  data.ignored_names = names_of(table, layout.ignored);
  data.note = layout.note;
  return data;
}

Dataset take_listed(Table&& table, bool labels_elsewhere) {
  std::vector<double> labels = std::move(table.labels);
  std::vector<double> queries = std::move(table.queries);
  Dataset data = take_all(std::move(table));
  data.groups = std::move(queries);
  if (labels_elsewhere) return data;
  data.Y = std::move(labels);
  data.m = 1;
  return data;
}

void encode_text(Dataset* data) {
  // Nothing is learnt from a level, so that one of few rows costs nothing.
  const std::vector<Encoding> encodings = choose_encodings(*data, 1);
  encode(encodings, data);
  data->input_names = encoded_names(data->input_names, encodings);
  if (!encodings.empty()) data->input_columns.clear();
}

namespace {

/// Of two text columns one holds numbers alone and the other no text of it.
bool is_number_beside_text(const TextColumn& one, const TextColumn& other) {
  const auto number = [](const std::string& text) {
    double value;
    return parse_number(text, &value) != NumberKind::not_a_number;
  };
  const auto known = [&](const std::string& text) {
    return std::ranges::find(one.levels, text) != one.levels.end();
  };
  return std::ranges::all_of(one.levels, number) != std::ranges::all_of(other.levels, number) &&
         std::ranges::none_of(other.levels, known);
}

}  // namespace

void encode_text(Dataset* one, Dataset* other) {
  if (!std::ranges::equal(one->text_inputs, other->text_inputs, {}, &TextColumn::column,
                          &TextColumn::column) ||
      !std::ranges::equal(one->text_inputs, other->text_inputs, std::not_fn(is_number_beside_text)))
    fail_at(other->name, 0, 0, "columns of text and of numbers differ from those of " + one->name);
  if (one->text_inputs.empty()) return;
  Dataset both = *one;
  for (size_t k = 0; k < one->text_inputs.size(); ++k) {
    std::vector<double> places;
    TextColumn& all = both.text_inputs[k];
    for (size_t l = 0; l < other->text_inputs[k].levels.size(); ++l) {
      const std::string& level = other->text_inputs[k].levels[l];
      const auto place = std::ranges::find(all.levels, level) - all.levels.begin();
      places.push_back(static_cast<double>(place));
      if (place < std::ssize(all.levels)) continue;
      all.levels.push_back(level);
      all.lines.push_back(other->text_inputs[k].lines[l]);
    }
    for (int64_t i = 0; i < other->n; ++i) {
      double& x = other->X.values[i * other->d + all.column];
      x = places[x];
    }
  }
  both.n += other->n;
  both.X.values.insert(both.X.values.end(), other->X.values.begin(), other->X.values.end());
  encode_text(&both);
  const auto middle = both.X.values.begin() + one->n * both.d;
  one->X.values.assign(both.X.values.begin(), middle);
  other->X.values.assign(middle, both.X.values.end());
  for (Dataset* data : {one, other}) {
    data->d = both.d;
    data->input_names = both.input_names;
    data->input_columns.clear();
  }
}

std::vector<std::string> notes_of_lines(const Dataset& data) {
  std::vector<std::string> notes = data.notes;
  if (data.numbers_first)
    notes.emplace_back("the first line was taken as names: --header no takes it as a row");
  if (data.blank_lines > 0)
    notes.push_back(counted(data.blank_lines, "blank line") + " between rows passed by");
  if (data.format == Format::libsvm && data.first_index == 0)
    notes.emplace_back("indices start at 0: --index-base 1 takes them from 1");
  if (data.format == Format::libsvm && !data.groups.empty())
    notes.emplace_back("rows of one qid are a group, which stays together");
  return notes;
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
