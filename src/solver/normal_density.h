// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A normal density of d variables: its logarithm with derivatives, and draws.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"

namespace mercer::solver {

/// N(m, LL'): log q(x) = -1/2 (x - m)'P(x - m) - sum_j log L_jj - d/2 log 2 pi, P = (LL')^{-1}.
/// Several threads may ask one object.
class NormalDensity {
 public:
  /// The mean and the covariance, lower triangle, of which only the diagonal is kept if `diagonal`.
  /// INVALID_ARGUMENT for a variable that is constant or, up to rounding, a combination of those
  /// before it.
  NormalDensity(std::vector<double> mean, Matrix<double> covariance, bool diagonal);
  /// From numbers(). INVALID_ARGUMENT unless they are those of `inputs` variables.
  static NormalDensity of(std::span<const double> numbers, int64_t inputs);

  int64_t inputs() const noexcept { return std::ssize(mean_); }
  double log_density(const double* x) const noexcept;
  /// d log q / dx_k.
  double slope(int64_t k, const double* x) const noexcept;
  /// d^2 log q / dx_k dx_l, the same for every x.
  double curvature(int64_t k, int64_t l) const noexcept { return -precision_(k, l); }
  /// Makes a draw of d independent N(0, 1) variables one of this density, in place.
  void from_standard(double* z) const noexcept;
  /// m, then L row by row with zeros above its diagonal.
  std::vector<double> numbers() const;

 private:
  NormalDensity(std::vector<double> mean, Matrix<double> factor);

  std::vector<double> mean_;
  Matrix<double> factor_;     // L
  Matrix<double> precision_;  // P, both triangles
  double log_scale_;          // sum_j log L_jj + d/2 log 2 pi
};

}  // namespace mercer::solver
