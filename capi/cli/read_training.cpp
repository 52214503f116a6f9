// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Training files to data sets.
#include <algorithm>
#include <cmath>
#include <utility>

#include "dataset.h"
#include "failure.h"
#include "read/csv.h"

namespace mercer::cli {

void require_targets(const Dataset& data) {
  for (size_t k = 0; k < data.Y.size(); ++k)
    if (std::isnan(data.Y[k]))
      fail_at(data.name, 0, 0,
              "row " + std::to_string(row_of(data, static_cast<int64_t>(k) / data.m)) +
                  " has no target; a fit needs one in every row (take out the rows without)");
}

namespace {

// Means, deviations and counts while a fit standardises; 2 numbers of them stay in the model.
constexpr double kBytesPerColumn = 7 * 8;

Layout choose_layout(const std::vector<std::string>& names, int64_t columns,
                     const TargetRequest& request, const ColumnRequest& wanted) {
  Layout layout = asked_columns(names, columns, wanted);
  if (request.labels.empty())
    layout.targets = choose_targets(names, columns, request.targets, layout.ignored, &layout.note);
  require_apart("--weights", {layout.weights}, layout.targets, " is a target");
  require_apart("--groups", {layout.groups}, layout.targets, " is a target");
  require_apart("--ignore", layout.ignored, layout.targets, " is a target");
  require_apart("--text", layout.text, layout.ignored, " is left out");
  require_apart("--dates", layout.dates, layout.ignored, " is left out");
  require_apart("--numbers", layout.numbers, layout.ignored, " is left out");
  require_apart("--text", layout.text, layout.targets,
                " is a target (--task classification reads labels as text)");
  std::vector<int64_t> taken = layout.ignored;
  taken.insert(taken.end(), layout.targets.begin(), layout.targets.end());
  layout.inputs = other_columns(columns, taken);
  return layout;
}

/// Where a training file may hold text.
TextPermission permission_of(const Layout& layout, const TargetRequest& request) {
  TextPermission permission{layout.targets, request.as_text, layout.inputs, layout.numbers,
                            layout.text,    layout.text,     layout.ignored};
  permission.dates = layout.dates;
  std::erase(permission.ignored, layout.weights);
  if (layout.groups >= 0) permission.kept = {layout.groups};
  if (request.gaps) permission.may_lack = layout.targets;
  return permission;
}

/// Does the first column count the rows from 0 or 1 without a name, as the index of a data frame?
bool begins_with_index(const Table& table, const Layout& layout) {
  if (table.names.empty() || table.names[0] != name_of_unnamed(0)) return false;
  const double first = table.numbers.at(0);
  bool counts = has(layout.inputs, 0) && (first == 0 || first == 1);
  for (const TextColumn& text : table.text_inputs) counts = counts && text.column != 0;
  for (int64_t i = 0; counts && i < table.rows; ++i)
    counts = table.numbers.at(i * table.columns) == first + static_cast<double>(i);
  return counts;
}

void require_weights(const Dataset& data) {
  bool any = data.weights.empty();
  for (size_t i = 0; i < data.weights.size(); ++i) {
    const double weight = data.weights[i];
    if (!(weight >= 0) || std::isinf(weight))
      fail_at(data.name, 0, 0,
              "row " + std::to_string(i + 1) + " has weight " + number_text(weight) +
                  " in column " + data.weights_name + ", expected a finite number >= 0");
    any = any || weight > 0;
  }
  if (!any)
    fail_at(data.name, 0, 0,
            "column " + data.weights_name + " holds the weights, which are 0 in every row");
}

void check_labels(const std::string& path, const TargetRequest& request) {
  if (!request.labels.empty() && !request.targets.empty())
    throw Failure("--labels and --target exclude each other: the labels file is the target");
  if (path == "-" && request.labels == "-")
    throw Failure("--labels -: standard input already holds the data");
}

Dataset listed_training(Table&& table, const TargetRequest& request) {
  // One index like 2000000000 asks for arrays of as many columns.
  require_memory(table.name + ": " + std::to_string(table.columns) +
                     " columns (the largest index): standardising them",
                 kBytesPerColumn * static_cast<double>(table.columns));
  densify_if_full(&table.numbers, table.rows, table.columns);
  return take_listed(std::move(table), !request.labels.empty());
}

/// Of a file of columns.
Dataset columns_training(Table&& table, Layout layout) {
  if (begins_with_index(table, layout)) {
    std::erase(layout.inputs, 0);
    layout.ignored.insert(layout.ignored.begin(), 0);
    layout.note = "the first column has no name and counts the rows: it is no input" +
                  (layout.note.empty() ? "" : "; " + layout.note);
  }
  if (layout.inputs.empty())
    fail_at(table.name, 0, 0,
            counted(table.columns, "column") + table.shape +
                ", expected at least one input beside the target" +
                (!layout.ignored.empty()       ? " and what --ignore names"
                 : table.format == Format::csv ? " (--delimiter says what separates fields)"
                                               : ""));
  std::string weights;
  if (layout.weights >= 0) weights = column_name(table, layout.weights);
  Dataset data = take_columns(std::move(table), layout);
  data.weights_name = std::move(weights);
  return data;
}

/// The inputs in the order of another file's, all of which they have to be.
std::vector<int64_t> columns_like(const Dataset& other, const std::vector<std::string>& written,
                                  const std::vector<int64_t>& inputs, const std::string& file) {
  const std::vector<std::string> names = column_names({written.begin(), written.end()}).names;
  std::vector<int64_t> order;
  std::vector<std::string> there, here;
  for (const std::string& name : other.input_names) {
    const int64_t j = std::ranges::find(names, name) - names.begin();
    has(inputs, j) ? order.push_back(j) : there.push_back(name);
  }
  for (const int64_t j : inputs)
    if (!has(order, j)) here.push_back(names[j]);
  const auto none_or = [](const auto& names) { return names.empty() ? "none" : listed(names); };
  if (!there.empty() || !here.empty())
    fail_at(file, 0, 0,
            "columns that only " + other.name + " has: " + none_or(there) + "; only " + file +
                ": " + none_or(here) + " (--ignore leaves columns of either out)");
  return order;
}

}  // namespace

Dataset read_rows(const std::string& path, ColumnRequest columns, std::vector<std::string>* absent,
                  const Dataset* other, bool alike) {
  Layout layout;
  const auto rule = [&](const std::vector<std::string>& names, int64_t count) {
    const std::string file = name_of_file(path);
    if (absent != nullptr)
      for (const std::string& name : std::exchange(*absent, take_absent(names, &columns.ignore)))
        if (std::ranges::find(*absent, name) != absent->end())
          throw Failure("--ignore " + shown(name) + ": no column of that name; " + file + " has " +
                        listed(names, 12) + ", " + other->name + " " +
                        listed(other->input_names, 12));
    layout = asked_columns(names, count, columns);
    layout.inputs = other_columns(count, layout.ignored);
    if (alike && !names.empty() && !other->input_names.empty())
      layout.inputs = columns_like(*other, names, layout.inputs, file);
    TextPermission permission;
    permission.inputs = layout.inputs;
    permission.number_inputs = layout.numbers;
    for (const int64_t j : alike && !names.empty() ? layout.inputs : std::vector<int64_t>())
      for (const TextColumn& text : other->text_inputs)
        if (input_name(*other, text.column) == names[j]) permission.text_inputs.push_back(j);
    permission.dates = layout.dates;
    permission.advice = other == nullptr || alike ? "" : "; labels: --labels";
    permission.ignored = layout.ignored;
    return permission;
  };
  Table table = read_table(path, rule, csv_options(columns));
  require_columns(table, columns);
  if (table.format == Format::libsvm) return take_listed(std::move(table), true);
  return take_columns(std::move(table), layout);
}

Dataset read_training(const std::string& path, const TargetRequest& request,
                      const ColumnRequest& columns) {
  check_labels(path, request);
  Layout layout;
  const auto rule = [&](const std::vector<std::string>& names, int64_t count) {
    layout = choose_layout(names, count, request, columns);
    return permission_of(layout, request);
  };
  Table table = read_table(path, rule, csv_options(columns));
  require_columns(table, columns, request.targets);
  Dataset data = table.format == Format::libsvm
                     ? listed_training(std::move(table), request)
                     : columns_training(std::move(table), std::move(layout));
  if (data.format == Format::npy && !request.gaps) require_targets(data);
  if (!request.labels.empty())
    attach_labels(read_column(request.labels, request.as_text, request.gaps), &data);
  require_weights(data);
  return data;
}

}  // namespace mercer::cli
