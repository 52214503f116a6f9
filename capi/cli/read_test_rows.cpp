// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Test files to data sets of a model. Columns match by name where both have names, else by count.
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "failure.h"
#include "metadata.h"
#include "read/csv.h"

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

/// Columns that are neither inputs nor targets are asked for, passed through or known, or refused.
void place_others(const std::vector<std::string>& names, const Metadata& model, const Layout& asked,
                  const std::string& file, Layout* layout) {
  const Positions inputs = positions_of(model.inputs), targets = positions_of(model.targets),
                  ignored = positions_of(model.ignored);
  for (size_t j = 0; j < names.size(); ++j) {
    const auto column = static_cast<int64_t>(j);
    const bool part = position(inputs, names[j]) >= 0 || position(targets, names[j]) >= 0;
    const bool left_out = has(asked.ignored, column);
    const bool known = (!part && has(asked.ids, column)) || position(ignored, names[j]) >= 0;
    if (left_out && part)
      throw Failure((column == asked.weights ? "--weights: column " : "--ignore: column ") +
                    shown(names[j]) + " is one that the model was fitted on");
    if (left_out || known) layout->ignored.push_back(column);
    if (!part && !known && !left_out)
      fail_at(file, 1, column + 1,
              "column " + shown(names[j]) +
                  " is neither an input nor the target of the model (--ignore " + typed(names[j]) +
                  " leaves it out)");
  }
}

/// Inputs must be there; targets all or none, unless a model takes some; others are refused.
Layout layout_by_name(const std::vector<std::string>& names, const Metadata& model,
                      const Layout& asked, const std::string& file) {
  Layout layout = asked;
  layout.ignored.clear();
  const Positions in_file = positions_of(names);
  for (const std::string& input : model.inputs) {
    layout.inputs.push_back(position(in_file, input));
    if (layout.inputs.back() < 0)
      fail_at(file, 1, 0,
              "no column " + shown(input) + ", which the model was fitted on" +
                  did_you_mean(input, names));
  }
  for (size_t k = 0; k < model.targets.size(); ++k) {
    const int64_t column = position(in_file, model.targets[k]);
    if (column < 0) continue;
    layout.targets.push_back(column);
    layout.known.push_back(k);
  }
  place_others(names, model, asked, file, &layout);
  return layout;
}

/// What the columns of the training file were, in their order: x inputs, y targets, - left out.
std::string parts_of(const Metadata& model, int64_t inputs) {
  std::vector<int64_t> targets = model.target_columns;
  const auto count = std::max<int64_t>(1, std::ssize(targets));
  const int64_t width = inputs + count + std::ssize(model.ignored_columns);
  if (targets.empty()) targets.push_back(width - 1);
  std::string parts(width, 'x');
  const auto mark = [&](const std::vector<int64_t>& columns, char part) {
    for (const int64_t j : columns)
      if (j >= 0 && j < width) parts[j] = part;
  };
  mark(targets, 'y');
  mark(model.ignored_columns, '-');
  if (std::ranges::count(parts, 'x') != inputs)
    throw Failure("the model's metadata is damaged: columns out of range or twice");
  return parts;
}

void place(const std::string& parts, const std::vector<int64_t>& columns, Layout* layout) {
  for (size_t k = 0; k < parts.size(); ++k)
    (parts[k] == 'x'   ? layout->inputs
     : parts[k] == 'y' ? layout->targets
                       : layout->ignored)
        .push_back(columns[k]);
}

/// As the training file, or without target or columns left out, or inputs alone, beside those asked.
Layout layout_by_count(int64_t columns, const Metadata& model, int64_t inputs, const Layout& asked,
                       const std::string& file) {
  const std::string whole = parts_of(model, inputs), bare(inputs, 'x');
  std::string open = whole, closed = whole;
  std::erase(open, 'y');
  std::erase(closed, '-');
  std::vector<int64_t> extra = asked.ignored;
  extra.insert(extra.end(), asked.ids.begin(), asked.ids.end());
  const std::vector<int64_t> left = other_columns(columns, extra);
  // What the model leaves out anyway may be asked for again.
  const auto& either = asked.ignored.empty() ? open : closed;
  for (const std::string& parts : {whole, either, open, bare}) {
    if (parts.size() != left.size()) continue;
    Layout layout = asked;
    place(parts, left, &layout);
    if (parts == open && open.size() == closed.size() && parts != bare)
      layout.note = file +
                    " names no columns: those that training left out are taken to be there, "
                    "and the target not";
    return layout;
  }
  const auto ignored = std::ssize(open) - inputs;
  fail_at(file, 0, 0,
          std::to_string(left.size()) + " columns, expected the model's " + std::to_string(inputs) +
              " inputs, or " + std::to_string(closed.size()) + " with the target" +
              (ignored > 0 ? ", and the " + std::to_string(ignored) + " left out" : ""));
}

