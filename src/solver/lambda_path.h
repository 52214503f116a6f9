// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge weights of the same rows for one lambda after another, by the cheapest route, and what it
// costs.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "base/numbers.h"
#include "solver/block_source.h"
#include "solver/dual_system.h"
#include "solver/ridge.h"

namespace mercer::solver {

class LambdaPath {
 public:
  virtual ~LambdaPath() = default;
  virtual Weights solve(double lambda, Context& context) const = 0;
  /// Weights and Tr H, exact or (by Cholesky) estimated.
  virtual Solution solution(double lambda, Context& context) const = 0;
};

/// One eigendecomposition, then O(D^2) per lambda; below 3 x 8 D^2 bytes while it decomposes.
std::unique_ptr<LambdaPath> make_eigen_path(RowStatistics&& statistics, bool center,
                                            Context& context);
/// A Cholesky factor per lambda, O(D^3 / 3), in a copy of 8 D^2 bytes; the statistics are referred
/// to.
std::unique_ptr<LambdaPath> make_cholesky_path(const RowStatistics& statistics, bool center);
/// The n x n system, for n < D: a Cholesky factor per lambda, O(n^3 / 3).
std::unique_ptr<LambdaPath> make_dual_path(DualSystem system);
/// The n x n system by one eigendecomposition, then O(n (n + D)) per lambda.
std::unique_ptr<LambdaPath> make_dual_eigen_path(DualSystem system, Context& context);

/// Whether the dual form serves: fewer rows than real features, or features that are kernel columns.
bool is_dual(const BlockSource& rows);
/// Reads the features into one n x D matrix: 8 n D + 8 n^2 bytes, for kernel columns 8 n^2.
DualSystem make_dual_system(const BlockSource& rows, bool center, Context& context,
                            const RowsDone& done = {});
/// The least memory of any route to ridge weights: the Gram matrix, or the dual form and a factor.
int64_t least_ridge_bytes(int64_t rows, int64_t features);
/// The memory of the dual form with a kernel's values.
int64_t kernel_ridge_bytes(int64_t rows);

// What a fit by passes over the rows (iterative_path.h) took.

struct SolverRun {
  int64_t iterations = 0;
  double residual = kNaN;  // NaN: there were no passes
  double seconds = kNaN;   // not kept in files
  bool known() const noexcept { return !std::isnan(residual); }
};

// Estimated cost of decompositions of D x D matrices, in rows added to Z'Z (D^2 products each), for
// progress.

/// 10 D^3 products, half of them at the speed of memory.
inline int64_t eigen_rows(int64_t D) noexcept { return 8 * D; }
/// D^3/3 products.
inline int64_t cholesky_rows(int64_t D) noexcept { return D / 3 + 1; }

}  // namespace mercer::solver
