// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of inner products: polynomial and bilinear.
#include "kernel/kernel.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/refusal.h"

namespace mercer::test {

TEST_CASE("polynomial: symmetric, scaled by variance, negative bases, degree 1 is x'y",
          "[kernel]") {
  const Matrix<double> X = random_matrix(30, 13, 5);
  const auto linear = kernel::make_polynomial(1, 1, 0, 1);
  const auto cubic = kernel::make_polynomial(3, 0.5, 0.25, 1);
  const auto loud = kernel::make_polynomial(3, 0.5, 0.25, 2.5);
  int64_t wrong = 0, negative = 0;
  double worst = 0;
  for (int64_t i = 0; i + 1 < 30; ++i) {
    const double* x = X.view().row(i);
    const double* y = X.view().row(i + 1);
    long double s = 0, magnitude = 0;
    for (int64_t k = 0; k < 13; ++k) {
      s += static_cast<long double>(x[k]) * y[k];
      magnitude += std::fabs(static_cast<long double>(x[k]) * y[k]);
    }
    // A sum of 13 products in any order: 14 u sum |x y| (Higham 2002, eq. 3.5).
    const double error =
        static_cast<double>(std::fabs(linear->value(13, x, y) - s) / (14 * 0x1p-53L * magnitude));
    worst = std::max(worst, error);
    wrong += cubic->value(13, x, y) != cubic->value(13, y, x);
    wrong += loud->value(13, x, y) != 2.5 * cubic->value(13, x, y);
    negative += cubic->value(13, x, y) < 0;
  }
  CHECK(worst <= 1);
  CHECK(wrong == 0);
  CHECK(negative > 0);
}

TEST_CASE("polynomial: what its maker refuses", "[kernel]") {
  const auto refuses = [](int64_t degree, double gamma, double offset, double variance,
                          const char* part) {
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, kernel::make_polynomial(degree, gamma, offset, variance),
                  part);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  refuses(0, 1, 0, 1, "degree = 0, expected an integer >= 1 and <= 1024");
  refuses(1025, 1, 0, 1, "degree = 1025");
  for (const double bad : {0.0, -1.0, infinity, std::nan("")}) {
    refuses(2, bad, 0, 1, "gamma = ");
    refuses(2, 1, 0, bad, "variance = ");
  }
  for (const double bad : {-0.5, infinity, std::nan("")}) refuses(2, 1, bad, 1, "offset = ");
}

TEST_CASE("polynomial: the series adds up to the kernel, its properties say the rest", "[kernel]") {
  const auto kernel = kernel::make_polynomial(5, 0.5, 1.5, 2);
  const kernel::PowerSeries* series = kernel->series();
  REQUIRE(series != nullptr);
  REQUIRE(series->degree() == 5);
  CHECK(series->coefficient(-1) == 0);
  CHECK(series->coefficient(6) == 0);
  for (const double s : {-2.0, -0.3, 0.0, 0.7, 3.0}) {
    double sum = 0, magnitude = 0;
    for (int64_t n = 0; n <= 5; ++n) {
      CHECK(series->coefficient(n) > 0);
      sum += series->coefficient(n) * std::pow(s, static_cast<double>(n));
      magnitude += series->coefficient(n) * std::pow(std::fabs(s), static_cast<double>(n));
    }
    const double x[] = {s}, y[] = {1};
    // Six terms of at most 20 roundings each, and those of the kernel.
    CHECK(std::fabs(sum - kernel->value(1, x, y)) <= 40 * 0x1p-53 * magnitude);
  }
  // Without offset one power is left: 2 * 0.5^5.
  const auto plain = kernel::make_polynomial(5, 0.5, 0, 2);
  for (int64_t n = 0; n < 5; ++n) CHECK(plain->series()->coefficient(n) == 0);
  CHECK(plain->series()->coefficient(5) == 0.0625);
  REQUIRE(kernel->inner_power().has_value());
  CHECK(kernel->inner_power()->degree == 5);
  CHECK(kernel->left_inputs() == 0);
  CHECK(kernel::make_laplacian({1}, 1)->series() == nullptr);
  CHECK_FALSE(kernel::make_gaussian({1}, 1)->inner_power().has_value());
  CHECK(kernel::make_bilinear(3, 1)->left_inputs() == 3);
  CHECK(kernel::make_bilinear(3, 1)->inner_power()->degree == 2);
  CHECK(kernel::make_bilinear(3, 1)->series() == nullptr);
}

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
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*kernel::make_bilinear(3, 1), X.view(), X.view(), context, K.view()),
                "d = 3");
}

}  // namespace mercer::test
