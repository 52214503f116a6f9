// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The bilinear kernel: a product of two inner products, what it refuses, copies.
#include <cmath>
#include <limits>

#include "kernel/kernel.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/refusal.h"

namespace mercer::test {

TEST_CASE("bilinear: the product of the inner products of two parts", "[kernel]") {
  const int64_t d = 13;
  const Matrix<double> X = random_matrix(30, d, 5);
  int64_t wrong = 0, negative = 0;
  double worst = 0;
  for (int64_t left = 1; left < d; ++left) {
    const auto unit = kernel::make_bilinear(left, 1);
    const auto loud = kernel::make_bilinear(left, 2.5);
    for (int64_t i = 0; i + 1 < 30; ++i) {
      const double* x = X.view().row(i);
      const double* y = X.view().row(i + 1);
      long double sum[2] = {0, 0}, magnitude[2] = {0, 0};
      for (int64_t k = 0; k < d; ++k) {
        const long double product = static_cast<long double>(x[k]) * y[k];
        sum[k >= left] += product;
        magnitude[k >= left] += std::fabs(product);
      }
      // Two sums of 13 products at most and one product of them: 2 * 14 + 1 roundings of |x1|'|y1|
      // |x2|'|y2| (Higham 2002, eq. 3.5).
      const long double bound = 30 * 0x1p-53L * magnitude[0] * magnitude[1];
      const double value = unit->value(d, x, y);
      worst = std::max(worst, static_cast<double>(std::fabs(value - sum[0] * sum[1]) / bound));
      wrong += value != unit->value(d, y, x);
      wrong += loud->value(d, x, y) != 2.5 * value;
      negative += value < 0;
    }
  }
  CHECK(worst <= 1);
  CHECK(wrong == 0);
  CHECK(negative > 0);
}

TEST_CASE("bilinear: equal parts give the polynomial of degree 2", "[kernel]") {
  const int64_t d = 5;
  const Matrix<double> X = random_matrix(2, d, 9);
  Matrix<double> twice(2, 2 * d);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < 2 * d; ++k) twice(i, k) = X(i, k % d);
  }
  CHECK(kernel::make_bilinear(d, 3)->value(2 * d, twice.view().row(0), twice.view().row(1)) ==
        Approx(kernel::make_polynomial(2, 1, 0, 3)->value(d, X.view().row(0), X.view().row(1)))
            .epsilon(1e-14));
}

TEST_CASE("bilinear: what it refuses", "[kernel]") {
  const auto refused = [](mercer_status status, int64_t left, double variance, int64_t d,
                          const char* part) {
    return refusal_fault(
        status, [&] { kernel::make_bilinear(left, variance)->check_dimension(d); }, part);
  };
  CHECK(refused(MERCER_INVALID_ARGUMENT, 0, 1, 1,
                "left = 0, expected an integer >= 1 and <= 2147483646") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, -4, 1, 1, "left = -4") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, 2147483647, 1, 1, "left = 2147483647") == "");
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK(refused(MERCER_INVALID_ARGUMENT, 1, bad, 2, "variance = ") == "");
  }
  CHECK(refused(MERCER_INVALID_ARGUMENT, 1, 1, 0, "d = 0") == "");
  CHECK(refused(MERCER_DIMENSION_MISMATCH, 3, 1, 3, "d = 3, expected more than the 3 inputs") ==
        "");
  CHECK(refused(MERCER_DIMENSION_MISMATCH, 3, 1, 1, "d = 1") == "");
  CHECK_NOTHROW(kernel::make_bilinear(3, 1)->check_dimension(4));
  // Through a Gram matrix.
  const Matrix<double> X = random_matrix(2, 3, 1);
  Matrix<double> K(2, 2);
  Context context;
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH,
            [&] {
              kernel::gram(*kernel::make_bilinear(3, 1), X.view(), X.view(), context, K.view());
            },
            "d = 3") == "");
}

}  // namespace mercer::test
