// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/rows/central_lengthscale.h"

#include "kernel/lengthscale.h"
#include "model/prepare/row_coding.h"
#include "prepared_by.h"
#include "support/dense.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace mercer::test {
namespace {

constexpr int64_t kNumbers = int64_t{1} << 29;  // as the header says
constexpr int64_t kAll = 499500;                // pairs of 1000 rows

std::vector<int64_t> all_rows(int64_t n) {
  std::vector<int64_t> rows(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Rows of lengths that vary, so that distances do: with d alike columns alone all would be equal.
Matrix<double> spread_rows(int64_t n, int64_t d) {
  Matrix<double> X = random_matrix(n, d, 12);
  for (int64_t i = 0; i < n; ++i) {
    const double length = 0.5 + static_cast<double>(i % 97) / 50;
    for (int64_t j = 0; j < d; ++j) X(i, j) = X(i, j) * length + 3;
  }
  return X;
}

double central(const Matrix<double>& X, uint64_t seed, Context& context) {
  const MatrixView<const double> view = X.view();
  return model::central_lengthscale(test::fit_standardizer(view), view, all_rows(X.rows()), seed,
                                    context);
}

Matrix<double> standardized(const Matrix<double>& X) {
  const auto preparation = test::fit_standardizer(MatrixView<const double>(X.view()));
  Matrix<double> out(X.rows(), X.cols());
  for (int64_t i = 0; i < X.rows(); ++i)
    model::standardize_row(preparation, MatrixView<const double>(X.view()), i, out.view().row(i));
  return out;
}

}  // namespace

TEST_CASE("the numbers compared are bounded whatever the width", "[model]") {
  CHECK(model::median_pairs(100000, 1) == kAll);
  CHECK(model::median_pairs(1000, 1074) == kAll);
  CHECK(model::median_pairs(100, 100000) == 4950);
  CHECK(model::median_pairs(2, 1 << 30) == 1);
  CHECK(model::median_pairs(1, 10) == 0);
  for (const int64_t d : {1075, 10000, 99999, 500000}) {
    CAPTURE(d);
    CHECK(model::median_pairs(3000, d) < kAll);
    CHECK(model::median_pairs(3000, d) * d <= kNumbers);
    CHECK((model::median_pairs(3000, d) + 1) * d > kNumbers);  // and what is allowed is used
  }
  CHECK(model::median_pairs(3000, 100000000) == 1000);
}

TEST_CASE("narrow rows start from the median of all pairs of a sample, as ever", "[model]") {
  const Matrix<double> X = spread_rows(200, 6);
  Context context;
  CHECK(central(X, 3, context) ==
        kernel::median_heuristic(standardized(X).view(), kAll, 3, context));
}

// Drawn pairs are independent, so the rank of their median among all pairs is 1/2 within the
// distance of Dvoretzky, Kiefer and Wolfowitz.
TEST_CASE("wide rows start from a median that drawn pairs estimate", "[model]") {
  const int64_t n = 400, d = 7000;
  const int64_t drawn = model::median_pairs(n, d);
  REQUIRE(drawn < n * (n - 1) / 2);
  const Matrix<double> X = spread_rows(n, d);
  Context context;
  const double found = central(X, 3, context);
  const Matrix<double> rows = standardized(X);
  int64_t below = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < d; ++k) sum += (rows(i, k) - rows(j, k)) * (rows(i, k) - rows(j, k));
      below += std::sqrt(sum) <= found;
    }
  }
  const double rank = static_cast<double>(below) / (static_cast<double>(n) * (n - 1) / 2);
  CHECK(std::fabs(rank - 0.5) <= ks_threshold(drawn) + 1.0 / static_cast<double>(drawn));
  CHECK(central(X, 4, context) != found);
  for (const int threads : {1, 7}) {
    Context other;
    other.threads = threads;
    CHECK(central(X, 3, other) == found);
  }
}

TEST_CASE("drawn pairs take the memory of pairs", "[model]") {
  const Matrix<double> X = spread_rows(200, 27000);
  const MatrixView<const double> view = X.view();
  REQUIRE(model::median_pairs(200, 27000) == 19884);
  Context capped;
  capped.memory_cap = 24 * 19884;
  CHECK(model::central_lengthscale({}, view, all_rows(200), 0, capped) > 0);
  capped.memory_cap -= 1;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                model::central_lengthscale({}, view, all_rows(200), 0, capped),
                "distances of pairs");
}

TEST_CASE("wide rows that are equal, or too far apart to say", "[model]") {
  const int64_t n = 200, d = 27000;
  Matrix<double> X(n, d);
  X.fill(1);
  X(0, 5) = 2;
  Context context;
  CHECK(central(X, 0, context) == std::sqrt(2.0 * static_cast<double>(d)));
  for (int64_t i = 0; i < n; ++i) X(i, 0) = 1e160 * static_cast<double>(i);
  const MatrixView<const double> view = X.view();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                model::central_lengthscale({}, view, all_rows(n), 0, context), "median", "inf");
}

}  // namespace mercer::test
