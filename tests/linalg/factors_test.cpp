// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// BLAS, Cholesky factors and the upper trapezoid of an orthogonal factor.
#include <dlfcn.h>

#include <atomic>

#include "linalg/blas.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace factors_test {
using namespace mercer;
using test::random_matrix;
using namespace mercer::test;

using linalg::Transpose, test::difference, test::random_matrix;

constexpr double kEps = std::numeric_limits<double>::epsilon();

double product_bound(int64_t k, double eps = kEps) {
  const auto terms = static_cast<double>(k + 2);
  return terms * terms * eps / 2;
}

/// The leading rows x cols part of a larger matrix, so that ld > cols.
template <class T>
MatrixView<T> part(const Matrix<T>& A, int64_t rows, int64_t cols) {
  return A.view().block_rows(0, rows).block_cols(0, cols);
}

Matrix<double> stored(const Matrix<double>& A, bool transposed) {
  return transposed ? test::transposed(A.view()) : test::copy(A.view());
}

TEST_CASE("multiply agrees with plain sums for every transpose and shape") {
  const int64_t m = GENERATE(1, 3, 17), n = GENERATE(1, 2, 9), k = GENERATE(0, 1, 5, 33);
  const bool ta = GENERATE(false, true), tb = GENERATE(false, true);
  const Matrix<double> A = random_matrix(m, k, 1), B = random_matrix(k, n, 2);
  const Matrix<double> C = random_matrix(m + 1, n + 3, 3);
  const Matrix<double> stored_a = stored(A, ta), stored_b = stored(B, tb);
  Matrix<double> expected = test::product(A.view(), B.view());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) expected(i, j) = 0.5 * expected(i, j) - 2 * C(i, j);
  const double outside = C(m, n);
  linalg::multiply(0.5, ta ? Transpose::yes : Transpose::no, stored_a.view(),
                   tb ? Transpose::yes : Transpose::no, stored_b.view(), -2.0, part(C, m, n));
  CAPTURE(m, n, k, ta, tb);
  CHECK(difference(part(C, m, n), expected.view(), 4 * product_bound(k)) == "");
  CHECK(C(m, n) == outside);
}

TEST_CASE("beta = 0 overwrites NaN, float products are float") {
  const int64_t n = GENERATE(1, 4), k = GENERATE(0, 6);
  const Matrix<float> A = random_matrix<float>(5, k, 1), B = random_matrix<float>(k, n, 2);
  Matrix<float> C(5, n);
  C.fill(std::numeric_limits<float>::quiet_NaN());
  linalg::multiply(1.0f, Transpose::no, A.view(), Transpose::no, B.view(), 0.0f, C.view());
  const Matrix<double> wide_a = test::copy(A.view()), wide_b = test::copy(B.view());
  const Matrix<double> expected = test::product(wide_a.view(), wide_b.view());
  const Matrix<double> got = test::copy(C.view());
  CHECK(difference(got.view(), expected.view(),
                   product_bound(k, std::numeric_limits<float>::epsilon())) == "");
}

TEST_CASE("rank updates touch the lower triangle only") {
  const int64_t n = GENERATE(0, 1, 7, 64), d = GENERATE(1, 2, 31);
  const Matrix<double> padded = random_matrix(n, d + 2, 4);
  const MatrixView<double> A = part(padded, n, d);
  const Matrix<double> At = test::transposed(A);
  const bool rows = GENERATE(false, true);
  const int64_t size = rows ? n : d;
  const Matrix<double> before = random_matrix(size, size, 5);
  const Matrix<double> C = test::copy(before.view());
  if (rows) {
    linalg::rank_update_rows(-1.5, A, C.view());
  } else {
    linalg::rank_update(-1.5, A, C.view());
  }
  const Matrix<double> square = rows ? test::product(A, At.view()) : test::product(At.view(), A);
  const Matrix<double> expected = test::copy(before.view());
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j) expected(i, j) -= 1.5 * square(i, j);
  CHECK(difference(C.view(), expected.view(), 4 * product_bound(rows ? d : n)) == "");
}

