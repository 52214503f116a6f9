// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of random neurons: angles near 0 and pi, moments against their integral over the plane of
// x and y, rows of zeros, the ends of doubles.
#include "kernel/arc_cosine.h"

#include "kernel/kernel.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace mercer::test {
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

TEST_CASE("arc-cosine moments are those of the positive parts of normals", "[kernel]") {
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
TEST_CASE("angles keep their digits at 0 and pi", "[kernel]") {
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

TEST_CASE("arc-cosine and sign: what a row is with itself, its opposite and zeros", "[kernel]") {
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

TEST_CASE("optical: what exponents 2 and 4 are by hand, what is refused", "[kernel]") {
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

TEST_CASE("arc-cosine and sign: the ends of doubles, and what is no number", "[kernel]") {
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

}  // namespace mercer::test
