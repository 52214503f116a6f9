// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/preparation_sections.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/size.h"
#include "io/checks.h"
#include "model/estimator/model_entry.h"

namespace mercer::io {
namespace {

using model::Curve;
using model::Transform;

/// Outputs that are targets with a range.
int64_t ranged_targets(const model::Fitting& fit, int64_t outputs) {
  const bool has_targets = fit.estimate.entry->targets == nullptr;
  return has_targets && fit.coding.task == model::Task::regression ? outputs : 0;
}

void require_sizes(const char* what, size_t size, int64_t expected) {
  require_count(what, static_cast<int64_t>(size), expected);
}

/// The column index that `number` is.
int64_t column_of(const char* what, double number, int64_t after, int64_t columns) {
  const bool right = number > static_cast<double>(after) && number < static_cast<double>(columns) &&
                     number == std::floor(number);
  require(right, MERCER_INVALID_ARGUMENT, "%s names column %g, expected ascending ones below %ld",
          what, number, columns);
  return static_cast<int64_t>(number);
}

std::vector<double> numbers_of(const std::vector<Curve>& curves) {
  std::vector<double> numbers;
  for (size_t j = 0; j < curves.size(); ++j) {
    if (curves[j].kind == Transform::none) continue;
    numbers.push_back(static_cast<double>(j));
    numbers.insert(numbers.end(), curves[j].knots.begin(), curves[j].knots.end());
  }
  return numbers;
}

std::vector<Curve> curves_of(const char* what, const std::vector<double>& numbers, Transform kind,
                             int64_t columns) {
  if (kind == Transform::none) {
    require_sizes(what, numbers.size(), 0);
    return {};
  }
  const size_t width = 1 + model::knot_count(kind);
  require(numbers.size() % width == 0, MERCER_INVALID_ARGUMENT,
          "%s has %zu numbers, expected a multiple of %zu", what, numbers.size(), width);
  std::vector<Curve> curves(columns);
  int64_t last = -1;
  for (size_t at = 0; at < numbers.size(); at += width) {
    last = column_of(what, numbers[at], last, columns);
    const double* knots = numbers.data() + at + 1;
    curves[last] = {kind, {knots, knots + width - 1}};
  }
  return curves;
}

std::vector<double> numbers_of(const model::Ranges& ranges) {
  std::vector<double> numbers;
  for (const auto* columns : {&ranges.inputs, &ranges.targets})
    for (const model::Range& r : *columns)
      numbers.insert(numbers.end(), {r.lowest, r.low, r.high, r.highest});
  return numbers;
}

model::Ranges ranges_of(const std::vector<double>& numbers, int64_t inputs, int64_t targets) {
  require_sizes("ranges", numbers.size(),
                checked_multiply(4, checked_add(inputs, targets, "ranges"), "ranges"));
  model::Ranges ranges;
  for (size_t i = 0; i < numbers.size(); i += 4) {
    auto& to = static_cast<int64_t>(i) < 4 * inputs ? ranges.inputs : ranges.targets;
    to.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
  }
  return ranges;
}

std::vector<double> numbers_of(const model::Hashing& hashing) {
  if (hashing.buckets == 0) return {};
  return {static_cast<double>(hashing.inputs), static_cast<double>(hashing.buckets),
          static_cast<double>(hashing.seed & 0xffffffffU), static_cast<double>(hashing.seed >> 32)};
}

int64_t whole_number(double number, double most) {
  require(number >= 0 && number <= most && number == std::floor(number), MERCER_INVALID_ARGUMENT,
          "hashing holds %g, expected a whole number from 0 to %g", number, most);
  return static_cast<int64_t>(number);
}

model::Hashing hashing_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  require_sizes("hashing", numbers.size(), 4);
  require(numbers[1] >= 1, MERCER_INVALID_ARGUMENT, "hashing to %g buckets, expected some",
          numbers[1]);
  constexpr double kHalf = 4294967295.0;
  const int64_t low = whole_number(numbers[2], kHalf), high = whole_number(numbers[3], kHalf);
  return {whole_number(numbers[0], 9e15), whole_number(numbers[1], 9e15),
          static_cast<uint64_t>(low) | static_cast<uint64_t>(high) << 32};
}

void check_hashing(const model::Hashing& hashing, int64_t map_inputs) {
  if (hashing.buckets == 0) return;
  require(hashing.buckets == map_inputs && std::has_single_bit(static_cast<uint64_t>(map_inputs)) &&
              hashing.inputs >= 1,
          MERCER_INVALID_ARGUMENT,
          "hashing of %ld inputs to %ld buckets, expected a power of two that is the map's "
          "inputs, %ld",
          hashing.inputs, hashing.buckets, map_inputs);
}

void check_scale(const model::Preparation& preparation, int64_t expected) {
  require_sizes("mean", preparation.mean.size(), expected);
  require_sizes("scale", preparation.scale.size(), expected);
  require_finite(preparation.mean, "mean");
  require_finite(preparation.scale, "scale");
  const bool positive = std::ranges::all_of(preparation.scale, [](double s) { return s > 0; });
  require(positive, MERCER_INVALID_ARGUMENT, "scale holds a number <= 0, expected positive ones");
}

void check_curves(const std::vector<Curve>& curves, Transform kind, int64_t columns,
                  const char* what) {
  require_sizes(what, curves.size(), kind == Transform::none ? 0 : columns);
  for (const Curve& curve : curves) {
    require(curve.kind == kind || curve.kind == Transform::none, MERCER_INVALID_ARGUMENT,
            "%s: a curve of another kind than the options say", what);
    model::check_curve(curve, what);
  }
}

void check_ranges(const model::Model& model, int64_t inputs) {
  const model::Ranges& ranges = model.ranges;
  if (!ranges.known()) return;
  require_sizes("ranges of inputs", ranges.inputs.size(), inputs);
  require_sizes("ranges of targets", ranges.targets.size(),
                ranged_targets(model.fit, model.outputs()));
  model::check_ranges(ranges.inputs, "inputs");
  model::check_ranges(ranges.targets, "targets");
}

}  // namespace

