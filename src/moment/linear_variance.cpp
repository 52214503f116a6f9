// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// E (w'x w'y)^2 by fourth moments of the entries (Wacker, Kanagawa, Filippone 2022, Theorems 3.1
// and 3.4 at degree 1). CountSketch with m buckets: x'y plus, over k < l, [h(k) = h(l)] s_k s_l
// (x_k y_l + x_l y_k), uncorrelated terms of mean 0 and E [h(k) = h(l)] = 1/m: the variance of m
// columns of signs. OSNAP is the mean of s independent ones. SPEC's stacked formula v/D - c/D^2
// v/(d - 1), c = floor(D/d) d (d - 1) + r(r - 1), is v/D^2 (D - floor(D/d) d - r(r - 1)/(d - 1)) =
// v/D^2 r (d - r)/(d - 1), which does not cancel.
#include "moment/linear_variance.h"

#include <algorithm>

namespace mercer::moment {
namespace {

// sum over k < l of (x_k y_l + x_l y_k)^2 in another form: negative by rounding only. std::max in
// this order keeps a NaN.
double rademacher_column_variance(const PairSums& sums) noexcept {
  return std::max(sums.N + sums.s * sums.s - 2 * sums.Q, 0.0);
}

}  // namespace

PairSums pair_sums(int64_t d, const double* x, const double* y) noexcept {
  double s = 0, xx = 0, yy = 0, Q = 0;
  for (int64_t k = 0; k < d; ++k) {
    const double product = x[k] * y[k];
    s += product;
    xx += x[k] * x[k];
    yy += y[k] * y[k];
    Q += product * product;
  }
  return {s, xx * yy, Q, xx, yy};
}

double gaussian_entries_variance(const PairSums& sums, int64_t D) noexcept {
  return (sums.N + sums.s * sums.s) / static_cast<double>(D);
}

double rademacher_entries_variance(const PairSums& sums, int64_t D) noexcept {
  return rademacher_column_variance(sums) / static_cast<double>(D);
}

double osnap_variance(const PairSums& sums, int64_t nonzeros, int64_t D) noexcept {
  const auto w = static_cast<double>(D / nonzeros);
  const double p = static_cast<double>(D % nonzeros) / static_cast<double>(nonzeros);
  return rademacher_entries_variance(sums, D) * (1 + p * (1 - p) / (w * (w + 1)));
}

double signs_column_square(const PairSums& sums) noexcept {
  return sums.N + 2 * (sums.s * sums.s - sums.Q);
}

// Entries are random signs times bits that are 1 with probability 1/w: w^2 (Q/w + (N + 2 s^2 - 3
// Q)/w^2).
double hashed_column_square(const PairSums& sums, int64_t columns) noexcept {
  return signs_column_square(sums) + static_cast<double>(columns - 1) * sums.Q;
}

double srht_variance(const PairSums& sums, int64_t padded, int64_t D) noexcept {
  const int64_t left = D % padded;
  if (left == 0) return 0;
  const auto d = static_cast<double>(padded);
  const auto r = static_cast<double>(left);
  const auto columns = static_cast<double>(D);
  return rademacher_column_variance(sums) * (r / columns) * ((d - r) / (d - 1)) / columns;
}

}  // namespace mercer::moment
