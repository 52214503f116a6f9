// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over rows where features need not be formed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "feature/feature_map.h"
#include "feature/grid_gram.h"
#include "feature/grid_sums.h"
#include "solver/block_source.h"
#include "solver/row_statistics.h"

namespace mercer::model {

// Statistics of rows whose frequencies lie on a grid, or whose features are few entries: features
// are never formed.

class DirectSums {
 public:
  static constexpr int64_t kMostInputs = 4096;  // of rows that are made dense in blocks
  /// Whether they cost less than the map's features.
  static bool pays(const feature::FeatureMap& map);
  DirectSums(const feature::FeatureMap& map, int64_t outputs, Context& context);
  /// Prepared rows, dense. Y is changed.
  void add(MatrixView<const double> X, MatrixView<double> Y, std::span<const double> weights,
           Context& context);
  /// Writes or reads all of it.
  void keep(StateBytes& state);
  /// Adds all of them to the statistics.
  void finish(Context& context, solver::RowStatistics& statistics);

 private:
  const feature::FeatureMap& map_;
  solver::RowStatistics sums_;
  std::optional<feature::GridSums> grid_;
};

/// Z W of such rows, wherever it costs less than features.
class DirectProducts {
 public:
  static bool pays(const feature::FeatureMap& map, int64_t columns);
  /// Refers to both.
  DirectProducts(const feature::FeatureMap& map, MatrixView<const double> W, Context& context);
  int64_t columns() const noexcept { return W_.cols; }
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> out) const;

 private:
  const feature::FeatureMap& map_;
  MatrixView<const double> W_;
  std::optional<feature::GridProducts> grid_;
};

// Z'WZ as an operator, of rows whose frequencies lie on a grid.

class NormalGrid {
 public:
  /// Whether the map has it.
  static bool serves(const feature::FeatureMap& map);
  NormalGrid(const feature::FeatureMap& map, int64_t outputs, Context& context);
  /// Prepared rows, dense. Y is changed.
  void add(MatrixView<const double> X, MatrixView<double> Y, std::span<const double> weights,
           Context& context);
  /// Of the rows of all processes that `rows` are a part of. The map is referred to.
  std::unique_ptr<solver::NormalSums> finish(const solver::BlockSource& rows, Context& context);

 private:
  void move_to_mean(const solver::BlockSource& rows, solver::NormalSums& own);
  const feature::FrequencyGrid& grid_;
  double at_zero_;
  int64_t outputs_, count_ = 0;
  feature::GridRows sums_;
  double weight_ = 0;
  std::vector<double> origin_, sum_, squares_;  // of targets
};

}  // namespace mercer::model
