// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Training files to data sets.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "columns.h"
#include "dataset.h"
#include "failure.h"
#include "memory.h"
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
  densify_if_full(&table->values, table->rows, table->columns);
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
  GrowingBuffer<double> labels = std::move(table.labels);
  Dataset data = take_all(std::move(table));
  data.Y = std::move(labels);
  data.m = 1;
  return data;
}

}  // namespace

void scale_bytes(Dataset* data) {
  float* x = data->X.f32.data();
  for (size_t i = 0; i < data->X.f32.size(); ++i) x[i] /= 255.0F;
}

namespace {

/// Which columns of a file are what.
struct Parts {
  std::vector<int64_t> inputs, targets, ignored;
  std::vector<int64_t> weights;  // one, or none
  std::vector<int64_t> text;     // inputs that are read as text
  /// Of no part in predictions.
  std::vector<int64_t> left_out() const {
    std::vector<int64_t> all = ignored;
    all.insert(all.end(), weights.begin(), weights.end());
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
  require_apart("--ignore", parts.ignored, parts.weights, " holds the weights");
  if (request.labels.empty())
    parts.targets = choose_targets(names, columns, request.targets, parts.left_out());
  require_apart("--ignore", parts.ignored, parts.targets, " is a target");
  require_apart("--weights", parts.weights, parts.targets, " is a target");
  parts.text = find_columns("--text", names, columns, wanted.text);
  require_apart("--text", parts.text, parts.left_out(), " is left out");
  require_apart("--text", parts.text, parts.targets,
                " is a target (--task classification reads labels as text)");
  std::vector<int64_t> taken = parts.left_out();
  taken.insert(taken.end(), parts.targets.begin(), parts.targets.end());
  parts.inputs = other_columns(columns, taken);
  return parts;
}

/// The distinct texts of the first column, or -1 where it holds numbers.
int64_t texts_of_first(const Table& table) {
  for (const TextColumn& text : table.text_inputs)
    if (text.column == 0) return std::ssize(text.levels);
  return -1;
}

bool counts_from(const Table& table, double first) {
  for (int64_t i = 0; i < table.rows; ++i)
    if (table.values.at(i * table.columns) != first + static_cast<double>(i)) return false;
  return true;
}

/// Is the first column another text, or another whole number, in every row?
bool is_distinct(const Table& table) {
  const int64_t texts = texts_of_first(table);
  if (texts >= 0) return texts == table.rows;
  std::unordered_set<double> seen;
  for (int64_t i = 0; i < table.rows; ++i) {
    const double x = table.values.at(i * table.columns);
    if (x != std::floor(x) || !seen.insert(x).second) return false;
  }
  return true;
}

/// A first column without a name that counts the rows from 0 or 1, as the index of a data frame
/// does, and names of rows, for which R writes no word into the header, are no inputs. What it is
/// is returned, or nothing.
std::string take_out_index(const Table& table, Parts* parts) {
  const bool asked = std::ranges::find(parts->text, 0) != parts->text.end();
  const auto place = std::ranges::find(parts->inputs, 0);
  if (asked || place == parts->inputs.end() || table.names.empty() ||
      table.names[0] != name_of_unnamed(0))
    return "";
  const bool index = texts_of_first(table) < 0 && (counts_from(table, 0) || counts_from(table, 1));
  if (!index && !table.row_names) return "";
  if (table.row_names && !is_distinct(table))
    fail_at(table.name, 0, 0,
            "rows have " + std::to_string(table.columns) + " fields, the header " +
                std::to_string(table.columns - 1) +
                " names; the first column would be the names of rows that R writes, but is not "
                "another whole number or text in every row: name every column, and quote fields "
                "that hold the separator");
  parts->inputs.erase(place);
  parts->ignored.insert(parts->ignored.begin(), 0);
  return table.row_names ? "the header has no name for the first column, taken as names of rows"
                         : "the first column has no name and counts the rows";
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

// Of arrays whose inputs may be missing.
void require_targets(const Dataset& data) {
  for (size_t k = 0; k < data.Y.size(); ++k)
    if (std::isnan(data.Y[k]))
      fail_at(data.name, 0, 0,
              "row " + std::to_string(static_cast<int64_t>(k) / data.m + 1) +
                  " has no target; a fit needs one in every row (take out the rows without)");
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

}  // namespace

Dataset read_training(const std::string& path, const TargetRequest& request,
                      const ColumnRequest& columns) {
  if (!request.labels.empty() && !request.targets.empty()) {
    throw Failure("--labels and --target exclude each other: the labels file is the target");
  }
  if (path == "-" && request.labels == "-")
    throw Failure("--labels -: standard input already holds the data");
  Parts parts;
  const auto rule = [&](const std::vector<std::string>& names, int64_t count) {
    parts = choose_parts(names, count, request, columns);
    TextPermission permission{parts.targets, request.as_text, parts.inputs, {},
                              parts.text,    parts.ignored};
    if (request.gaps) permission.may_lack = parts.targets;
    return permission;
  };
  Table table = read_table(path, rule, csv_options(columns));
  require_csv(table, columns);
  if (table.format == Format::libsvm) {
    if (!columns.weights.empty())
      throw Failure("--weights: a libsvm file has no column of weights");
    if (!columns.ignore.empty())
      throw Failure("--ignore: a libsvm file has no columns that could be left out");
    if (!request.targets.empty())
      throw Failure("--target: in a libsvm file the first field of a line is the target");
    settle_libsvm(&table);
    return request.labels.empty() ? with_libsvm_labels(std::move(table))
                                  : with_labels(std::move(table), {}, request);
  }
  TargetRequest own = request;
  if (table.format == Format::idx && own.labels.empty()) {
    own.labels = labels_name_of(path);
    if (own.labels.empty())
      throw Failure("--labels: needed for IDX files whose name does not hold 'images-idx3'");
  }
  if (table.format != Format::csv) parts = choose_parts({}, table.columns, own, columns);
  std::vector<std::string> names = table.names;
  std::vector<double> weights;
  std::string weights_name;
  if (!parts.weights.empty()) {
    weights = column_of(table, parts.weights[0]);
    weights_name = names.empty() ? std::to_string(parts.weights[0] + 1)
                                 : names[static_cast<size_t>(parts.weights[0])];
  }
  std::string index = take_out_index(table, &parts);
  Dataset data = own.labels.empty() ? with_targets(std::move(table), parts)
                                    : with_labels(std::move(table), parts.left_out(), own);
  data.index = std::move(index);
  data.weights = std::move(weights);
  data.weights_name = std::move(weights_name);
  keep_ignored(parts, std::move(names), &data);
  if (data.format == Format::npy && !request.gaps) require_targets(data);
  require_weights(data);
  return data;
}

}  // namespace mercer::cli
