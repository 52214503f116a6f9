// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cholesky factors and the upper trapezoid of an orthogonal factor.
#include "linalg/blas.h"
#include "linalg/orthogonal_factor.h"
#include "support/dense.h"
#include "support/refusal.h"

using namespace mercer;
using test::random_matrix;
using namespace mercer::test;

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// B B' + 0.1 I, full.
Matrix<double> positive_definite(int64_t n) {
  const Matrix<double> B = random_matrix(n, n, 11), Bt = test::transposed(B.view());
  Matrix<double> A = test::product(B.view(), Bt.view());
  for (int64_t i = 0; i < n; ++i) A(i, i) += 0.1;
  return A;
}

Matrix<double> lower_of(const Matrix<double>& L) {
  Matrix<double> clean = test::copy(L.view());
  for (int64_t i = 0; i < L.rows(); ++i)
    for (int64_t j = i + 1; j < L.cols(); ++j) clean(i, j) = 0;
  return clean;
}

}  // namespace

TEST_CASE("Cholesky factor and solves have small residuals", "[linalg]") {
  const int64_t n = GENERATE(0, 1, 2, 31, 200), m = GENERATE(0, 1, 3);
  const Matrix<double> A = positive_definite(n), B = random_matrix(n, m, 12);
  const Matrix<double> L = test::copy(A.view());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) L(i, j) = 7 + static_cast<double>(i);
  REQUIRE(linalg::cholesky(L.view()) == 0);
  const Matrix<double> lower = lower_of(L), upper = test::transposed(lower.view());
  const double norm = test::largest(A.view()), size = static_cast<double>(n);
  const Matrix<double> back = test::product(lower.view(), upper.view());
  CHECK(test::difference(back.view(), A.view(), 30 * size * kEps * norm) == "");
  if (n > 1) CHECK(L(0, n - 1) == 7);

  const Matrix<double> X = test::copy(B.view()), half = test::copy(B.view());
  linalg::cholesky_solve(L.view(), X.view());
  linalg::triangular_solve(L.view(), half.view());
  const Matrix<double> AX = test::product(A.view(), X.view());
  const Matrix<double> Lh = test::product(lower.view(), half.view());
  CHECK(test::difference(AX.view(), B.view(),
                         30 * size * size * kEps * norm * test::largest(X.view())) == "");
  CHECK(test::difference(Lh.view(), B.view(),
                         30 * size * size * kEps * test::largest(lower.view()) *
                             test::largest(half.view())) == "");
}

TEST_CASE("the pivot that is not positive is named, NaN included", "[linalg]") {
  const int64_t n = GENERATE(4, 150);
  for (const int64_t pivot : {int64_t{1}, n / 2, n}) {
    const Matrix<double> A = positive_definite(n);
    A(pivot - 1, pivot - 1) = -1;
    CHECK(linalg::cholesky(A.view()) == pivot);
    const Matrix<double> B = positive_definite(n);
    B(pivot - 1, pivot - 1) = kNan;
    CHECK(linalg::cholesky(B.view()) == pivot);
  }
}

TEST_CASE("Cholesky refuses what is not square", "[linalg]") {
  const Matrix<double> A = random_matrix(3, 4, 1), B = random_matrix(3, 1, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::cholesky(A.view()), "A is 3 x 4");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::cholesky_solve(A.view(), B.view()),
                "L is 3 x 4");
}

TEST_CASE("the upper trapezoid keeps A'A", "[linalg]") {
  Context context;
  for (const auto& [r, D] :
       {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {5, 5}, {20, 33}, {60, 60}}) {
    const Matrix<double> A = random_matrix(r, D, 4), R = copy(A.view());
    linalg::upper_trapezoid(R.view(), context);
    double above = 0, worst = 0;
    for (int64_t j = 0; j < r; ++j)
      for (int64_t l = 0; l < j; ++l) above = std::max(above, std::fabs(R(j, l)));
    const Matrix<double> expected = product(transposed(A.view()).view(), A.view());
    const Matrix<double> got = product(transposed(R.view()).view(), R.view());
    for (int64_t i = 0; i < D * D; ++i)
      worst = std::max(worst, std::fabs(got.data()[i] - expected.data()[i]));
    INFO(r << " x " << D);
    CHECK(above == 0);
    CHECK(worst <= 1e-15 * static_cast<double>(r + D) * static_cast<double>(r));
  }
}

TEST_CASE("the upper trapezoid wants no more rows than columns, and memory", "[linalg]") {
  Context context;
  const Matrix<double> tall = random_matrix(3, 2, 1), wide = random_matrix(2, 3, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::upper_trapezoid(tall.view(), context), "3 x 2");
  context.memory_cap = 1;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, linalg::upper_trapezoid(wide.view(), context), "memory_cap");
}
