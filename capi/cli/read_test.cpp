// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Test files to data sets that fit a model; the target is optional.
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "columns.h"
#include "dataset.h"
#include "failure.h"
#include "metadata.h"
#include "read/csv_header.h"
#include "test_layout.h"

namespace mercer::cli {

namespace {

/// How the inputs' numbers are written, where the model knows: plain ones stand without a sign.
std::vector<ColumnForm> forms_of(const Layout& layout, const Metadata& model) {
  std::vector<ColumnForm> forms;
  for (const int64_t column : layout.inputs) forms.push_back({column, "", 0, "", 0});
  for (const ColumnForm& form : model.forms) {
    if (form.column < 0 || form.column >= std::ssize(forms)) continue;
    ColumnForm& own = forms[static_cast<size_t>(form.column)];
    own.affix = form.affix;
    own.decimal = form.decimal;
  }
  return forms;
}

/// Where a test file may hold text: as the training file did.
TextPermission permission_of(const Layout& layout, const Metadata& model, int64_t weights) {
  TextPermission permission;
  if (model.text_labels) permission = {layout.targets, true};
  permission.number_inputs = layout.inputs;
  for (const Encoding& encoding : model.encodings)
    permission.text_inputs.push_back(layout.inputs[static_cast<size_t>(encoding.input)]);
  permission.ignored = layout.ignored;
  std::erase(permission.ignored, weights);
  permission.may_lack = layout.targets;
  permission.forms = forms_of(layout, model);
  for (ColumnWords words : model.words) {
    if (words.column < 0 || words.column >= std::ssize(layout.inputs)) continue;
    words.column = layout.inputs[static_cast<size_t>(words.column)];
    permission.words.push_back(std::move(words));
  }
  return permission;
}

Dataset libsvm_test(Table&& table, int64_t inputs, bool labels_elsewhere,
                    const ColumnRequest& wanted) {
  if (!wanted.ignore.empty() || !wanted.weights.empty())
    throw Failure(std::string(wanted.ignore.empty() ? "--weights: " : "--ignore: ") + table.name +
                  " is a libsvm file; its columns are those of the model");
  if (table.columns > inputs) {
    fail_at(table.name, 0, 0,
            "largest index " + std::to_string(table.columns) + ", but the model has " +
                std::to_string(inputs) + " inputs");
  }
  table.columns = inputs;  // what rows do not list is zero
  densify_if_full(&table.values, table.rows, inputs);
  GrowingBuffer<double> labels = std::move(table.labels);
  Dataset data = take_all(std::move(table));
  if (labels_elsewhere) return data;
  data.Y = std::move(labels);
  data.m = 1;
  return data;
}

/// Targets that the file has not are missing in every row.
void add_absent_targets(const std::vector<size_t>& known, const Metadata& model, Dataset* data) {
  const size_t from = known.size(), to = model.targets.size();
  if (from == 0 || from == to) return;
  GrowingBuffer<double> all;
  for (size_t i = 0; i < static_cast<size_t>(data->n); ++i) {
    std::vector<double> row(to, std::nan(""));
    for (size_t k = 0; k < from; ++k) row[known[k]] = data->Y[i * from + k];
    for (const double y : row) all.push_back(y);
  }
  data->Y = std::move(all);
  data->m = static_cast<int64_t>(to);
  data->target_names = model.targets;
}

Dataset take_parts(Table&& table, const Layout& layout, int64_t weights) {
  std::vector<double> numbers;
  if (weights >= 0) numbers = column_of(table, weights);
  Dataset data = take_columns(std::move(table), layout.inputs, layout.targets);
  data.weights = std::move(numbers);
  data.weights_unused = layout.weights && weights < 0;
  data.note = layout.note;
  return data;
}

void refuse_two_targets(const Layout& layout, const std::string& file, const std::string& labels) {
  if (!labels.empty() && !layout.targets.empty())
    throw Failure("--labels: " + file + " already holds a target column");
}

/// The file of an array's labels: the one given, of an IDX file without targets the one whose name
/// follows from its own, if there is one.
std::string labels_of(const Dataset& data, const std::string& path, const std::string& given) {
  if (!given.empty() || data.format != Format::idx || data.m > 0) return given;
  const std::string own = labels_name_of(path);
  return !own.empty() && ::access(own.c_str(), F_OK) == 0 ? own : "";
}

Dataset array_test(Table&& table, const std::string& path, const std::string& labels,
                   const Metadata& model, int64_t inputs, const ColumnRequest& wanted) {
  const AskedColumns asked = find_asked({}, table.columns, wanted);
  const Layout layout =
      layout_by_count(table.columns, model, inputs, asked.left_out, table.name, table.shape);
  refuse_two_targets(layout, table.name, labels);
  Dataset data = take_parts(std::move(table), layout, asked.weights);
  const std::string own = labels_of(data, path, labels);
  if (!own.empty()) attach_labels(read_column(own, model.text_labels), &data);
  return data;
}

std::vector<std::string> names_of(const Table& table, const std::vector<int64_t>& columns) {
  std::vector<std::string> names;
  for (const int64_t column : columns)
    names.push_back(table.names.empty() ? std::to_string(column + 1)
                                        : table.names[static_cast<size_t>(column)]);
  return names;
}

/// Of a file without names ids are columns more than the model's.
std::vector<int64_t> extra_columns(const AskedColumns& asked) {
  std::vector<int64_t> extra = asked.left_out;
  for (const int64_t column : asked.ids)
    if (std::ranges::find(extra, column) == extra.end()) extra.push_back(column);
  return extra;
}

/// What the request leaves open as the training file was read.
ColumnRequest as_fitted(ColumnRequest wanted, const Metadata& model) {
  if (wanted.header == "auto") wanted.header = model.header;
  wanted.missing = model.missing;
  wanted.missing_words.insert(wanted.missing_words.end(), model.missing_words.begin(),
                              model.missing_words.end());
  return wanted;
}

}  // namespace

Dataset read_test(const std::string& path, const std::string& labels, const Metadata& model,
                  int64_t inputs, const ColumnRequest& wanted) {
  const std::string file = path == "-" ? "standard input" : path;
  Layout layout;
  AskedColumns asked;
  const auto rule = [&](const std::vector<std::string>& names, int64_t columns) {
    const bool by_name = !names.empty() && !model.inputs.empty();
    asked = find_asked(names, columns, wanted);
    layout = by_name ? layout_by_name(column_names(names).names, model, asked, file)
                     : layout_by_count(columns, model, inputs, extra_columns(asked), file);
    TextPermission permission = permission_of(layout, model, asked.weights);
    permission.kept = asked.ids;
    return permission;
  };
  Table table = read_table(path, rule, csv_options(as_fitted(wanted, model)));
  require_csv(table, wanted);
  if (table.format == Format::libsvm)
    return libsvm_test(std::move(table), inputs, !labels.empty(), wanted);
  if (table.format != Format::csv)
    return array_test(std::move(table), path, labels, model, inputs, wanted);
  refuse_two_targets(layout, file, labels);
  std::vector<std::string> id_names = names_of(table, asked.ids);
  std::vector<std::vector<std::string>> ids = std::move(table.kept);
  Dataset data = take_parts(std::move(table), layout, asked.weights);
  data.id_names = std::move(id_names);
  data.ids = std::move(ids);
  add_absent_targets(layout.known, model, &data);
  if (!labels.empty()) attach_labels(read_column(labels, model.text_labels), &data);
  return data;
}

}  // namespace mercer::cli
