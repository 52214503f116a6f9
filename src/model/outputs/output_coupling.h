// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Makes the solver's coupling of outputs from a map with several outputs, or from targets.
#pragma once

#include <memory>
#include <vector>

#include "feature/feature_map.h"
#include "model/outputs/outputs.h"
#include "model/prepare/coding.h"
#include "model/rows/targeted_rows.h"
#include "solver/coupling.h"

namespace mercer::model {

using CouplingPointer = std::shared_ptr<const solver::Coupling>;

/// The roots of a map with several outputs; null for other maps.
CouplingPointer coupling_of(const feature::FeatureMap& map, Context& context);

/// Gamma as a function of its weight.
class OutputRelations {
 public:
  /// Reads `rows` of Y and weights (none: 1 each) alone. INVALID_ARGUMENT for a matrix that is not
  /// a p x p graph or Gamma, or is not read, and for a weight out of its domain.
  OutputRelations(const Outputs& asked, const Coding& coding, MatrixView<const double> Y,
                  std::span<const double> weights, solver::RowSet rows, Context& context);
  /// The weights to try, the first the default; or the given one; or {0} if Gamma has none.
  const std::vector<double>& weights() const noexcept { return weights_; }
  /// Null for independent outputs: by the structure, or at weight 0.
  CouplingPointer coupling(double weight, Context& context) const;

 private:
  Matrix<double> gamma(double weight, Context& context) const;
  OutputStructure structure_;
  int64_t p_;
  Matrix<double> basis_;        // C, S, eigenvectors of L (rows), or Gamma
  std::vector<double> values_;  // of L
  std::vector<double> scale_;   // of the targets
  std::vector<double> weights_ = {0};
};

}  // namespace mercer::model
