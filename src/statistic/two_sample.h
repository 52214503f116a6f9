// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The squared maximum mean discrepancy of two samples in feature space (Gretton et al. 2012), from
// the sums of groups of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "statistic/group_sums.h"
#include "statistic/p_value.h"

namespace mercer::statistic {

/// Which groups are in the first sample, as rows of ones and zeros: first those that are, then
/// `permutations` random choices of as many.
Matrix<double> relabellings(const Grouping& x, const Grouping& y, int64_t permutations,
                            uint64_t seed, Context& context);

struct TwoSample {
  double mmd2 = 0;            // unbiased; the mean over pairs in a sample of one row is that row's
  double standard_error = 0;  // of mmd2; NaN with fewer than two groups in a sample
  // mmd2 over its deviation without a difference, over rounding if that is 0; 0 for equal rows.
  double deviations = 0;
  double p_limit = 1;  // by the gamma law with the limit's moments; NaN for few rows
  double effect = 0;   // the part of the features' variance that is between the samples
  Permuted permuted;   // mmd2 after relabelling
};

/// Unbiased, from the sums alone.
double mmd2(const GroupSums& x, const GroupSums& y, Context& context);

/// relabelled: one row for each way, of the groups of x, then of y, of one size; the first as is.
TwoSample compare_samples(const GroupSums& x, const GroupSums& y,
                          MatrixView<const double> relabelled, Context& context);

/// The mean of mmd2 over pairs of groups, which are independent and of at least two rows: normal
/// for many of them (Zaremba, Gretton, Blaschko 2013), once its skewness is corrected (Hall 1992).
struct BlockMean {
  double mmd2 = 0;
  double standard_error = kNaN;  // NaN for fewer than two blocks
  double p_value = kNaN;         // 1 for equal rows, NaN without a standard error
};
BlockMean compare_blocks(const GroupSums& x, const GroupSums& y, Context& context);

/// The rows where the witness function <phi, mean of x - mean of y> is most of one sign.
struct Witness {
  std::vector<double> rows;  // indices
  std::vector<double> values;
};
/// The difference of mean features.
std::vector<double> mean_difference(const GroupSums& x, const GroupSums& y, Context& context);
/// `count` rows of X, the largest values first; the smallest if sign is -1.
Witness witnesses(const feature::FeatureMap& map, const Rows& X,
                  const std::vector<double>& difference, int64_t count, double sign,
                  Context& context);

}  // namespace mercer::statistic
