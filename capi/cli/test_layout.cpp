// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "test_layout.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "columns.h"
#include "failure.h"
#include "nearest.h"

namespace mercer::cli {

namespace {

using Positions = std::unordered_map<std::string_view, int64_t>;

/// Of names that outlive it.
Positions positions_of(const std::vector<std::string>& names) {
  Positions positions;
  for (size_t j = 0; j < names.size(); ++j) positions.emplace(names[j], static_cast<int64_t>(j));
  return positions;
}

int64_t position(const Positions& positions, const std::string& name) {
  const auto found = positions.find(name);
  return found == positions.end() ? -1 : found->second;
}

}  // namespace

AskedColumns find_asked(const std::vector<std::string>& names, int64_t columns,
                        const ColumnRequest& wanted) {
  AskedColumns asked;
  asked.left_out = find_columns("--ignore", names, columns, wanted.ignore);
  asked.ids = find_columns("--id", names, columns, wanted.ids);
  if (wanted.weights.empty()) return asked;
  asked.weights = find_columns("--weights", names, columns, {wanted.weights})[0];
  if (std::ranges::find(asked.left_out, asked.weights) != asked.left_out.end())
    throw Failure("--ignore: column " + std::to_string(asked.weights + 1) + " holds the weights");
  asked.left_out.push_back(asked.weights);
  return asked;
}

namespace {

void find_inputs(const Positions& in_file, const std::vector<std::string>& names,
                 const Metadata& model, const std::string& file, Layout* layout) {
  for (const std::string& input : model.inputs) {
    layout->inputs.push_back(position(in_file, input));
    if (layout->inputs.back() < 0)
      fail_at(file, 1, 0,
              "no column " + shown(input) + ", which the model was fitted on" +
                  did_you_mean(input, names));
  }
}

void find_targets(const Positions& in_file, const Metadata& model, Layout* layout) {
  for (size_t k = 0; k < model.targets.size(); ++k) {
    const int64_t column = position(in_file, model.targets[k]);
    if (column < 0) continue;
    layout->targets.push_back(column);
    layout->known.push_back(k);
  }
}

/// Columns that are neither inputs nor targets are asked for, passed through or known, or refused.
void place_others(const std::vector<std::string>& names, const Metadata& model,
                  const AskedColumns& wanted, const std::string& file, Layout* layout) {
  const auto has = [](const std::vector<int64_t>& columns, int64_t column) {
    return std::ranges::find(columns, column) != columns.end();
  };
  const Positions inputs = positions_of(model.inputs), targets = positions_of(model.targets),
                  ignored = positions_of(model.ignored);
  for (size_t j = 0; j < names.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    const bool part = position(inputs, names[j]) >= 0 ||
                      (position(targets, names[j]) >= 0 && !layout->targets.empty());
    const bool asked = has(wanted.left_out, column);
    const bool known = (!part && has(wanted.ids, column)) || position(ignored, names[j]) >= 0;
    if (asked && part)
      throw Failure((column == wanted.weights ? "--weights: column " : "--ignore: column ") +
                    shown(names[j]) + " is one that the model was fitted on");
    if (asked || known) layout->ignored.push_back(column);
    if (!part && !known && !asked) {
      fail_at(file, 1, column + 1,
              "column " + shown(names[j]) +
                  " is neither an input nor the target of the model (--ignore " + typed(names[j]) +
                  " leaves it out)");
    }
  }
}

}  // namespace

Layout layout_by_name(const std::vector<std::string>& names, const Metadata& model,
                      const AskedColumns& wanted, const std::string& file) {
  Layout layout;
  const Positions in_file = positions_of(names);
  find_inputs(in_file, names, model, file, &layout);
  find_targets(in_file, model, &layout);
  place_others(names, model, wanted, file, &layout);
  layout.weights = !model.weights.empty() && position(in_file, model.weights) >= 0;
  return layout;
}

namespace {

/// The places of the training file that are targets or left out, ascending.
std::vector<int64_t> without(const std::vector<int64_t>& places,
                             const std::vector<int64_t>& removed) {
  std::vector<int64_t> moved;
  for (const int64_t place : places)
    moved.push_back(place - std::ranges::count_if(removed, [=](int64_t r) { return r < place; }));
  return moved;
}

int64_t targets_of(const Metadata& model) {
  return static_cast<int64_t>(std::max<size_t>(1, model.target_columns.size()));
}

/// As many columns as in training, with or without the targets.
bool is_whole(int64_t columns, const Metadata& model, int64_t inputs) {
  const int64_t whole = inputs + std::ssize(model.ignored_columns);
  return columns == whole || columns == whole + targets_of(model);
}

/// With target and columns left out as the training file, or without the one, or the inputs alone.
Layout whole_layout(int64_t columns, const Metadata& model, int64_t inputs, const std::string& file,
                    const std::string& shape) {
  Layout layout;
  const int64_t targets = targets_of(model);
  const auto ignored = std::ssize(model.ignored_columns);
  if (columns == inputs + targets + ignored) {
    layout.targets = model.target_columns;
    layout.ignored = model.ignored_columns;
    if (layout.targets.empty()) layout.targets.push_back(columns - 1);
  } else if (columns == inputs + ignored) {
    layout.ignored = without(model.ignored_columns, model.target_columns);
    if (targets == ignored)
      layout.note = file +
                    " names no columns: those that training left out are taken to be there, "
                    "and the target not";
  } else if (columns != inputs) {
    fail_at(file, 0, 0,
            std::to_string(columns) + " columns" + shape + ", expected the model's " +
                std::to_string(inputs) + " inputs, or " + std::to_string(inputs + targets) +
                " with the target" +
                (ignored > 0 ? ", and the " + std::to_string(ignored) + " left out" : ""));
  }
  layout.weights = !model.weights.empty() && !layout.ignored.empty();
  std::vector<int64_t> taken = layout.targets;
  taken.insert(taken.end(), layout.ignored.begin(), layout.ignored.end());
  if (!std::ranges::all_of(taken, [&](int64_t j) { return j >= 0 && j < columns; }))
    throw Failure("the model's metadata is damaged: target column out of range");
  layout.inputs = other_columns(columns, taken);
  if (static_cast<int64_t>(layout.inputs.size()) != inputs) {
    throw Failure("the model's metadata is damaged: a target column appears twice");
  }
  return layout;
}

}  // namespace

Layout layout_by_count(int64_t columns, const Metadata& model, int64_t inputs,
                       const std::vector<int64_t>& left_out, const std::string& file,
                       const std::string& shape) {
  if (left_out.empty()) return whole_layout(columns, model, inputs, file, shape);
  // Those that the model leaves out anyway may be asked for again.
  if (is_whole(columns, model, inputs)) {
    Layout whole = whole_layout(columns, model, inputs, file, shape);
    const auto known = [&](int64_t j) {
      return std::ranges::find(whole.ignored, j) != whole.ignored.end();
    };
    if (std::ranges::all_of(left_out, known)) return whole;
  }
  const std::vector<int64_t> left = other_columns(columns, left_out);
  Layout layout = whole_layout(std::ssize(left), model, inputs, file, shape);
  for (std::vector<int64_t>* part : {&layout.inputs, &layout.targets, &layout.ignored})
    for (int64_t& column : *part) column = left[static_cast<size_t>(column)];
  layout.ignored.insert(layout.ignored.end(), left_out.begin(), left_out.end());
  return layout;
}

}  // namespace mercer::cli
