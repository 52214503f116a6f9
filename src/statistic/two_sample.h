// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tests of whether two samples are of one distribution, on sums of features over groups of rows.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/numbers.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "linalg/blas.h"
#include "random/distributions.h"

namespace mercer::statistic {

// Scales of two samples taken together: bandwidths that do not depend on the sample that a row
// belongs to keep a permutation test exact.

struct Scales {
  std::vector<double> columns;  // standard deviations, 1 for a constant; all 1 if not wanted
  double euclidean = 1;  // the median distance of rows over these, of pairs that are not equal; 1
  double absolute = 1;   // if there is none; and that of the sums of magnitudes
  bool operator==(const Scales&) const = default;
};

/// The scales of at most 500 rows drawn from all samples together, which have the same columns.
Scales pooled_scales(std::span<const Rows> samples, bool by_column, uint64_t seed,
                     Context& context);

// p-values: from permutations, and from the limit of a null distribution.

/// The most that rounding leaves of the terms of a statistic that is a difference of sums, relative
/// to these.
inline constexpr double kLostInSums = 1e-13;

/// The fewest rows of a sample for the limit of a null distribution: with 8 and 8 rows 13 % of null
/// trials are rejected at 5 %.
inline constexpr int64_t kLeastRowsOfLimit = 20;

/// Values of one statistic: as observed, then after each permutation. Its digits end at `rounding`.
struct PermutationValues {
  std::vector<double> values;
  double rounding = 0;
};

/// (1 + #{permutations that give at least the observed value}) / (1 + permutations): at most alpha
/// with a probability of at most alpha if the observations are exchangeable.
double p_value(const PermutationValues& statistic);

/// The p-value of the largest of several statistics, each standardised by its permuted values, the
/// rows of all permuted together: as exact as that of one.
double p_value_of_largest(std::span<const PermutationValues> statistics);

/// One p-value of several, of whatever dependence, nearly exact where it is small (Liu, Xie 2020).
double combined_p_value(std::span<const double> p_values);

/// P(N(0, 1) > z).
double normal_tail(double z);

/// P(T > z) for T of mean 0, variance 1 and this skewness > 0: a gamma law, shifted and scaled. Sums
/// of weighted chi-squared numbers are nearly of it (Buckley, Eagleson 1988).
double gamma_tail(double z, double skewness);

// Sums of features over random groups of rows. Whoever exchanges whole groups between samples needs
// no row again, so a test costs one pass and memory that does not grow with the rows.

/// `count` groups of `size` rows each; further rows are in none.
struct Grouping {
  int64_t size = 1;
  int64_t count = 0;
};

/// Groups for samples of m and n rows: at most 512, of one row each as long as that is enough. All
/// groups have one size, so that exchanging groups is exchanging rows.
std::pair<Grouping, Grouping> exchangeable_groups(int64_t m, int64_t n);

/// The group of one row after the other, `count` for rows in none: a uniformly drawn one of all
/// partitions of `rows` rows, in O(count) memory and O(log count) time. Drawn, because in sorted
/// rows neighbours are alike.
class GroupDraw {
 public:
  /// rows >= size * count.
  GroupDraw(int64_t rows, const Grouping& grouping, const random::Stream& stream);
  int64_t next();

 private:
  random::Cursor cursor_;
  int64_t left_;
  std::vector<int64_t> tree_;  // Fenwick's, of the room that is left in each group
};

struct GroupSums {
  int64_t rows = 0;  // once all have been added
  Grouping grouping;
  Matrix<double> sums;  // count + 1 rows, the last of rows in no group; D sums, and that of |z|^2

  int64_t features() const { return sums.cols() - 1; }
  std::vector<double> total(Context& context) const;
};

/// Sums over no rows yet of `rows`.
GroupSums empty_sums(int64_t rows, const Grouping& grouping, int64_t features, Context& context);

/// Adds rows, whose groups the draw gives one after the other. The map is real and of one output.
void add_rows(const feature::FeatureMap& map, const Rows& X, GroupDraw draw, GroupSums& to,
              Context& context);

/// Estimates for the covariances C of features in two samples: of tr C_x C_y, and of tr C C C from
/// three independent covariances. Unbiased; NaN for too few groups: two of each, four of one for
/// the third.
struct CovarianceTraces {
  double second, third;
};
CovarianceTraces covariance_traces(const GroupSums& x, const GroupSums& y, Context& context);

/// C += A op(B) in tiles of some tens of milliseconds, between which a call may be cancelled.
void add_product(MatrixView<const double> A, linalg::Transpose op, MatrixView<const double> B,
                 MatrixView<double> C, Context& context);

// The squared maximum mean discrepancy of two samples in feature space (Gretton et al. 2012), from
// the sums of groups of rows.

/// Which groups are in the first sample, as rows of ones and zeros: first those that are, then
/// `permutations` random choices of as many.
Matrix<double> relabellings(const Grouping& x, const Grouping& y, int64_t permutations,
                            uint64_t seed, Context& context);

struct TwoSample {
  double mmd2 = 0;            // unbiased; the mean over pairs in a sample of one row is that row's
  double standard_error = 0;  // of mmd2; NaN with fewer than two groups in a sample
  // mmd2 over its deviation without a difference, over rounding if that is 0; 0 for equal rows.
  double deviations = 0;
  double p_limit = 1;          // by the gamma law with the limit's moments; NaN for few rows
  double effect = 0;           // the part of the features' variance that is between the samples
  PermutationValues permuted;  // mmd2 after relabelling
};

/// relabelled: a row for each assignment of the groups of x, then of y, all of one size; the first
/// row is the assignment as observed.
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
/// The `count` rows of X with the largest values, in descending order; with the smallest,
/// ascending, if sign is -1.
Witness witnesses(const feature::FeatureMap& map, const Rows& X,
                  const std::vector<double>& difference, int64_t count, double sign,
                  Context& context);

}  // namespace mercer::statistic
