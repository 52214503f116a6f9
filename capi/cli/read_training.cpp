// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Training files to data sets.
#include "columns.h"
#include "dataset.h"
#include "failure.h"
#include "memory.h"

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

Dataset with_labels(Table&& table, const TargetRequest& request) {
  Dataset data = take_all(std::move(table));
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

Dataset read_training(const std::string& path, const TargetRequest& request) {
  if (!request.labels.empty() && !request.targets.empty()) {
    throw Failure("--labels and --target exclude each other: the labels file is the target");
  }
  if (path == "-" && request.labels == "-")
    throw Failure("--labels -: standard input already holds the data");
  std::vector<int64_t> targets;
  Table table = read_table(path, [&](const std::vector<std::string>& names, int64_t columns) {
    if (!request.labels.empty()) return TextPermission{};
    targets = choose_targets(names, columns, request.targets);
    return TextPermission{targets, request.as_text};
  });
  if (table.format == Format::libsvm) settle_libsvm(&table);
  if (!request.labels.empty()) return with_labels(std::move(table), request);
  if (table.format == Format::libsvm) {
    if (!request.targets.empty())
      throw Failure("--target: in a libsvm file the first field of a line is the target");
    return with_libsvm_labels(std::move(table));
  }
  if (table.format == Format::idx) {
    TargetRequest own = request;
    own.labels = labels_name_of(path);
    if (own.labels.empty())
      throw Failure("--labels: needed for IDX files whose name does not hold 'images-idx3'");
    return with_labels(std::move(table), own);
  }
  if (table.format == Format::npy) targets = choose_targets({}, table.columns, request.targets);
  if (static_cast<int64_t>(targets.size()) >= table.columns) {
    fail_at(table.name, 0, 0,
            std::to_string(table.columns) + " column" + (table.columns == 1 ? "" : "s") +
                table.shape + ", expected at least one input beside the target" +
                (table.format == Format::csv ? " (fields are separated by commas)" : ""));
  }
  const std::vector<int64_t> inputs = other_columns(table.columns, targets);
  return take_columns(std::move(table), inputs, targets);
}

}  // namespace mercer::cli
