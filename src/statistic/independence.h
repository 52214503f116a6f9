// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The Hilbert-Schmidt independence criterion of paired rows in feature space (Gretton et al. 2005):
// the squared norm of the cross-covariance of two maps' features.
#pragma once

#include <cstdint>

#include "feature/feature_map.h"
#include "statistic/two_sample.h"

namespace mercer::statistic {

struct MappedRows {
  const feature::FeatureMap& map;
  const Rows& rows;
};

struct Independence {
  double hsic = 0;             // unbiased; of fewer than four rows the biased one
  double effect = 0;           // over the product of the norms of both covariances: at most about 1
  double p_limit = 1;          // from the gamma law with the moments of the limit; NaN for few rows
  PermutationValues permuted;  // hsic of permuted rows of Y, after the observed value
};

/// Real maps of one output; as many rows of X as of Y. One pass without permutations; with them
/// the features of all rows are kept, and each costs 2 n D_x D_y operations. Permutation b depends
/// on seed and b alone.
Independence independence(const MappedRows& x, const MappedRows& y, int64_t permutations,
                          uint64_t seed, Context& context);

}  // namespace mercer::statistic
