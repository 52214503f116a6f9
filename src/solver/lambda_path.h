// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge weights for one lambda after another from the same rows, by whichever route is cheapest for
// their number.
#pragma once

#include <memory>

#include "solver/block_source.h"
#include "solver/dual_system.h"
#include "solver/ridge.h"

namespace mercer::solver {

class LambdaPath {
 public:
  virtual ~LambdaPath() = default;
  virtual Weights solve(double lambda, Context& context) const = 0;
  /// The same with Tr H, exact or (by Cholesky) estimated.
  virtual Solution solution(double lambda, Context& context) const = 0;
};

/// One eigendecomposition, then every lambda in O(D^2); below 3 x 8 D^2 bytes while it decomposes.
std::unique_ptr<LambdaPath> make_eigen_path(RowStatistics&& statistics, bool center,
                                            Context& context);
/// A Cholesky factor per lambda, O(D^3 / 3), of a copy: 8 D^2 bytes besides the statistics, which
/// are referred to.
std::unique_ptr<LambdaPath> make_cholesky_path(const RowStatistics& statistics, bool center);
/// The n x n system, for n < D: a Cholesky factor per lambda, O(n^3 / 3).
std::unique_ptr<LambdaPath> make_dual_path(DualSystem system);
/// The same by one eigendecomposition, then every lambda in O(n (n + D)).
std::unique_ptr<LambdaPath> make_dual_eigen_path(DualSystem system, Context& context);

/// The dual form serves: there are fewer rows than features, or these are a kernel's columns.
bool is_dual(const BlockSource& rows);
/// Reads the rows' features into one n x D matrix, 8 n D + 8 n^2 bytes; of a kernel's columns 8 n^2.
DualSystem make_dual_system(const BlockSource& rows, bool center, Context& context,
                            const RowsDone& done = {});
/// No route to ridge weights from rows takes less: the Gram matrix, or the dual form and a factor.
int64_t least_ridge_bytes(int64_t rows, int64_t features);
/// The dual form of a kernel itself.
int64_t kernel_ridge_bytes(int64_t rows);

}  // namespace mercer::solver
