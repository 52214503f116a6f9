// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/model_numbers.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/parameters.h"

namespace mercer::spec {
namespace {

template <class Numbers>
std::vector<double> doubles(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Of ranks also what the curve makes of each knot: knots that are equal are a step.
std::shared_ptr<const Parameters> curve_of(const model::Curve& curve) {
  auto out = std::make_shared<Parameters>();
  out->set("transform", std::string(model::word_of(curve.kind)));
  out->set("knots", curve.knots);
  if (curve.kind != model::Transform::rank) return out;
  model::Curve places{curve.kind, {}};
  for (size_t k = 0; k < curve.knots.size(); ++k) places.knots.push_back(static_cast<double>(k));
  std::vector<double> at;
  for (const double place : places.knots) at.push_back(places(place));
  out->set("values", std::move(at));
  return out;
}

ObjectList curves_of(const std::vector<model::Curve>& curves) {
  ObjectList list;
  for (const model::Curve& curve : curves) list.push_back(curve_of(curve));
  return list;
}

}  // namespace

std::string print_preparation(const model::Model& model) {
  const model::Preparation& steps = model.preparation;
  Parameters out;
  std::vector<double> lowest, highest;
  for (const model::Range& range : model.ranges.inputs) {
    lowest.push_back(range.lowest);
    highest.push_back(range.highest);
  }
  NumberLists limits;
  for (const model::Limits& one : model::score_limits(model))
    limits.push_back({one.lowest, one.highest});
  out.set("lowest", std::move(lowest));
  out.set("highest", std::move(highest));
  out.set("fill", steps.fill);
  out.set("curves", curves_of(steps.curves));
  out.set("mean", steps.mean);
  out.set("scale", steps.scale);
  out.set("flagged", doubles(steps.flagged));
  out.set("norm", steps.row_norm);
  out.set("buckets", steps.hashing.buckets);
  out.set("target_curves", curves_of(steps.targets));
  out.set("limits", std::move(limits));
  out.set("slope", model.calibration.slope);
  out.set("offsets", model.calibration.offset);
  return print_object(out);
}

std::string print_numbers(const model::Model& model) {
  Parameters out;
  for (const NumberArray& array : model.map->numbers()) {
    auto one = std::make_shared<Parameters>();
    one->set("shape", doubles(array.shape));
    one->set("values",
             std::visit([](const auto& values) { return doubles(values); }, array.values));
    out.set(array.name, std::shared_ptr<const Parameters>(std::move(one)));
  }
  return print_object(out);
}

}  // namespace mercer::spec
