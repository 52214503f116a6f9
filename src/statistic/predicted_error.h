// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a map is expected to miss of its kernel on given rows, by its closed-form variance, and
// which sketch misses least.
#pragma once

#include <cstdint>
#include <memory>

#include "feature/feature_map.h"

namespace mercer::statistic {

/// E ||K^ - K||_F / ||K||_F in the root mean square over all n^2 pairs of rows of X, from
/// map.variance and map.bias: what the estimate is expected to miss. Errors: UNSUPPORTED (a map
/// without a closed form), INVALID_ARGUMENT (a Gram matrix of zeros).
double predicted_error(const feature::FeatureMap& map, MatrixView<const double> X,
                       Context& context);

/// The real sketch of D columns with the lowest predicted error on the rows of X: every mixing
/// with fields real and complex_to_real (D even), plain. The first in order of cost wins ties.
struct Recommendation {
  std::unique_ptr<feature::FeatureMap> map;
  double predicted_error;
};
Recommendation recommend_sketch(const kernel::Kernel& kernel, int64_t D, uint64_t seed,
                                MatrixView<const double> X, Context& context);

}  // namespace mercer::statistic
