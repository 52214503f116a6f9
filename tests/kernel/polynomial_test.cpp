// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The polynomial kernel: what its reference numbers (kernel_oracle_test) do not say.
#include <cmath>
#include <limits>

#include "kernel/kernel.h"
#include "support/catch.h"
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
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT,
              [&] { kernel::make_polynomial(degree, gamma, offset, variance); }, part) == "");
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

}  // namespace mercer::test
