// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How far an approximate Gram matrix is from the exact one, and how far the Gram
// matrix of a map's features is from that of its kernel.
#pragma once

#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"

namespace mercer::statistic {

struct KernelError {
  double relative_frobenius;  // ||approximate - exact||_F / ||exact||_F
  double largest;             // max |approximate - exact|
};

/// NaN in either matrix gives NaN. Errors: DIMENSION_MISMATCH (shapes differ), INVALID_ARGUMENT
/// (empty, or exact is zero).
KernelError kernel_error(MatrixView<const double> approximate, MatrixView<const double> exact);

/// ||Re ZZ^H - K||_F / ||K||_F on the rows of X, dense or sparse doubles. Features are computed
/// kErrorColumns at a time: at most 8 n (2 n + kErrorColumns) bytes, charged. Calls BLAS, so from
/// the calling thread only. Errors: INVALID_ARGUMENT (no rows, a kernel that is 0 on all pairs, an
/// error that is not finite).
inline constexpr int64_t kErrorColumns = 4096;
double measured_error(const feature::FeatureMap& map, const Rows& X, Context& context);

// The kernel error that closed-form variances predict for a map.

/// sqrt(E ||K^ - K||_F^2) / ||K||_F over all n^2 pairs of rows of X, from the map's variance and
/// bias. Errors: UNSUPPORTED (a map without a closed form), INVALID_ARGUMENT (a Gram matrix of
/// zeros).
double predicted_error(const feature::FeatureMap& map, MatrixView<const double> X,
                       Context& context);

}  // namespace mercer::statistic