/// Where a test file may hold text: as the training file did.
TextPermission permission_of(const Layout& layout, const Metadata& model) {
  TextPermission permission;
  if (model.text_labels) permission = {layout.targets, true};
  permission.number_inputs = layout.inputs;
  for (const Encoding& encoding : model.encodings) {
    permission.text_inputs.push_back(layout.inputs[encoding.input]);
    if (encoding.asked) permission.words.push_back(layout.inputs[encoding.input]);
  }
  for (const auto& [place, form] : model.forms) {
    const auto& columns = place < 0 ? layout.targets : layout.inputs;
    const size_t k = place < 0 ? -1 - place : place;
    const auto known = std::ranges::find(layout.known, k);
    const bool some = place < 0 && !layout.known.empty();
    const size_t at = some ? known - layout.known.begin() : k;
    if (at < columns.size()) permission.forms.push_back({columns[at], form});
  }
  permission.known = true;
  permission.ignored = layout.ignored;
  std::erase(permission.ignored, layout.weights);
  permission.may_lack = layout.targets;
  permission.kept = layout.ids;
  return permission;
}

/// Takes out entries of columns that the model has not, and says so.
std::string leave_out_columns(int64_t inputs, Table* table) {
  if (table->columns <= inputs) return "";
  Numbers kept{{}, true, {0}, {}};
  std::set<int64_t> unknown;
  const Numbers& all = table->numbers;
  for (int64_t i = 0; i < table->rows; ++i) {
    for (int64_t p = all.offsets[i]; p < all.offsets[i + 1]; ++p) {
      if (all.indices[p] >= inputs) {
        unknown.insert(all.indices[p]);
        continue;
      }
      kept.indices.push_back(all.indices[p]);
      kept.values.push_back(all.values[p]);
    }
    kept.offsets.push_back(std::ssize(kept.values));
  }
  const auto entries = std::ssize(all.values) - std::ssize(kept.values);
  table->numbers = std::move(kept);
  return counted(std::ssize(unknown), "column") + " that the model, of " +
         counted(inputs, "input") + ", does not know left out (" + counted(entries, "number") +
         ", largest index " + std::to_string(*unknown.rbegin() + table->first_index) + ")";
}

Dataset listed_test(Table&& table, int64_t inputs, bool labels_elsewhere) {
  const std::string note = leave_out_columns(inputs, &table);
  table.queries.clear();
  table.columns = inputs;  // what rows do not list is zero
  densify_if_full(&table.numbers, table.rows, inputs);
  Dataset data = take_listed(std::move(table), labels_elsewhere);
  data.note = note;
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

/// What the request leaves open as the training file was read.
ColumnRequest as_fitted(ColumnRequest wanted, const Metadata& model) {
  if (wanted.header == "auto") wanted.header = model.header;
  if (wanted.decimal == "auto") wanted.decimal = model.decimal;
  if (wanted.index_base == "auto" && model.first_index >= 0)
    wanted.index_base = std::to_string(model.first_index);
  wanted.missing = model.missing;
  wanted.missing_words.insert(wanted.missing_words.end(), model.missing_words.begin(),
                              model.missing_words.end());
  return wanted;
}

Dataset columns_test(Table&& table, const Layout& layout, const Metadata& model) {
  std::vector<std::string> names;
  for (const int64_t column : layout.ids) names.push_back(column_name(table, column));
  std::vector<std::vector<std::string>> ids = std::move(table.kept);
  Dataset data = take_columns(std::move(table), layout);
  data.id_names = std::move(names);
  data.ids = std::move(ids);
  add_absent_targets(layout.known, model, &data);
  return data;
}

}  // namespace

Dataset read_test(const std::string& path, const std::string& labels, const Metadata& model,
                  int64_t inputs, const ColumnRequest& wanted) {
  const std::string file = name_of_file(path);
  Layout layout;
  const auto rule = [&](const std::vector<std::string>& names, int64_t columns) {
    const bool by_name = !names.empty() && !model.inputs.empty();
    const Layout asked = asked_columns(names, columns, wanted);
    layout = by_name ? layout_by_name(column_names({names.begin(), names.end()}).names, model,
                                      asked, file)
                     : layout_by_count(columns, model, inputs, asked, file);
    return permission_of(layout, model);
  };
  CsvOptions options = csv_options(as_fitted(wanted, model));
  options.no_rows = true;
  Table table = read_table(path, rule, options);
  require_columns(table, wanted);
  if (!labels.empty() && !layout.targets.empty())
    throw Failure("--labels: " + file + " already holds a target column");
  Dataset data = table.format == Format::libsvm
                     ? listed_test(std::move(table), inputs, !labels.empty())
                     : columns_test(std::move(table), layout, model);
  if (!labels.empty()) attach_labels(read_column(labels, model.text_labels, true), &data);
  return data;
}

}  // namespace mercer::cli
