// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/median_heuristic.h"

#include "base/aligned.h"
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace mercer::test::lengthscale_test {
namespace {

using Doubles = MatrixView<const double>;

}  // namespace
namespace {

Matrix<double> normals(int64_t n, int64_t d) {
  Matrix<double> X(n, d);
  random::fill_normal(random::Stream(3, random::Tag::generated, 0), 0,
                      std::span<double>(X.data(), n * d));
  return X;
}

}  // namespace

TEST_CASE("median distances equal the reference numbers") {
  Context context;
  const Reference stats = oracle("stats");
  REQUIRE(stats.at("median").size() == 2);
  for (const auto& entry : stats.at("median")) {
    const std::vector<std::vector<double>> rows = entry.at("X");
    Matrix<double> X(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()));
    for (int64_t i = 0; i < X.rows(); ++i)
      std::copy(rows[i].begin(), rows[i].end(), X.view().row(i));
    const double expected = entry.at("median");
    CHECK(kernel::median_heuristic(X.view(), 1000, 0, context) == Approx(expected).epsilon(1e-14));
  }
}

// Drawn pairs are independent and uniform over the pairs, so their median's rank among all pairs is
// 1/2 within DKW's distance.
TEST_CASE("the median of drawn pairs is close to the median of all, and fixed by the seed") {
  const int64_t n = 300;
  const int64_t drawn = 9000;
  const Matrix<double> X = normals(n, 4);
  Context context;
  const double sampled = kernel::median_heuristic(X.view(), drawn, 5, context);
  int64_t below = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 4; ++k) sum += (X(i, k) - X(j, k)) * (X(i, k) - X(j, k));
      below += std::sqrt(sum) <= sampled;
    }
  }
  const double rank = static_cast<double>(below) / (static_cast<double>(n) * (n - 1) / 2);
  CHECK(std::fabs(rank - 0.5) <= ks_threshold(drawn) + 1.0 / drawn);
  CHECK(kernel::median_heuristic(X.view(), drawn, 6, context) != sampled);
  for (const int threads : {1, 2, 7}) {
    Context other;
    other.threads = threads;
    CHECK(kernel::median_heuristic(X.view(), drawn, 5, other) == sampled);
  }
}

TEST_CASE("the limit on pairs is exact: all of them when they just fit") {
  const double X[] = {0, 1, 3, 7};  // distances 1 2 3 4 6 7
  Context context;
  CHECK(kernel::median_heuristic(Doubles{X, 4, 1}, 6, 0, context) == 3.5);
  CHECK(kernel::median_heuristic(Doubles{X, 3, 1}, 3, 0, context) == 2);
}

TEST_CASE("lengthscale errors") {
  using namespace kernel;
  Context context;
  const double equal[] = {2, 2, 2, 2};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, median_heuristic(Doubles{equal, 4, 1}, 100, 0, context),
                "median distance", "is 0");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, median_heuristic(Doubles{equal, 1, 1}, 100, 0, context),
                "X.n = 1", "two");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, median_heuristic(Doubles{equal, 4, 1}, 0, 0, context),
                "max_pairs = 0");
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const double X[] = {1, 2, 3, bad, 5, 6};
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, median_heuristic(Doubles{X, 3, 2}, 100, 0, context),
                  "X: row 1, column 1 is", "finite");
  }
  const double far[] = {-1e200, 1e200};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, median_heuristic(Doubles{far, 2, 1}, 100, 0, context),
                "median distance", "inf");
  Context capped;
  capped.memory_cap = 7;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, median_heuristic(Doubles{far, 2, 1}, 100, 0, capped),
                "memory_cap = 7", "8");
}

}  // namespace mercer::test::lengthscale_test
