// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products against plain loops. Bound: a sum of k products of entries below 1 in magnitude, in any
// order and with or without FMA, is within k(k+1) u of exact (Higham 2002, eq. 3.5), u = eps/2; k
// eps sqrt(k) would be typical.
#include "linalg/blas.h"

#include "support/dense.h"
#include "support/refusal.h"

using namespace mercer;
using linalg::Transpose;
using test::difference;
using test::random_matrix;

namespace {

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

}  // namespace

TEST_CASE("multiply agrees with plain sums for every transpose and shape", "[linalg]") {
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

TEST_CASE("beta = 0 overwrites NaN, float products are float", "[linalg]") {
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

TEST_CASE("rank updates touch the lower triangle only", "[linalg]") {
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

TEST_CASE("multiply_symmetric reads the lower triangle only", "[linalg]") {
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

TEST_CASE("extents beyond 32 bits and wrong shapes are refused", "[linalg]") {
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
                "A is 2 x 3", "expected 1 x 3");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, linalg::rank_update_rows(1, shape, one), "C is 1 x 1",
                "expected 2 x 2");
}
