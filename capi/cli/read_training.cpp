// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Training files to data sets.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "dataset.h"
#include "failure.h"
#include "read/number.h"

namespace mercer::cli {

namespace {

// Means, deviations and counts while a fit standardises; 2 numbers of them stay in the model.
constexpr double kBytesPerColumn = 7 * 8;

// One index like 2000000000 asks for arrays of as many columns.
void settle_libsvm(Table* table) {
  require_memory(table->name + ": " + std::to_string(table->columns) +
                     " columns (the largest index): standardising them",
                 kBytesPerColumn * static_cast<double>(table->columns));
  densify_if_full(&table->numbers, table->rows, table->columns);
}

Dataset with_labels(Table&& table, const std::vector<int64_t>& ignored,
                    const TargetRequest& request) {
  const std::vector<int64_t> inputs = other_columns(table.columns, ignored);
  Dataset data =
      ignored.empty() ? take_all(std::move(table)) : take_columns(std::move(table), inputs, {});
  attach_labels(read_column(request.labels, request.as_text), &data);
  return data;
}

Dataset with_libsvm_labels(Table&& table) {
  std::vector<double> labels = std::move(table.labels);
  Dataset data = take_all(std::move(table));
  data.Y = std::move(labels);
  data.m = 1;
  return data;
}

}  // namespace

void require_targets(const Dataset& data) {
  for (size_t k = 0; k < data.Y.size(); ++k)
    if (std::isnan(data.Y[k]))
      fail_at(data.name, 0, 0,
              "row " + std::to_string(row_of(data, static_cast<int64_t>(k) / data.m)) +
                  " has no target; a fit needs one in every row (take out the rows without)");
}

namespace {

/// Which columns of a file are what.
struct Parts {
  std::vector<int64_t> inputs, targets, ignored;
  std::vector<int64_t> weights;  // one, or none
  std::vector<int64_t> groups;   // the same
  std::vector<int64_t> text;     // inputs that are read as text
  /// Of no part in predictions.
  std::vector<int64_t> left_out() const {
    std::vector<int64_t> all = ignored;
    all.insert(all.end(), weights.begin(), weights.end());
    all.insert(all.end(), groups.begin(), groups.end());
    std::ranges::sort(all);
    return all;
  }
};

void require_apart(const char* option, const std::vector<int64_t>& columns,
                   const std::vector<int64_t>& others, const char* what) {
  for (const int64_t column : columns)
    if (std::ranges::find(others, column) != others.end())
      throw Failure(std::string(option) + ": column " + std::to_string(column + 1) + what);
}

Parts choose_parts(const std::vector<std::string>& names, int64_t columns,
                   const TargetRequest& request, const ColumnRequest& wanted) {
  Parts parts;
  parts.ignored = find_columns("--ignore", names, columns, wanted.ignore);
  if (!wanted.weights.empty())
    parts.weights = find_columns("--weights", names, columns, {wanted.weights});
  if (!wanted.groups.empty())
    parts.groups = find_columns("--groups", names, columns, {wanted.groups});
  require_apart("--ignore", parts.ignored, parts.weights, " holds the weights");
  require_apart("--ignore", parts.ignored, parts.groups, " holds the groups, which are no input");
  require_apart("--weights", parts.weights, parts.groups, " holds the groups");
  if (request.labels.empty())
    parts.targets = choose_targets(names, columns, request.targets, parts.left_out());
  require_apart("--ignore", parts.ignored, parts.targets, " is a target");
  require_apart("--weights", parts.weights, parts.targets, " is a target");
  require_apart("--groups", parts.groups, parts.targets, " is a target");
  parts.text = find_columns("--text", names, columns, wanted.text);
  require_apart("--text", parts.text, parts.left_out(), " is left out");
  require_apart("--text", parts.text, parts.targets,
                " is a target (--task classification reads labels as text)");
  std::vector<int64_t> taken = parts.left_out();
  taken.insert(taken.end(), parts.targets.begin(), parts.targets.end());
  parts.inputs = other_columns(columns, taken);
  return parts;
}

/// Does the first column count the rows from 0 or 1 without a name, as the index of a data frame?
bool begins_with_index(const Table& table, const Parts& parts) {
  if (table.names.empty() || table.names[0] != name_of_unnamed(0)) return false;
  const bool input = std::ranges::find(parts.inputs, 0) != parts.inputs.end() &&
                     std::ranges::find(parts.text, 0) == parts.text.end();
  const double first = table.numbers.at(0);
  bool counts = input && (first == 0 || first == 1);
  for (const TextColumn& text : table.text_inputs) counts = counts && text.column != 0;
  for (int64_t i = 0; counts && i < table.rows; ++i)
    counts = table.numbers.at(i * table.columns) == first + static_cast<double>(i);
  return counts;
}

void keep_ignored(const Parts& parts, std::vector<std::string>&& names, Dataset* data) {
  data->ignored_columns = parts.left_out();
  for (const int64_t j : data->ignored_columns)
    if (!names.empty()) data->ignored_names.push_back(names[static_cast<size_t>(j)]);
}

Dataset with_targets(Table&& table, const Parts& parts) {
  if (parts.inputs.empty()) {
    fail_at(table.name, 0, 0,
            std::to_string(table.columns) + " column" + (table.columns == 1 ? "" : "s") +
                table.shape + ", expected at least one input beside the target" +
                (table.format == Format::csv ? " (--delimiter says what separates fields)" : ""));
  }
  return take_columns(std::move(table), parts.inputs, parts.targets);
}

struct RowWeights {
  std::vector<double> weights;
  std::string column;  // its name, of a file without names its number
};

RowWeights weights_of(const Table& table, const Parts& parts) {
  if (parts.weights.empty()) return {};
  const int64_t column = parts.weights[0];
  return {column_of(table, column), table.names.empty() ? std::to_string(column + 1)
                                                        : table.names[static_cast<size_t>(column)]};
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

/// Numbers of the column's distinct fields, which may be text.
std::vector<double> groups_of(const Table& table, const Parts& parts) {
  if (parts.groups.empty()) return {};
  if (table.kept.empty()) return column_of(table, parts.groups[0]);
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

void check_labels(const std::string& path, const TargetRequest& request) {
  if (!request.labels.empty() && !request.targets.empty()) {
    throw Failure("--labels and --target exclude each other: the labels file is the target");
  }
  if (path == "-" && request.labels == "-")
    throw Failure("--labels -: standard input already holds the data");
}

Dataset libsvm_training(Table&& table, const TargetRequest& request, const ColumnRequest& columns) {
  if (!columns.weights.empty()) throw Failure("--weights: a libsvm file has no column of weights");
  if (!columns.groups.empty()) throw Failure("--groups: a libsvm file has no column of groups");
  if (!columns.ignore.empty())
    throw Failure("--ignore: a libsvm file has no columns that could be left out");
  if (!request.targets.empty())
    throw Failure("--target: in a libsvm file the first field of a line is the target");
  settle_libsvm(&table);
  return request.labels.empty() ? with_libsvm_labels(std::move(table))
                                : with_labels(std::move(table), {}, request);
}

/// Of a file of columns.
Dataset columns_training(Table&& table, Parts parts, const TargetRequest& request) {
  std::vector<std::string> names = table.names;
  RowWeights weights = weights_of(table, parts);
  std::vector<double> groups = groups_of(table, parts);
  const bool index = begins_with_index(table, parts);
  if (index) {
    std::erase(parts.inputs, 0);
    parts.ignored.insert(parts.ignored.begin(), 0);
  }
  Dataset data = request.labels.empty() ? with_targets(std::move(table), parts)
                                        : with_labels(std::move(table), parts.left_out(), request);
  if (index) data.note = "the first column has no name and counts the rows: it is no input";
  data.groups = std::move(groups);
  data.weights = std::move(weights.weights);
  data.weights_name = std::move(weights.column);
  keep_ignored(parts, std::move(names), &data);
  if (data.format == Format::npy && !request.gaps) require_targets(data);
  require_weights(data);
  return data;
}

}  // namespace

Dataset read_training(const std::string& path, const TargetRequest& request,
                      const ColumnRequest& columns) {
  check_labels(path, request);
  Parts parts;
  const auto rule = [&](const std::vector<std::string>& names, int64_t count) {
    parts = choose_parts(names, count, request, columns);
    TextPermission permission{parts.targets, request.as_text, parts.inputs, {},
                              parts.text,    parts.ignored};
    permission.ignored.insert(permission.ignored.end(), parts.groups.begin(), parts.groups.end());
    permission.kept = parts.groups;
    if (request.gaps) permission.may_lack = parts.targets;
    return permission;
  };
  Table table = read_table(path, rule, csv_options(columns));
  require_csv(table, columns);
  if (table.format == Format::libsvm) return libsvm_training(std::move(table), request, columns);
  if (table.format != Format::csv) parts = choose_parts({}, table.columns, request, columns);
  return columns_training(std::move(table), std::move(parts), request);
}

}  // namespace mercer::cli
