// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of inner products: polynomial, bilinear, arc-cosine and sign.
#include "kernel/inner_product.h"
#include "kernel/kernel.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/refusal.h"

namespace mercer::test::inner_product_test {

TEST_CASE("polynomial: symmetric, scaled by variance, negative bases, degree 1 is x'y") {
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

TEST_CASE("polynomial: what its maker refuses") {
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

TEST_CASE("polynomial: the series adds up to the kernel, its properties say the rest") {
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

TEST_CASE("bilinear: the product of the inner products of two parts") {
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

TEST_CASE("bilinear: equal parts give the polynomial of degree 2") {
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

TEST_CASE("bilinear: what it refuses") {
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

namespace {

constexpr double kPi = 3.14159265358979323846;

std::unique_ptr<kernel::Kernel> arc_cosine(int64_t order) {
  return kernel::make_kernel({{"kernel", "arc_cosine"}, {"order", order}});
}
std::unique_ptr<kernel::Kernel> sign() { return kernel::make_kernel({{"kernel", "sign"}}); }

// 2 E[(w'x)_+^n (w'y)_+^n] of unit vectors: in their plane w has a uniform direction and a radius
// of E r^{2n} = 2^n n!; both are positive on an arc of pi - theta. Simpson's rule, 2,000 pieces.
double integrated(int n, double theta) {
  constexpr int kPieces = 2000;
  const double begin = theta - kPi / 2, step = (kPi - theta) / kPieces;
  double sum = 0, radius = 1;
  for (int k = 0; k <= kPieces; ++k) {
    const double a = begin + k * step;
    const double weight = k == 0 || k == kPieces ? 1 : k % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::cos(a) * std::cos(a - theta), n);
  }
  for (int k = 1; k <= n; ++k) radius *= 2 * k;
  return 2 * radius * sum * step / 3 / (2 * kPi);
}

}  // namespace

TEST_CASE("arc-cosine moments are those of the positive parts of normals") {
  for (const double theta : {1e-3, 0.1, 0.9, kPi / 2, 2.2, 3.0}) {
    for (const int n : {0, 1, 2, 4}) {
      INFO("order " << n << ", angle " << theta);
      const double expected = integrated(n, theta);
      CHECK(kernel::arc_cosine_moment(n, {1, 1, theta, kPi - theta}) ==
            Approx(expected).epsilon(1e-11).margin(1e-13));
      CHECK(kernel::arc_cosine_moment(n, {0.5, 3, theta, kPi - theta}) ==
            Approx(std::pow(1.5, n) * expected).epsilon(1e-11).margin(1e-13));
    }
    CHECK(std::isnan(kernel::arc_cosine_moment(3, {1, 1, theta, kPi - theta})));
  }
}

// y = x turned by a small angle, or its opposite: what acos(x'y) cannot see.
TEST_CASE("angles keep their digits at 0 and pi") {
  for (const double angle : {1e-12, 1e-9, 1e-5, 0.3}) {
    const double x[] = {3, 0, 0, 4}, along[] = {0.6, 0, 0, 0.8}, across[] = {-0.8, 0, 0, 0.6};
    double y[4], back[4];
    for (int k = 0; k < 4; ++k) {
      y[k] = 7 * (std::cos(angle) * along[k] + std::sin(angle) * across[k]);
      back[k] = -y[k];
    }
    const kernel::Angle near = kernel::angle_between(4, x, y);
    const kernel::Angle far = kernel::angle_between(4, x, back);
    CHECK(near.x == Approx(5).epsilon(1e-15));
    CHECK(near.y == Approx(7).epsilon(1e-15));
    // Rounding of y moves the angle by up to 2 eps.
    CHECK(near.theta == Approx(angle).epsilon(1e-14).margin(1e-15));
    CHECK(near.rest == Approx(kPi - angle).epsilon(1e-15));
    CHECK(far.rest == Approx(angle).epsilon(1e-14).margin(1e-15));
    CHECK(far.theta == Approx(kPi - angle).epsilon(1e-15));
  }
  const Matrix<double> X = random_matrix(20, 11, 4);
  for (int64_t i = 0; i + 1 < 20; ++i) {
    const auto same = kernel::angle_between(11, X.view().row(i), X.view().row(i));
    CHECK((same.theta == 0 && same.rest == Approx(kPi).epsilon(1e-15)));
    const auto one = kernel::angle_between(11, X.view().row(i), X.view().row(i + 1));
    const auto other = kernel::angle_between(11, X.view().row(i + 1), X.view().row(i));
    CHECK((one.theta == other.theta && one.rest == other.rest));
  }
}

TEST_CASE("arc-cosine and sign: what a row is with itself, its opposite and zeros") {
  const double x[] = {0.5, -1.5, 2}, minus[] = {-0.5, 1.5, -2}, zero[] = {0, 0, 0};
  const double squared = 0.25 + 2.25 + 4;
  for (const int64_t order : {0, 1, 2}) {
    const auto k = arc_cosine(order);
    CHECK(k->value(3, x, x) == Approx(std::pow(squared, order) * (order == 2 ? 3 : 1)));
    CHECK(k->value(3, x, minus) == Approx(0).margin(1e-15));
    CHECK(k->value(3, x, zero) == 0);
    CHECK(k->value(3, zero, zero) == 0);
  }
  CHECK(sign()->value(3, x, x) == Approx(1).epsilon(1e-15));
  CHECK(sign()->value(3, x, minus) == Approx(-1).epsilon(1e-15));
  CHECK(sign()->value(3, x, zero) == 0);
  CHECK(sign()->value(3, zero, zero) == Approx(1).epsilon(1e-15));
}

TEST_CASE("optical: what exponents 2 and 4 are by hand, what is refused") {
  const auto optical = [](int64_t exponent) {
    return kernel::make_kernel({{"kernel", "optical"}, {"exponent", exponent}, {"variance", 2.0}});
  };
  const double x[] = {1, 2, -1}, y[] = {0.5, 1, 3};
  const double s = -0.5, N = 6 * 10.25;
  CHECK(optical(2)->value(3, x, y) == Approx(2 * (N + s * s)).epsilon(1e-14));
  CHECK(optical(4)->value(3, x, y) ==
        Approx(2 * 4 * (N * N + 4 * N * s * s + s * s * s * s)).epsilon(1e-14));
  CHECK(optical(4)->value(3, x, y) == optical(4)->value(3, y, x));
  const double zero[] = {0, 0, 0};
  CHECK(optical(6)->value(3, x, zero) == 0);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, optical(3), "exponent = 3, expected an even");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, optical(18), "exponent = 18");
}

TEST_CASE("arc-cosine and sign: the ends of doubles, and what is no number") {
  for (const double size : {1e-300, 1e-160, 1e160, 1e300}) {
    const double x[] = {size, 0}, y[] = {size, size};
    CHECK(sign()->value(2, x, y) == Approx(0.5).epsilon(1e-14));
    CHECK(arc_cosine(0)->value(2, x, y) == Approx(0.75).epsilon(1e-14));
  }
  const double good[] = {1, 2};
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const double x[] = {bad, 1}, zero[] = {0, 0};
    for (const double* const other : {good, x, zero}) {
      CHECK(std::isnan(sign()->value(2, x, other)));
      for (const int64_t order : {0, 1, 2})
        CHECK(std::isnan(arc_cosine(order)->value(2, x, other)));
    }
  }
}

}  // namespace mercer::test::inner_product_test
