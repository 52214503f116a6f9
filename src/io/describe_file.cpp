// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a file holds, as JSON. Maps and models are read as load does, so what is described can be
// loaded; making a map draws no frequency. Statistics are read whole, since loading refuses sums
// that are not finite.
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "io/attention_file.h"
#include "io/map_file.h"
#include "io/model_file.h"
#include "io/model_options.h"
#include "io/object_file.h"
#include "io/rows_sums_file.h"
#include "io/statistics_file.h"
#include "spec/json.h"
#include "spec/report_spec.h"
#include "spec/specs.h"
#include "spec/words.h"

namespace mercer::io {
namespace {

using Object = std::shared_ptr<const Parameters>;

Parameters envelope(const Container& container) {
  Parameters out;
  out.set("kind", container.kind);
  out.set("version", static_cast<int64_t>(container.version));
  out.set("bytes", container.file_bytes);
  return out;
}

std::string describe_parts(const Container& container, const Parameters& spec,
                           std::span<const NumberArray> arrays) {
  int64_t numbers = 0;
  for (const NumberArray& array : arrays) numbers += count_of(array.shape);
  Parameters out = envelope(container);
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(spec))));
  out.set("numbers", numbers);
  return print_object(out);
}

std::string describe_map(const SectionReader& file) {
  const auto read = read_map(file);
  return describe_parts(file.container(), read->parameters(), read->numbers());
}

/// Ranges of inputs or targets: a list for each bound.
Object describe_ranges(const std::vector<model::Range>& ranges) {
  std::vector<double> lowest, low, high, highest;
  for (const model::Range& r : ranges) {
    lowest.push_back(r.lowest);
    low.push_back(r.low);
    high.push_back(r.high);
    highest.push_back(r.highest);
  }
  Parameters out;
  out.set("lowest", lowest);
  out.set("low", low);
  out.set("high", high);
  out.set("highest", highest);
  return std::make_shared<Parameters>(std::move(out));
}

/// The scores of the lambdas of a path: squared error, soft error, error rate or 1 - R^2; less is
/// better.
void add_path(const model::Model& model, Parameters* out) {
  std::vector<double> lambdas, scores;
  for (const model::PathPoint& point : model.path) {
    lambdas.push_back(point.lambda);
    scores.push_back(point.score);
  }
  out->set("path_lambda", lambdas);
  out->set("path_error", scores);
}

std::string describe_model(const SectionReader& file) {
  const std::unique_ptr<model::Model> read = read_model(file);
  const model::Model& model = *read;
  Parameters out = envelope(file.container());
  const Parameters spec = spec::model_parameters(model.map->parameters(), model.fit);
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(spec))));
  out.set("rows", model.rows);
  if (model.preparation.hashing.buckets > 0) {
    Parameters hashed;
    hashed.set("inputs", model.preparation.hashing.inputs);
    hashed.set("buckets", model.preparation.hashing.buckets);
    out.set("hashed", Object(std::make_shared<Parameters>(std::move(hashed))));
  }
  out.set("outputs", model.outputs());
  out.set("classes", model.fit.coding.classes);
  spec::kSelection.write(out, model.fit.select.selection);
  add_path(model, &out);
  if (model.ranges.known()) {
    out.set("inputs", describe_ranges(model.ranges.inputs));
    out.set("targets", describe_ranges(model.ranges.targets));
  }
  if (model.report.known())
    out.set("report", spec::print_report(model.report, model.fit.coding.task));
  out.set("metadata", model.metadata);
  return print_object(out);
}

std::string describe_attention(const SectionReader& file) {
  const auto read = read_attention(file);
  Parameters out = envelope(file.container());
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(read->map().parameters()))));
  out.set("batch", read->batch());
  out.set("heads", read->heads());
  out.set("values", read->values());
  out.set("keys", read->keys());
  return print_object(out);
}

std::string describe_rows_sums(const SectionReader& file) {
  const auto read = read_rows_sums(file);
  Parameters out = envelope(file.container());
  out.set("spec", Object(std::make_shared<Parameters>(spec::versioned(read->asked()))));
  out.set("inputs", read->sizes().inputs);
  out.set("x_rows", read->sizes().rows[0]);
  out.set("y_rows", read->sizes().rows[1]);
  out.set("x_added", read->added(0));
  out.set("y_added", read->added(1));
  return print_object(out);
}

std::string describe_statistics(const SectionReader& file) {
  const StatisticsShape shape = read_shape(file);
  Parameters out = envelope(file.container());
  out.set("features", shape.features);
  out.set("outputs", shape.outputs);
  out.set("rows", shape.rows);
  return print_object(out);
}

}  // namespace

std::string describe_file(Input& file) {
  Container container = read_container(file, "");
  if (container.kind == "map")
    return describe_map({file.name(), std::move(container), kMapSections});
  if (container.kind == "model") return describe_model({file.name(), std::move(container)});
  if (container.kind == "statistics") {
    return describe_statistics({file.name(), std::move(container)});
  }
  if (container.kind == "attention")
    return describe_attention({file.name(), std::move(container), kAttentionSections});
  if (container.kind == "rows_sums")
    return describe_rows_sums({file.name(), std::move(container), kRowsSumsSections});
  fail(MERCER_INVALID_ARGUMENT,
       "%s: holds a %s, expected a map, model, statistics, attention or rows_sums",
       file.name().c_str(), container.kind.c_str());
}

}  // namespace mercer::io
