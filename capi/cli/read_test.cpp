// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Test files to data sets that fit a model. Columns are matched by name where both sides have
// names, else by count; the target is optional.
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "columns.h"
#include "dataset.h"
#include "failure.h"
#include "metadata.h"
#include "nearest.h"
#include "read/csv_header.h"

namespace mercer::cli {

namespace {

struct Layout {
  std::vector<int64_t> inputs;
  std::vector<int64_t> targets;
  std::vector<int64_t> ignored;
  bool weights = false;  // those of the fit are among what is ignored
  std::string note;      // what was assumed
};

/// Columns of TEST that the command line names.
struct AskedColumns {
  std::vector<int64_t> left_out;  // with the weights
  int64_t weights = -1;
};

AskedColumns find_asked(const std::vector<std::string>& names, int64_t columns,
                        const ColumnRequest& wanted) {
  AskedColumns asked;
  asked.left_out = find_columns("--ignore", names, columns, wanted.ignore);
  if (wanted.weights.empty()) return asked;
  asked.weights = find_columns("--weights", names, columns, {wanted.weights})[0];
  if (std::ranges::find(asked.left_out, asked.weights) != asked.left_out.end())
    throw Failure("--ignore: column " + std::to_string(asked.weights + 1) + " holds the weights");
  asked.left_out.push_back(asked.weights);
  return asked;
}

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

// Every input must be there; targets all or none; anything else in the file is refused rather than
// ignored.
Layout layout_by_name(const std::vector<std::string>& names, const Metadata& model,
                      const AskedColumns& wanted, const std::string& file) {
  Layout layout;
  const Positions in_file = positions_of(names);
  const Positions inputs = positions_of(model.inputs);
  const Positions targets = positions_of(model.targets);
  const Positions ignored = positions_of(model.ignored);
  for (const std::string& input : model.inputs) {
    layout.inputs.push_back(position(in_file, input));
    if (layout.inputs.back() < 0)
      fail_at(file, 1, 0,
              "no column " + shown(input) + ", which the model was fitted on" +
                  did_you_mean(input, names));
  }
  for (const std::string& target : model.targets) {
    const int64_t column = position(in_file, target);
    if (column >= 0) layout.targets.push_back(column);
  }
  if (layout.targets.size() < model.targets.size()) layout.targets.clear();
  for (size_t j = 0; j < names.size(); ++j) {
    const bool input = position(inputs, names[j]) >= 0;
    const bool target = position(targets, names[j]) >= 0 && !layout.targets.empty();
    const auto column = static_cast<int64_t>(j);
    const bool asked = std::ranges::find(wanted.left_out, column) != wanted.left_out.end();
    const bool known = position(ignored, names[j]) >= 0;
    if (asked && (input || target))
      throw Failure((column == wanted.weights ? "--weights: column " : "--ignore: column ") +
                    shown(names[j]) + " is one that the model was fitted on");
    if (asked || known) layout.ignored.push_back(column);
    if (!input && !target && !known && !asked) {
      fail_at(file, 1, column + 1,
              "column " + shown(names[j]) +
                  " is neither an input nor the target of the model (--ignore " + typed(names[j]) +
                  " leaves it out)");
    }
  }
  layout.weights = !model.weights.empty() && position(in_file, model.weights) >= 0;
  return layout;
}

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
/// `shape`: what else is known of the columns, for the message.
Layout layout_by_count(int64_t columns, const Metadata& model, int64_t inputs,
                       const std::string& file, const std::string& shape = "") {
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

/// The same without the columns that are left out by request, unless the model leaves them out, too.
Layout layout_by_count(int64_t columns, const Metadata& model, int64_t inputs,
                       const std::vector<int64_t>& left_out, const std::string& file) {
  if (left_out.empty()) return layout_by_count(columns, model, inputs, file);
  if (is_whole(columns, model, inputs)) {
    Layout whole = layout_by_count(columns, model, inputs, file);
    const auto known = [&](int64_t j) {
      return std::ranges::find(whole.ignored, j) != whole.ignored.end();
    };
    if (std::ranges::all_of(left_out, known)) return whole;
  }
  const std::vector<int64_t> left = other_columns(columns, left_out);
  Layout layout = layout_by_count(std::ssize(left), model, inputs, file);
  for (std::vector<int64_t>* part : {&layout.inputs, &layout.targets, &layout.ignored})
    for (int64_t& column : *part) column = left[static_cast<size_t>(column)];
  layout.ignored.insert(layout.ignored.end(), left_out.begin(), left_out.end());
  return layout;
}

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

Dataset libsvm_test(Table&& table, int64_t inputs, bool labels_elsewhere) {
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

Dataset take_parts(Table&& table, const Layout& layout, int64_t weights) {
  std::vector<double> numbers;
  if (weights >= 0) numbers = column_of(table, weights);
  Dataset data = take_columns(std::move(table), layout.inputs, layout.targets);
  data.weights = std::move(numbers);
  data.weights_unused = layout.weights && weights < 0;
  data.note = layout.note;
  return data;
}

Dataset array_test(Table&& table, const Metadata& model, int64_t inputs, bool labels_elsewhere,
                   const ColumnRequest& wanted) {
  const AskedColumns asked = find_asked({}, table.columns, wanted);
  const Layout layout =
      asked.left_out.empty()
          ? layout_by_count(table.columns, model, inputs, table.name, table.shape)
          : layout_by_count(table.columns, model, inputs, asked.left_out, table.name);
  if (labels_elsewhere && !layout.targets.empty()) {
    throw Failure("--labels: " + table.name + " already holds a target column");
  }
  return take_parts(std::move(table), layout, asked.weights);
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
  const bool labels_elsewhere = !labels.empty();
  const std::string file = path == "-" ? "standard input" : path;
  Layout layout;
  AskedColumns asked;
  Table table = read_table(
      path,
      [&](const std::vector<std::string>& names, int64_t columns) {
        const bool by_name = !names.empty() && !model.inputs.empty();
        asked = find_asked(names, columns, wanted);
        layout = by_name ? layout_by_name(column_names(names).names, model, asked, file)
                         : layout_by_count(columns, model, inputs, asked.left_out, file);
        return permission_of(layout, model, asked.weights);
      },
      csv_options(as_fitted(wanted, model)));
  require_csv(table, wanted);
  if (table.format == Format::libsvm) {
    if (!wanted.ignore.empty() || !wanted.weights.empty())
      throw Failure(std::string(wanted.ignore.empty() ? "--weights: " : "--ignore: ") + file +
                    " is a libsvm file; its columns are those of the model");
    return libsvm_test(std::move(table), inputs, labels_elsewhere);
  }
  if (table.format != Format::csv) {
    Dataset data = array_test(std::move(table), model, inputs, labels_elsewhere, wanted);
    std::string own = labels;
    if (own.empty() && data.format == Format::idx && data.m == 0) {
      own = labels_name_of(path);
      if (!own.empty() && ::access(own.c_str(), F_OK) != 0) own.clear();
    }
    if (!own.empty()) attach_labels(read_column(own, model.text_labels), &data);
    return data;
  }
  if (labels_elsewhere && !layout.targets.empty()) {
    throw Failure("--labels: " + file + " already holds a target column");
  }
  Dataset data = take_parts(std::move(table), layout, asked.weights);
  if (labels_elsewhere) attach_labels(read_column(labels, model.text_labels), &data);
  return data;
}

}  // namespace mercer::cli
