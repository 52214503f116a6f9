// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Algorithms 4 and 5 of Wacker, Kanagawa, Filippone 2022, "Improved random features for dot product
// kernels": each column goes to the degree whose variance it lowers most, which is optimal because
// variances are convex in the number of columns; that of blocks of d dependent columns is not, and
// gives way to the surrogate of appendix D.1.
#include "feature/degree_allotment.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"

namespace mercer::feature {
namespace {

int64_t count_sketched(const DegreeCosts& costs, int64_t p) {
  return std::count(costs.sketched.begin(), costs.sketched.begin() + p, true);
}

}  // namespace

double DegreeAllotment::error() const noexcept {
  return std::accumulate(variance.begin(), variance.end(), bias.back());
}

double degree_variance(const DegreeCosts& costs, int64_t n, int64_t D) noexcept {
  const double V = costs.error.variance[n - 1], C = costs.error.covariance[n - 1];
  const auto columns = static_cast<double>(D), block = static_cast<double>(costs.block);
  const double variance =
      C > 0 || columns > block ? (V + (block - 1) * C) / columns : (V - C) / columns + C;
  return std::max(variance, 0.0);  // whole blocks are exact at degree 1, up to rounding
}

DegreeAllotment allot_degrees(const DegreeCosts& costs, int64_t p, int64_t total) {
  const std::vector<double>& bias = costs.error.bias;
  DegreeAllotment made{std::vector<int64_t>(p, 0),
                       std::vector<double>(p, 0.0),
                       {bias.begin() + 1, bias.begin() + p + 1}};
  std::vector<double> gain(p, -1.0);  // of one more column
  const auto give = [&](int64_t n) {
    const int64_t D = ++made.columns[n - 1];
    made.variance[n - 1] = degree_variance(costs, n, D);
    gain[n - 1] = made.variance[n - 1] - degree_variance(costs, n, D + 1);
  };
  for (int64_t n = 1; n <= p; ++n)
    if (costs.sketched[n - 1]) give(n);
  for (int64_t left = total - count_sketched(costs, p); left > 0; --left) {
    int64_t best = 0;
    for (int64_t n = 1; n <= p; ++n)
      if (costs.sketched[n - 1] && (best == 0 || gain[n - 1] > gain[best - 1])) best = n;
    give(best);
  }
  return made;
}

DegreeAllotment best_allotment(const DegreeCosts& costs, int64_t least, int64_t most,
                               int64_t total) {
  std::optional<DegreeAllotment> best;
  for (int64_t p = least; p <= most; ++p) {
    const int64_t sketched = count_sketched(costs, p);
    if (sketched > total || (sketched == 0 && total > 0)) continue;
    DegreeAllotment own = allot_degrees(costs, p, total);
    if (!best || own.error() < best->error()) best = std::move(own);
  }
  require(best.has_value(), MERCER_INVALID_ARGUMENT,
          "%ld columns for degrees 1 to %ld, of which %ld have coefficients > 0, expected at least "
          "one for each, and degrees for all columns",
          total, least, count_sketched(costs, least));
  return std::move(*best);
}

}  // namespace mercer::feature
