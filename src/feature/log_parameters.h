// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives in a kernel's own parameters from derivatives in inputs.
#pragma once

#include <span>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/feature_map.h"

namespace mercer::feature {

/// Features of a stationary kernel see x_k / l_k alone, so that with pulled = dL/dX of the same
/// rows (Derivatives::pull_back)
///   gradient[k] = dL / d log l_k = -sum_i X(i, k) pulled(i, k).
/// X may be in units of the lengthscales (then the map's own is 1) or not: the products are the
/// same. X and pulled are n x d, gradient has d entries. Sums in double, rows ascending. For one
/// lengthscale shared by all inputs, add them up.
template <class T>
void log_lengthscale_gradient(MatrixView<const T> X, MatrixView<const T> pulled,
                              std::span<double> gradient) noexcept {
  for (double& sum : gradient) sum = 0;
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t k = 0; k < X.cols; ++k) {
      gradient[k] -= static_cast<double>(X(i, k)) * static_cast<double>(pulled(i, k));
    }
  }
}

/// A capability: derivatives in lengthscales of maps whose features depend on them by more than
/// x/l.
class LengthscaleSlopes {
 public:
  virtual ~LengthscaleSlopes() = default;
  /// UNSUPPORTED where this kernel, or what was learnt, has none.
  virtual void require_lengthscale_slopes() const = 0;
  /// each[k] = dL / d log l_k, one for each input, G and L as for Derivatives::pull_back.
  virtual void pull_back_to_lengthscale(MatrixView<const float> X, MatrixView<const float> G,
                                        Context& context, std::span<double> each) const = 0;
  virtual void pull_back_to_lengthscale(MatrixView<const double> X, MatrixView<const double> G,
                                        Context& context, std::span<double> each) const = 0;
};

/// How many parameters of the kernel the features can be differentiated in: its lengthscales; of a
/// polynomial kernel gamma and offset. UNSUPPORTED if there is none (a kernel without, or a map made
/// from given numbers, such as supplied frequencies), or if features are neither those of x/l
/// (FeatureMap::is_of_scaled_inputs) nor have lengthscale_slopes().
int64_t log_parameter_count(const FeatureMap& map);

/// dL / d log of these, one number each, with the draws held fixed; G and L as for
/// Derivatives::pull_back; in log offset 0 where that is 0. Works in blocks of rows, with d numbers
/// for each row, of polynomial kernels also its features. Errors: those of pull_back and
/// log_parameter_count, DIMENSION_MISMATCH.
template <class T>
void pull_back_to_log_parameters(const FeatureMap& map, MatrixView<const T> X,
                                 MatrixView<const T> G, Context& context,
                                 std::span<double> gradient);

}  // namespace mercer::feature
