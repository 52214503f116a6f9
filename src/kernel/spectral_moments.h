// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrix moments of the spectral law of a smooth shift-invariant kernel, as derivatives of the
// kernel: what operator-valued kernels and their variances are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix_view.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

/// A(omega) = curl omega omega' + divergence (||omega||^2 I - omega omega'): (1, 0) is curl-free,
/// (0, 1) divergence-free.
struct FieldParts {
  double curl;
  double divergence;
  FieldParts squared() const noexcept { return {curl * curl, divergence * divergence}; }
};

/// S := (curl - divergence) S + divergence tr(S) I: from S = E omega omega' g(omega) to
/// E A(omega) g(omega).
void to_field(const FieldParts& parts, MatrixView<double> S) noexcept;

/// UNSUPPORTED unless the kernel is the Gaussian, the only one for operator-valued kernels.
void require_smooth(const Kernel& kernel);

/// tau = x - y; amplitude included. The kernel is referred to.
class SpectralMoments {
 public:
  /// Errors: those of require_smooth and Kernel::check_dimension. Memory: d^2 multi-indices.
  SpectralMoments(const Kernel& kernel, int64_t d);

  int64_t inputs() const noexcept { return d_; }
  /// E omega_i omega_j cos(omega'tau) = -d_i d_j k(tau).
  double second(int64_t i, int64_t j, const double* x, const double* y) const noexcept;
  /// O(d^2) for gaussian, else O(d^3).
  void second(const double* x, const double* y, MatrixView<double> S) const noexcept;
  /// S = E ||omega||^2 omega omega' cos(omega'tau) = sum_l d_l^2 d_i d_j k(tau). O(d^2) for
  /// gaussian, else O(d^4).
  void fourth(const double* x, const double* y, MatrixView<double> S) const;

 private:
  void gaussian_fourth(const double* x, const double* y, MatrixView<double> S) const noexcept;
  const Kernel& kernel_;
  int64_t d_;
  double slope(int64_t i, const double* x, const double* y) const noexcept {
    return (x[i] - y[i]) * precision_[i];
  }

  std::vector<MultiIndex> pairs_;  // d_i d_j, i <= j, row by row
  std::vector<double> precision_;  // gaussian: 1/l^2
  double trace_ = 0;               // the sum of precision_
};

}  // namespace mercer::kernel