TEST_CASE("multiply_symmetric reads the lower triangle only") {
  const int64_t n = GENERATE(1, 6, 40), m = GENERATE(1, 3);
  const Matrix<double> S = random_matrix(n, n, 6), B = random_matrix(n, m, 7);
  const Matrix<double> full = test::copy(S.view());
  test::mirror_lower(full.view());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) S(i, j) = std::numeric_limits<double>::quiet_NaN();
  Matrix<double> C(n, m);
  C.fill(1);
  linalg::multiply_symmetric(2.0, S.view(), B.view(), C.view());
  Matrix<double> expected = test::product(full.view(), B.view());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) expected(i, j) = 1 + 2 * expected(i, j);
  CHECK(difference(C.view(), expected.view(), 4 * product_bound(n)) == "");
}

TEST_CASE("extents beyond 32 bits and wrong shapes are refused") {
  double x = 1;
  const int64_t large = int64_t{1} << 31;
  const MatrixView<const double> wide(&x, 1, 1, large), tall(&x, large, 1, 1);
  const MatrixView<double> one(&x, 1, 1, 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED, linalg::rank_update(1, wide, one), "leading dimension",
                "2147483648", "32 bits");
  CHECK_REFUSED(MERCER_UNSUPPORTED, linalg::rank_update(1, tall, one), "rows = 2147483648");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                linalg::multiply(1.0, Transpose::yes, tall, Transpose::no, tall, 0.0, one),
                "inner size = 2147483648");
  const MatrixView<const double> shape(&x, 2, 3, 3);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                linalg::multiply(1.0, Transpose::no, shape, Transpose::no, shape, 0.0, one),
                "multiply: A is 2 x 3", "expected 1 x 3");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::rank_update_rows(1, shape, one),
                "rank_update_rows: C is 1 x 1", "expected 2 x 2");
}

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

