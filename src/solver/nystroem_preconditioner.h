// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A preconditioner for H + shift I, H positive semi-definite and known by its products, whose
// eigenvalues fall fast: H's largest ones from a random sketch (Frangella, Tropp, Udell 2023).
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "linalg/linear_operator.h"

namespace mercer::solver {

class NystroemPreconditioner {
 public:
  /// `rank` products with H at once; 3 r rank numbers while it is made, then r rank, and rank^2.
  /// O(r rank^2) beside the products. seed: of the sketch, which changes speed, not solutions.
  NystroemPreconditioner(const linalg::LinearOperator& H, int64_t rank, uint64_t seed,
                         Context& context);
  /// Kept: eigenvalues that rounding has not made.
  int64_t rank() const noexcept { return static_cast<int64_t>(eigenvalues_.size()); }
  const std::vector<double>& eigenvalues() const noexcept { return eigenvalues_; }

  /// R becomes P^{-1} R, P^{-1} = (l + shift) U (diag(eigenvalues) + shift)^{-1} U' + I - UU', l
  /// the least eigenvalue kept.
  void apply(double shift, MatrixView<double> R) const;

 private:
  Matrix<double> basis_;  // U', by rows
  std::vector<double> eigenvalues_;
};

}  // namespace mercer::solver
