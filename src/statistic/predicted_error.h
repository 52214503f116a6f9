// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernel error that closed-form variances predict for a map, and the sketch for which it is
// least.
#pragma once

#include <cstdint>
#include <memory>

#include "feature/feature_map.h"

namespace mercer::statistic {

/// sqrt(E ||K^ - K||_F^2) / ||K||_F over all n^2 pairs of rows of X, from the map's variance and
/// bias. Errors: UNSUPPORTED (a map without a closed form), INVALID_ARGUMENT (a Gram matrix of
/// zeros).
double predicted_error(const feature::FeatureMap& map, MatrixView<const double> X,
                       Context& context);

/// The real sketch of D columns with the lowest predicted error on the rows of X, among all kinds
/// with fields real and complex_to_real (D even), not composed. The first in order of cost wins
/// ties.
struct Recommendation {
  std::unique_ptr<feature::FeatureMap> map;
  double predicted_error;
};
Recommendation recommend_sketch(const kernel::Kernel& kernel, int64_t D, uint64_t seed,
                                MatrixView<const double> X, Context& context);

}  // namespace mercer::statistic
