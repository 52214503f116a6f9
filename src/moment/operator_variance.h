// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// E (K~ - K)^2, a p x p matrix, of operator-valued random features with F i.i.d. frequencies (SPEC
// section 8).
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "kernel/spectral_moments.h"

namespace mercer::moment {

/// Variance of K~ = (1/F) sum_j cos(omega_j'tau) A(omega_j), A as FieldParts says:
///   (M(0) + M(2 tau))/(2F) - K(tau)^2/F,  M(t) = E cos(omega't) A(omega)^2.
class FieldVariance {
 public:
  /// `total` = 0 is the unbounded form: omega from the kernel's spectral density. Otherwise the
  /// bounded form: omega from a density proportional to ||omega||^2 times it, A over ||omega||^2
  /// times `total` = E ||omega||^2, and M = total E cos(omega't) A(omega)^2/||omega||^2.
  FieldVariance(const kernel::Kernel& kernel, const kernel::FieldParts& parts, double total,
                int64_t d, int64_t F);
  void at(const double* x, const double* y, MatrixView<double> out);

 private:
  void add_moment(const double* x, const double* y, MatrixView<double> out);

  kernel::SpectralMoments moments_;
  kernel::FieldParts parts_;
  double amplitude_;
  double total_;
  double F_;
  Matrix<double> K_;
  std::vector<double> doubled_;  // 2 tau, and 0
};

}  // namespace mercer::moment
