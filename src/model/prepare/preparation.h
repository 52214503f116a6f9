// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The fitted preparation of inputs before the map, and of targets before the fit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/views.h"
#include "model/prepare/curve.h"
#include "model/prepare/hashing.h"

namespace mercer::model {

/// In order: NaN becomes fill_j; input j becomes (curve_j(x_j) - mean_j)/scale_j; flags are
/// appended after the inputs; rows are scaled to row_norm, if > 0; inputs are hashed, if there are
/// buckets. An empty vector leaves out its step.
struct Preparation {
  std::vector<double> mean = {};      // of prepared inputs
  std::vector<double> scale = {};     // of prepared inputs
  std::vector<double> fill = {};      // of inputs
  std::vector<int64_t> flagged = {};  // inputs with a flag, ascending
  std::vector<Curve> curves = {};     // of inputs
  std::vector<Curve> targets = {};    // regression targets
  double row_norm = 0;
  Hashing hashing = {};

  /// Whether an input of 0 can become non-zero, so that sparse rows would not stay sparse.
  bool centres() const noexcept;
  /// Whether differences of prepared rows are differences of inputs divided by scale.
  bool is_affine() const noexcept {
    return fill.empty() && curves.empty() && row_norm == 0 && hashing.buckets == 0;
  }
  /// The number of inputs and flags, before hashing: the length of mean and scale.
  int64_t flagged_inputs(int64_t inputs) const noexcept { return inputs + std::ssize(flagged); }
  /// The number of inputs of the map.
  int64_t prepared(int64_t inputs) const noexcept {
    return hashing.buckets > 0 ? hashing.buckets : flagged_inputs(inputs);
  }
  /// The number of original inputs of a model whose map has `of_map`.
  int64_t inputs_of(int64_t of_map) const noexcept {
    return hashing.buckets > 0 ? hashing.inputs : of_map - std::ssize(flagged);
  }
  /// The preparation with prepared inputs divided by `lengthscale`.
  Preparation divided_by(double lengthscale, int64_t inputs) const;
  /// Undoes the preparation of inputs, in place; requires no flags, row norms or buckets.
  void restore_inputs(MatrixView<double> prepared) const noexcept;
  /// Undoes the transform of targets in predictions, in place.
  void restore_targets(MatrixView<double> scores) const noexcept;
};

}  // namespace mercer::model