std::vector<std::vector<double>> preparation_numbers(const model::Model& model) {
  const model::Preparation& by = model.preparation;
  return {by.fill,
          {by.flagged.begin(), by.flagged.end()},
          numbers_of(by.curves),
          numbers_of(by.targets),
          numbers_of(model.ranges),
          numbers_of(by.hashing)};
}

void read_preparation(const SectionReader& file, int64_t inputs, int64_t outputs,
                      model::Model& model) {
  const auto numbers = [&](const char* name) {
    return file.has(name) ? file.doubles(name) : std::vector<double>();
  };
  const model::Preparing& asked = model.fit.prepare;
  model::Preparation& by = model.preparation;
  by = {file.doubles("mean"), file.doubles("scale")};
  by.fill = numbers("fill");
  by.hashing = hashing_of(numbers("hashing"));
  check_hashing(by.hashing, inputs);
  int64_t last = -1;
  for (const double j : numbers("flagged"))
    by.flagged.push_back(last = column_of("flagged", j, last, by.inputs_of(inputs)));
  const int64_t raw = by.inputs_of(inputs);
  if (file.has("ranges")) {
    model.ranges = ranges_of(file.doubles("ranges"), raw, ranged_targets(model.fit, outputs));
  }
  // Its size has been checked against the file before curves are allocated.
  require(model.ranges.known() ||
              (asked.transform == Transform::none && asked.target_transform == Transform::none),
          MERCER_INVALID_ARGUMENT, "section ranges is missing, which every transform comes with");
  by.curves = curves_of("curves", numbers("curves"), asked.transform, raw);
  by.targets = curves_of("target_curves", numbers("target_curves"), asked.target_transform,
                         ranged_targets(model.fit, outputs));
  by.row_norm = asked.unit_rows ? 1 : 0;
}

void check_preparation(const model::Model& model, int64_t inputs) {
  const model::Preparation& by = model.preparation;
  const model::Preparing& asked = model.fit.prepare;
  const int64_t raw = by.inputs_of(inputs);
  check_hashing(by.hashing, inputs);
  check_scale(by, asked.standardize ? by.flagged_inputs(raw) : 0);
  require_sizes("fill", by.fill.size(), asked.missing == model::Missing::refuse ? 0 : raw);
  require_finite(by.fill, "fill");
  require(asked.missing == model::Missing::flag || by.flagged.empty(), MERCER_INVALID_ARGUMENT,
          "flagged has %zu numbers, expected 0 unless missing inputs are flagged",
          by.flagged.size());
  require(by.flagged.empty() || (raw >= 1 && by.flagged.back() < raw), MERCER_INVALID_ARGUMENT,
          "flagged has %zu numbers, expected columns of the inputs without their flags",
          by.flagged.size());
  check_curves(by.curves, asked.transform, raw, "curves");
  check_curves(by.targets, asked.target_transform, ranged_targets(model.fit, model.outputs()),
               "target_curves");
  check_ranges(model, raw);
}

}  // namespace mercer::io
