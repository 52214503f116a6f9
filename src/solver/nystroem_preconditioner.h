// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A preconditioner for H + shift I from the largest eigenvalues of a random sketch of H, which is
// positive semi-definite with a fast spectral decay (Frangella, Tropp, Udell 2023).
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "linalg/conjugate_gradient.h"

namespace mercer::solver {

class NystroemPreconditioner {
 public:
  /// H is r x r; one product with `rank` columns. Memory: 3 r rank + rank^2 numbers, afterwards
  /// r rank. O(r rank^2) beside the product. The sketch's seed changes speed, not solutions.
  NystroemPreconditioner(const linalg::LinearOperator& H, int64_t rank, uint64_t seed,
                         Context& context);
  /// Eigenvalues above rounding error.
  int64_t rank() const noexcept { return static_cast<int64_t>(eigenvalues_.size()); }
  const std::vector<double>& eigenvalues() const noexcept { return eigenvalues_; }

  /// R := P^{-1} R, P^{-1} = (l + shift) U (diag(eigenvalues) + shift)^{-1} U' + I - UU', l the
  /// least eigenvalue kept.
  void apply(double shift, MatrixView<double> R) const;

 private:
  Matrix<double> basis_;  // U', by rows
  std::vector<double> eigenvalues_;
};

}  // namespace mercer::solver
