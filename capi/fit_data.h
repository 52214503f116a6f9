// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_data, checked: one of rows in memory, rows from a source, sets of observations.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "feature/feature_map.h"
#include "mercer/model.h"
#include "model/fit.h"
#include "row_arguments.h"

namespace mercer::capi {

/// A copy of the caller's struct. INVALID_ARGUMENT unless it names one kind of data, and all of it.
mercer_data read_data(const mercer_data* data);
/// Null: the spec's own.
std::shared_ptr<const feature::FeatureMap> map_of(const mercer_data& data);

/// The weights of m targets that a caller has of another solver; null: none.
std::shared_ptr<const model::Predictor> given_of(const mercer_data& data, int64_t m,
                                                 Context& context);

/// What a spec asks for; trials are told as the context says.
model::FitPlan plan_of(const char* json, Context& running);

/// A number for each row; none where the caller gives none.
struct GroupNumbers {
  GroupNumbers(const mercer_data& data, const RowsArgument& X, Context& context);
  std::vector<double> values;
};

/// Rows, as many rows of targets or, of a model that has none, no columns; weights and groups.
struct TrainingSet {
  TrainingSet(const mercer_data& data, bool has_targets, Context& context);
  RowsArgument X, Y;
  DoubleRows y;  // Y in double
  std::span<const double> weights;
  GroupNumbers groups;
};

/// Sets of values and derivatives, made dense.
class ObservationSets {
 public:
  /// inputs: the map's; 0: those of the first set.
  ObservationSets(const mercer_data& data, int64_t inputs, Context& context);
  std::span<const model::Observations> sets() const { return sets_; }

 private:
  void add(const std::string& name, const mercer_observations& given, int64_t inputs,
           Context& context);
  std::vector<std::unique_ptr<DoubleRows>> rows_;
  std::vector<model::Observations> sets_;
};

}  // namespace mercer::capi
