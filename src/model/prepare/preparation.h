// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What becomes of inputs before they are mapped, and of targets before they are learnt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rows.h"
#include "model/prepare/curve.h"
#include "model/prepare/hashing.h"

namespace mercer::model {

/// Input j becomes (curve_j(x_j) - mean_j)/scale_j, NaN in it fill_j first; flags stand behind all
/// inputs; then, where row_norm > 0, rows are scaled to that norm; then they are hashed, where
/// there are buckets. Empty vectors: nothing of it.
struct Preparation {
  std::vector<double> mean = {};      // of prepared inputs
  std::vector<double> scale = {};     // of prepared inputs
  std::vector<double> fill = {};      // of inputs
  std::vector<int64_t> flagged = {};  // inputs with a flag, ascending
  std::vector<Curve> curves = {};     // of inputs
  std::vector<Curve> targets = {};    // of targets of a regression
  double row_norm = 0;
  Hashing hashing = {};

  /// Some mean is not 0, or 0 does not stay 0: sparse rows would not stay sparse.
  bool centres() const noexcept;
  /// Differences of rows are differences of inputs over scale.
  bool is_affine() const noexcept {
    return fill.empty() && curves.empty() && row_norm == 0 && hashing.buckets == 0;
  }
  /// Prepared inputs of `inputs`, before they are hashed: mean and scale are of these.
  int64_t flagged_inputs(int64_t inputs) const noexcept { return inputs + std::ssize(flagged); }
  /// What the map sees of `inputs`.
  int64_t prepared(int64_t inputs) const noexcept {
    return hashing.buckets > 0 ? hashing.buckets : flagged_inputs(inputs);
  }
  /// The inputs of a model whose map has so many.
  int64_t inputs_of(int64_t of_map) const noexcept {
    return hashing.buckets > 0 ? hashing.inputs : of_map - std::ssize(flagged);
  }
  /// Prepared inputs in units of `lengthscale`.
  Preparation divided_by(double lengthscale, int64_t inputs) const;
  /// Of prepared inputs, in place, where there are neither flags nor row norms nor buckets.
  void restore_inputs(MatrixView<double> prepared) const noexcept;
  /// Of predictions that were learnt from transformed targets, in place.
  void restore_targets(MatrixView<double> scores) const noexcept;
};

/// Of the standard scale and nothing else.
Preparation fit_standardizer(const Rows& X, Context& context, std::span<const double> weights = {});

}  // namespace mercer::model
