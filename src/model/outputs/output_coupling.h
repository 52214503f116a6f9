// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The solver's coupling of outputs, from a map of several or from targets.
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

/// Of a map with several outputs its roots; null for other maps.
CouplingPointer coupling_of(const feature::FeatureMap& map, Context& context);

/// Gamma by its weight.
class OutputRelations {
 public:
  /// rows: of Y and its weights (none: 1 each), which are seen. Errors: INVALID_ARGUMENT for a matrix that is no p x p graph or
  /// Gamma, or where none is read, and for a weight out of its domain.
  OutputRelations(const Outputs& asked, const Coding& coding, MatrixView<const double> Y,
                  std::span<const double> weights, solver::RowSet rows, Context& context);
  /// Those to try, the first a fair one; the one that is given; one without a meaning where Gamma
  /// has none.
  const std::vector<double>& weights() const noexcept { return weights_; }
  /// Null for independent outputs: those of the structure, or of weight 0.
  CouplingPointer coupling(double weight, Context& context) const;

 private:
  Matrix<double> gamma(double weight, Context& context) const;
  OutputStructure structure_;
  int64_t p_;
  Matrix<double> basis_;        // C, S, eigenvectors of L by rows, or Gamma
  std::vector<double> values_;  // of L
  std::vector<double> scale_;   // of the targets
  std::vector<double> weights_ = {0};
};

}  // namespace mercer::model
