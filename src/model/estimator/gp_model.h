// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Beside the entry of model gp: its parameters of fits about several centres, and lengthscales on a
// grid of frequencies by the evidence of all rows, from sums over them without features.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "feature/feature_map.h"
#include "model/estimator/estimator_options.h"
#include "solver/block_source.h"
#include "solver/ridge_system.h"

namespace mercer::model {

class FeatureRows;

// The parameters by which processes, of classes too, are fitted about several centres (local.h).

/// "local" and "theta".
std::vector<Field> local_fields();
/// Whether a model's own parameters ask for several centres, and for clusters of them.
bool asks_local(const Parameters& own);
bool asks_clusters(const Parameters& own);
/// Refuses what cannot be fitted so. beside: the parameter that has to be given with lambda.
void check_local(const FitOptions& asked, const char* beside);

// Lengthscales of a process on a grid.

/// The negative log evidence in nats, summed over outputs, as a function of moves of the logarithms
/// of the kernel's lengthscales and of log lambda: frequencies stay, their weights move, so that the
/// rows' sums serve all. An estimate (solver/sampled_inverse.h) by the same draws everywhere.
class GridEvidence {
 public:
  /// One pass over the rows; map, rows and context are referred to.
  GridEvidence(const FeatureRows& rows, const feature::FeatureMap& map, bool center, double noise,
               const solver::Probing& by, Context& context);
  int64_t lengthscales() const { return std::ssize(map_.kernel().lengthscale()); }
  double operator()(std::span<const double> moves, std::span<double> gradient);
  double error() const noexcept { return error_; }  // of the last value, its standard error
  /// The system at the map's own lengthscales; it refers to this.
  std::unique_ptr<solver::RidgeSystem> system() const;

 private:
  std::vector<double> weights(std::span<const double> moves) const;
  const feature::FeatureMap& map_;
  std::unique_ptr<const solver::NormalSums> sums_;
  bool center_;
  double noise_, error_ = 0;
  solver::Probing by_;
  Context& context_;
};

}  // namespace mercer::model
