// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Test files to data sets that fit a model; the target is optional. Columns are matched by name where
// both sides have names, else by count.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "dataset.h"
#include "failure.h"
#include "metadata.h"
#include "nearest.h"
#include "read/bytes.h"
#include "read/csv_header.h"

namespace mercer::cli {

namespace {

struct Layout {
  std::vector<int64_t> inputs;
  std::vector<int64_t> targets;
  std::vector<size_t> known;  // which of the model's targets these are; empty: all, in order
  std::vector<int64_t> ignored;
  bool weights = false;  // those of the fit are among what is ignored
  std::string note;      // what was assumed
};

/// Columns of TEST that the command line names.
struct AskedColumns {
  std::vector<int64_t> left_out;  // with the weights
  int64_t weights = -1;
  std::vector<int64_t> ids;  // that are passed through, known to the model or not
};

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

/// Every input must be there; targets all or none, unless a model takes some; anything else in the
/// file is refused rather than ignored.
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

/// What the columns of the training file were, in their order: x inputs, y targets, - left out.
std::string parts_of(const Metadata& model, int64_t inputs) {
  std::vector<int64_t> targets = model.target_columns;
  const auto count = std::max<int64_t>(1, std::ssize(targets));
  const int64_t width = inputs + count + std::ssize(model.ignored_columns);
  if (targets.empty()) targets.push_back(width - 1);
  std::string parts(static_cast<size_t>(width), 'x');
  const auto mark = [&](const std::vector<int64_t>& columns, char part) {
    for (const int64_t j : columns)
      if (j >= 0 && j < width) parts[static_cast<size_t>(j)] = part;
  };
  mark(targets, 'y');
  mark(model.ignored_columns, '-');
  if (std::ranges::count(parts, 'x') != inputs)
    throw Failure("the model's metadata is damaged: columns out of range or twice");
  return parts;
}

Layout placed(const std::string& parts, const std::vector<int64_t>& columns) {
  Layout layout;
  for (size_t k = 0; k < parts.size(); ++k)
    (parts[k] == 'x'   ? layout.inputs
     : parts[k] == 'y' ? layout.targets
                       : layout.ignored)
        .push_back(columns[k]);
  return layout;
}

/// With target and columns left out as the training file, or without the one, or the inputs alone,
/// beside the columns that are left out by request. `shape`: what else is known of the columns, for
/// the message.
Layout layout_by_count(int64_t columns, const Metadata& model, int64_t inputs,
                       const std::vector<int64_t>& left_out, const std::string& file,
                       const std::string& shape = "") {
  const std::string whole = parts_of(model, inputs), bare(static_cast<size_t>(inputs), 'x');
  std::string open = whole;
  std::erase(open, 'y');
  const auto targets = std::ssize(whole) - std::ssize(open), ignored = std::ssize(open) - inputs;
  const std::vector<int64_t> all = other_columns(columns, {}),
                             left = other_columns(columns, left_out);
  for (const std::string& parts : {whole, open, bare}) {
    // Those that the model leaves out anyway may be asked for again.
    const bool again =
        std::ssize(parts) == columns && std::ranges::all_of(left_out, [&](int64_t j) {
          return parts[static_cast<size_t>(j)] == '-';
        });
    if (!again && parts.size() != left.size()) continue;
    Layout layout = placed(parts, again ? all : left);
    if (!again) layout.ignored.insert(layout.ignored.end(), left_out.begin(), left_out.end());
    layout.weights = !model.weights.empty() && parts != bare;
    if (parts == open && targets == ignored)
      layout.note = file +
                    " names no columns: those that training left out are taken to be there, "
                    "and the target not";
    return layout;
  }
  fail_at(file, 0, 0,
          std::to_string(left.size()) + " columns" + shape + ", expected the model's " +
              std::to_string(inputs) + " inputs, or " + std::to_string(inputs + targets) +
              " with the target" +
              (ignored > 0 ? ", and the " + std::to_string(ignored) + " left out" : ""));
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
  const auto is_input = [&](int64_t j) { return j >= 0 && j < std::ssize(layout.inputs); };
  for (const int64_t input : model.commas)
    if (is_input(input)) permission.commas.push_back(layout.inputs[static_cast<size_t>(input)]);
  for (ColumnWords words : model.words) {
    if (!is_input(words.column)) continue;
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
  densify_if_full(&table.numbers, table.rows, inputs);
  std::vector<double> labels = std::move(table.labels);
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
  std::vector<double> all;
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

Dataset array_test(Table&& table, const std::string& labels, const Metadata& model, int64_t inputs,
                   const ColumnRequest& wanted) {
  const AskedColumns asked = find_asked({}, table.columns, wanted);
  const Layout layout =
      layout_by_count(table.columns, model, inputs, asked.left_out, table.name, table.shape);
  refuse_two_targets(layout, table.name, labels);
  Dataset data = take_parts(std::move(table), layout, asked.weights);
  if (!labels.empty()) attach_labels(read_column(labels, model.text_labels), &data);
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
  const std::string file = name_of_file(path);
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
    return array_test(std::move(table), labels, model, inputs, wanted);
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
