// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear maps: random projections that keep inner products, E Z Z' = variance gamma XX'.
#pragma once

#include <cstdint>
#include <memory>

#include "feature/feature_map.h"

namespace mercer::feature {

// Closed-form variances of estimates of x'y from D columns.

/// The sums over a pair of rows that the variances depend on; over three rows x, y, z the same with
/// y z in place of y y, on which covariances of estimates at (x, y) and (x, z) depend likewise.
struct PairSums {
  double s;       // x'y
  double N;       // ||x||^2 y'z
  double Q;       // sum_k x_k^2 y_k z_k
  double xx = 0;  // ||x||^2
  double yy = 0;  // y'z
  double t = s;   // x'z
};
PairSums pair_sums(int64_t d, const double* x, const double* y) noexcept;
PairSums triple_sums(int64_t d, const double* x, const double* y, const double* z) noexcept;

/// I.i.d. Gaussian entries: (N + s^2)/D.
double gaussian_entries_variance(const PairSums& sums, int64_t D) noexcept;
/// I.i.d. random signs, and CountSketch: (N + s^2 - 2Q)/D.
double rademacher_entries_variance(const PairSums& sums, int64_t D) noexcept;
/// OSNAP is the mean of t = `nonzeros` CountSketches of w or w + 1 columns, where D/t = w + p with
/// p < 1. With v the numerator above its variance is v/t^2 times the sum of 1/width over the
/// sketches, which is v/D (1 + p(1 - p)/(w(w + 1))).
double osnap_variance(const PairSums& sums, int64_t nonzeros, int64_t D) noexcept;
/// SRHT in independent blocks of `padded` columns: with v the numerator above and r = D mod padded,
/// v r (padded - r)/((padded - 1) D^2); whole blocks are exact.
double srht_variance(const PairSums& sums, int64_t padded, int64_t D) noexcept;

/// E a_j^2 of a_j = D z_j(x) z_j(y), one column of D: of random signs N + 2 s^2 - 2 Q; of a
/// CountSketch of w = `columns` buckets that plus (w - 1) Q.
double signs_column_square(const PairSums& sums) noexcept;
double hashed_column_square(const PairSums& sums, int64_t columns) noexcept;

/// In the order of the table in linear.cpp.
enum class LinearProjection { gaussian, rademacher, srht, countsketch, osnap };

struct LinearOptions {
  LinearProjection projection = LinearProjection::gaussian;
  uint64_t seed = 0;
  int64_t nonzeros = 0;  // osnap: non-zeros of every input; 0: 4, or D if that is less
};

/// `kernel` is the polynomial one with degree 1 and offset 0: variance gamma x'y. Errors:
/// UNSUPPORTED (another kernel, non-zeros for another projection), INVALID_ARGUMENT (d or D < 1;
/// too large for the projection; more non-zeros than D).
std::unique_ptr<FeatureMap> make_linear(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const LinearOptions& options);

}  // namespace mercer::feature
