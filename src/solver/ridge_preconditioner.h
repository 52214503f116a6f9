// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What makes conjugate gradients on ridge converge fast: an approximate inverse of H + n lambda I,
// from some or all of the rows. Private to solver.
#pragma once

#include <memory>
#include <span>

#include "linalg/conjugate_gradient.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

class RidgePreconditioner {
 public:
  virtual ~RidgePreconditioner() = default;
  /// For H + shift_k I in column k.
  virtual linalg::BlockPreconditioner at(std::span<const double> shifts,
                                         Context& context) const = 0;
  /// How much larger than |M^{-1} r| the error A^{-1} r may be: 1 unless a shift is too small for M.
  virtual double looseness(std::span<const double> shifts) const = 0;
  /// An estimate of Tr H (H + shift I)^{-1}.
  virtual double effective_dimension(double shift, Context& context) const = 0;
};

/// By the largest eigenvalues of a sketch of H (Frangella, Tropp, Udell 2023). share: of the weight
/// of all rows in the operator's. Memory: 3 r D numbers for a rank r <= 256.
std::unique_ptr<RidgePreconditioner> make_sketch_preconditioner(const linalg::LinearOperator& H,
                                                                double share, Context& context);
/// By a Cholesky factor of the Gram matrix itself, of single-precision products, or of that of some
/// rows (sketch and precondition; Rudi, Carratino, Rosasco 2017 take the landmarks, Dong, Martinsson
/// 2023 a sparse sketch). Memory: 8 D^2 bytes, and as many for a factor of each shift.
std::unique_ptr<RidgePreconditioner> make_gram_preconditioner(RowStatistics sums, bool center,
                                                              double share);

}  // namespace mercer::solver
