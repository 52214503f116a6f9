// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics of rows whose frequencies lie on a grid, or whose features are few entries: features
// are never formed.
#pragma once

#include <optional>
#include <span>

#include "feature/feature_map.h"
#include "feature/grid_sums.h"
#include "solver/row_statistics.h"

namespace mercer::model {

class DirectSums {
 public:
  /// Whether they cost less than the map's features.
  static bool pays(const feature::FeatureMap& map);
  DirectSums(const feature::FeatureMap& map, int64_t outputs, Context& context);
  /// Prepared rows, dense. Y is changed.
  void add(MatrixView<const double> X, MatrixView<double> Y, std::span<const double> weights,
           Context& context);
  /// Adds all of them to the statistics.
  void finish(Context& context, solver::RowStatistics& statistics);

 private:
  const feature::FeatureMap& map_;
  solver::RowStatistics sums_;
  std::optional<feature::GridSums> grid_;
};

}  // namespace mercer::model