TEST_CASE("Cholesky factor and solves have small residuals") {
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

TEST_CASE("the pivot that is not positive is named, NaN included") {
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

TEST_CASE("Cholesky refuses what is not square") {
  const Matrix<double> A = random_matrix(3, 4, 1), B = random_matrix(3, 1, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::cholesky(A.view()), "cholesky: A is 3 x 4");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::cholesky_solve(A.view(), B.view()),
                "triangular solve: L is 3 x 4");
}

TEST_CASE("the upper trapezoid keeps A'A") {
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

TEST_CASE("the upper trapezoid wants no more rows than columns, and memory") {
  Context context;
  const Matrix<double> tall = random_matrix(3, 2, 1), wide = random_matrix(2, 3, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::upper_trapezoid(tall.view(), context), "3 x 2");
  context.memory_cap = 1;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, linalg::upper_trapezoid(wide.view(), context), "memory_cap");
}

std::atomic<int64_t> handed_to_threads{0};

/// In place of OpenBLAS's: counts the steps that wait for other threads.
extern "C" __attribute__((visibility("default"))) int exec_blas(long parts, void* queue) noexcept {
  static const auto real = reinterpret_cast<int (*)(long, void*)>(dlsym(RTLD_NEXT, "exec_blas"));
  if (parts > 1) ++handed_to_threads;
  return real(parts, queue);
}

TEST_CASE("small systems wait for no thread of BLAS") {
  const int64_t n = GENERATE(2, 33, 40, 100, 256);
  CAPTURE(n);
  const Matrix<double> A = random_matrix(n, n, 1), one = random_matrix(n, 1, 2);
  const Matrix<double> x(n, 1), S(n, n);
  S.fill(0);
  for (int64_t i = 0; i < n; ++i) S(i, i) = static_cast<double>(n);
  linalg::rank_update_rows(1.0, A.view(), S.view());
  const Matrix<double> L = copy(S.view());
  Context context;
  std::vector<double> values(n);
  handed_to_threads = 0;
  linalg::symmetric_eigen(S.view(), values, context);
  CHECK(linalg::cholesky(L.view()) == 0);
  linalg::cholesky_solve(L.view(), one.view());
  linalg::cholesky_inverse(L.view());
  for (const Transpose transpose : {Transpose::no, Transpose::yes})
    linalg::multiply(1.0, transpose, A.view(), Transpose::no, one.view(), 0.0, x.view());
  CHECK(handed_to_threads <= (n > 100 ? 8 : 0));  // merges of eigenvectors, which are few
  const Matrix<double> large = random_matrix(300, 300, 3), product(300, 300);
  linalg::multiply(1.0, Transpose::no, large.view(), Transpose::no, large.view(), 0.0,
                   product.view());
  CHECK((handed_to_threads > 0) == (linalg::blas_found().threads > 1));  // they are counted
}

TEST_CASE("Cholesky factors and inverses on one thread agree with plain sums") {
  const int64_t n = GENERATE(1, 31, 32, 33, 65, 255, 256, 257, 341);
  CAPTURE(n);
  const Matrix<double> A = random_matrix(n, n + 3, 1);
  Matrix<double> S(n, n), L(n, n);
  S.fill(0);
  linalg::rank_update_rows(1.0, A.view(), S.view());
  for (int64_t i = 0; i < n; ++i) S(i, i) += static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      L(i, j) = j <= i ? S(i, j) : std::numeric_limits<double>::quiet_NaN();  // not read
  REQUIRE(linalg::cholesky(L.view()) == 0);
  const std::vector<double> diagonal = linalg::cholesky_inverse_diagonal(copy(L.view()).view());
  linalg::cholesky_inverse(L.view());
  for (int64_t i = 0; i < n; ++i) CHECK(diagonal[i] == Approx(L(i, i)).epsilon(1e-12));
  bool untouched = true;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) untouched = untouched && std::isnan(L(i, j));
  CHECK(untouched);
  mirror_lower(S.view());
  mirror_lower(L.view());
  Matrix<double> identity(n, n);
  identity.fill(0);
  for (int64_t i = 0; i < n; ++i) identity(i, i) = 1;
  // The condition is below 10: eigenvalues of AA'/n lie below 4.3, and n is added.
  CHECK(difference(test::product(S.view(), L.view()).view(), identity.view(),
                   10 * static_cast<double>(n) * kEps) == "");
}

TEST_CASE("the pivot that is not positive is named in every block") {
  const int64_t n = 100, bad = GENERATE(0, 31, 32, 70, 99);
  Matrix<double> A(n, n);
  A.fill(0);
  for (int64_t i = 0; i < n; ++i) A(i, i) = i == bad ? -1 : 1;
  CHECK(linalg::cholesky(A.view()) == bad + 1);
}

TEST_CASE("a large Cholesky factor is that of its steps, which can be stopped") {
  constexpr int64_t n = 2100;
  const Matrix<double> Z = test::random_matrix(n, 3, 7), A(n, n), L(n, n);
  A.fill(0);
  linalg::rank_update_rows(1, Z.view(), A.view());
  for (int64_t i = 0; i < n; ++i) A(i, i) += 2;
  std::copy_n(A.data(), n * n, L.data());
  Context context;
  REQUIRE(linalg::cholesky(L.view(), context) == 0);
  double worst = 0;
  for (const int64_t i : {0L, 511L, 512L, 1024L, 2047L, n - 1})
    for (int64_t j = 0; j <= i; ++j) {
      const auto length = static_cast<size_t>(j + 1);
      const double product = linalg::dot({&L(i, 0), length}, {&L(j, 0), length});
      worst = std::max(worst, std::abs(product - A(i, j)));
    }
  CHECK(worst <= 1e-12);
  std::copy_n(A.data(), n * n, L.data());
  L(1500, 1500) = -1;
  CHECK(linalg::cholesky(L.view(), context) == 1501);
  context.cancel();
  CHECK_REFUSED(MERCER_CANCELLED, linalg::cholesky(A.view(), context));
}

}  // namespace factors_test
