// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels on circles: their laws against Bessel functions and powers, values by the Fourier series of
// these, closed forms of splines, periods. And tanimoto by counts. Values of all are compared with
// reference numbers in kernel_test.cpp.
#include "kernel/kernel.h"
#include "spec/json.h"
#include "support/catch.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace mercer::test::periodic_test {
namespace {

constexpr double kTurn = 6.28318530717958647693;

std::unique_ptr<kernel::Kernel> made(const std::string& spec) {
  return kernel::make_kernel(spec::parse_object(spec));
}
std::unique_ptr<kernel::Kernel> periodic(double width) {
  return kernel::make_kernel({{"kernel", "periodic"}, {"width", width}});
}
std::unique_ptr<kernel::Kernel> spline(int64_t order) {
  return kernel::make_kernel({{"kernel", "spline"}, {"order", order}});
}
double at(const kernel::Kernel& kernel, double t) {
  const double origin = 0;
  return kernel.value(1, &t, &origin);
}
/// N of the law's coordinate 2 pi N at this quantile.
double number(const kernel::Kernel& kernel, double u) {
  return std::rint(kernel.spectral_law()->quantile(u) / kTurn);
}

/// P(N = n), n = 0, 1, ..., 4000.
std::vector<double> bessel(double width) {
  const double c = 1 / (width * width);
  std::vector<double> mass;
  for (int n = 0; n <= 4000; ++n)
    mass.push_back(n < 20 + 12 / width ? std::exp(-c) * std::cyl_bessel_i(n, c) : 0);
  return mass;
}
std::vector<double> power(int64_t q) {
  const double whole = 1 + 2 * std::riemann_zeta(static_cast<double>(q));
  std::vector<double> mass{1 / whole};
  for (int n = 1; n <= 4000; ++n) mass.push_back(std::pow(n, -static_cast<double>(q)) / whole);
  return mass;
}

struct Lattice {
  std::shared_ptr<const kernel::Kernel> kernel;
  std::vector<double> mass;
};
std::vector<Lattice> lattices() {
  std::vector<Lattice> all;
  for (const double width : {0.1, 0.5, 1.0, 7.0}) all.push_back({periodic(width), bessel(width)});
  for (const int64_t q : {2, 3, 4, 7, 32}) all.push_back({spline(q), power(q)});
  return all;
}

}  // namespace

TEST_CASE("laws on lattices: quantiles change where the probabilities add up") {
  for (const Lattice& one : lattices()) {
    INFO(mercer::print_object(one.kernel->parameters()));
    double upto = 0.5 * one.mass[0];  // P(0 <= N), half of it at 0
    CHECK(number(*one.kernel, 0.5) == 0);
    for (int n = 0; n < 2000 && upto < 0.5 - 1e-6; upto += one.mass[++n]) {
      const double below = upto - 1e-10, above = upto + 1e-10;
      CHECK(number(*one.kernel, 0.5 + below) == n);
      CHECK(number(*one.kernel, 0.5 - below) == -n);
      CHECK(number(*one.kernel, 0.5 + above) == n + 1);
      CHECK(number(*one.kernel, 0.5 - above) == -n - 1);
    }
  }
}

TEST_CASE("laws on lattices: far tails of splines") {
  for (const int64_t q : {2, 3, 5}) {
    const auto kernel = spline(q);
    const double s = static_cast<double>(q), whole = 1 + 2 * std::riemann_zeta(s);
    for (const double u : {1e-5, 1e-7, 1e-9, 1e-12}) {
      const double n = -number(*kernel, u);
      if (n < 100) continue;
      // An integral by the midpoint rule, right to s^2/(24 n^2); of far n rounding is more than a step.
      const auto above = [&](double m) { return std::pow(m + 0.5, 1 - s) / (s - 1) / whole; };
      INFO("order " << q << ", u = " << u << ", n = " << n);
      const double error = s * s / (n * n) + 1e-14;
      CHECK(above(n) <= u * (1 + error));
      CHECK(above(n - 1) >= u * (1 - error));
    }
  }
}

TEST_CASE("kernels on circles are the Fourier series of their laws") {
  for (const Lattice& one : lattices()) {
    if (one.mass.back() > 1e-18) continue;  // of low order, whose series is not finished
    INFO(mercer::print_object(one.kernel->parameters()));
    for (const double t : {0.0, 1e-3, 0.11, 0.25, 0.4, 0.5}) {
      double sum = one.mass[0];
      for (size_t n = 1; n < one.mass.size(); ++n)
        sum += 2 * one.mass[n] * std::cos(kTurn * static_cast<double>(n) * t);
      CHECK(at(*one.kernel, t) == Approx(sum).margin(1e-14));
    }
  }
}

TEST_CASE("splines of even order are Bernoulli polynomials, of odd order Clausen's functions") {
  const double pi = kTurn / 2;
  for (const double t : {0.0, 1e-9, 0.03, 0.2, 1.0 / 3, 0.5}) {
    const double two = pi * pi * (1.0 / 6 - t + t * t);
    const double four =
        -std::pow(pi, 4) / 3 * (std::pow(t, 4) - 2 * std::pow(t, 3) + t * t - 1.0 / 30);
    CHECK(at(*spline(2), t) == Approx((1 + 2 * two) / (1 + pi * pi / 3)).margin(1e-15));
    CHECK(at(*spline(4), t) == Approx((1 + 2 * four) / (1 + std::pow(pi, 4) / 45)).margin(1e-15));
  }
  // sum cos(pi n)/n^q = -(1 - 2^{1-q}) zeta(q), sum cos(pi n/2)/n^q that divided by 2^q.
  for (int64_t q = 2; q <= 32; ++q) {
    const double s = static_cast<double>(q), zeta = std::riemann_zeta(s),
                 half = -(1 - std::pow(2, 1 - s)) * zeta;
    CHECK(at(*spline(q), 0.5) == Approx((1 + 2 * half) / (1 + 2 * zeta)).margin(1e-15));
    CHECK(at(*spline(q), 0.25) ==
          Approx((1 + 2 * half * std::pow(2, -s)) / (1 + 2 * zeta)).margin(1e-15));
  }
}

TEST_CASE("kernels on circles: periods, one for all inputs or one for each; ends of ranges") {
  const double x[] = {0.3, -1.2, 0.7}, y[] = {0.1, 0.4, -0.2};
  for (const char* const rest :
       {R"("kernel":"periodic","width":0.7)", R"("kernel":"spline","order":5)"}) {
    INFO(rest);
    const std::string begin = std::string("{") + rest + ",\"period\":";
    const auto each = made(begin + "[2,0.5,8]}"), one = made(begin + "2}");
    const double u[] = {0.3 + 2 * 2, -1.2 - 3 * 0.5, 0.7 + 8};
    CHECK(each->value(3, u, y) == Approx(each->value(3, x, y)).epsilon(1e-13));
    double product = 1;
    for (int j = 0; j < 3; ++j) {
      const double scaled[] = {x[j] * 2 /
                               (j == 0   ? 2
                                : j == 1 ? 0.5
                                         : 8)},
                   origin[] = {y[j] * 2 /
                               (j == 0   ? 2
                                : j == 1 ? 0.5
                                         : 8)};
      product *= one->value(1, scaled, origin);
    }
    CHECK(each->value(3, x, y) == Approx(product).epsilon(1e-13));
    CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, each->check_dimension(2), "3 numbers");
    // Whole numbers are multiples of the period 2 or half of it, as large as they may be.
    CHECK(at(*one, 1e300) == 1);
    CHECK(at(*one, 0x1p52 + 1) == Approx(at(*one, 1)).epsilon(1e-15));
    CHECK(std::isnan(at(*one, std::nan(""))));
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, made(begin + "0}"), "period = 0");
  }
  // Of width 1e-3 nearly the Gaussian of that deviation; of a large one nearly constant.
  CHECK(at(*periodic(1e-3), 1e-3 / kTurn) == Approx(std::exp(-0.5)).epsilon(1e-6));
  CHECK(at(*periodic(1e-3), 0.5) == 0);
  CHECK(at(*periodic(1e100), 0.5) == 1);
  CHECK(number(*periodic(1e100), 1e-16) == 0);
  CHECK(std::fabs(number(*periodic(1e-3), 1e-12)) < 1e4);
}

TEST_CASE(
    "splines: two derivatives make one of two orders less, difference quotients the odd ones") {
  // L(t) - 1 is a sum of cosines over n^q: -L'' / (2 pi)^2 is that of q - 2.
  const auto whole = [](int64_t q) { return 1 + 2 * std::riemann_zeta(static_cast<double>(q)); };
  for (const int64_t q : {4, 5, 8, 9, 16, 31, 32}) {
    const auto kernel = spline(q), lower = spline(q - 2);
    REQUIRE(kernel->most_derivatives() == q - 2);
    for (const double t : {-0.41, -1e-9, 0.0, 1e-4, 0.1, 0.3, 0.5}) {
      INFO("order " << q << ", t = " << t);
      const double origin = 0, square = kTurn * kTurn;
      const auto slope = [&](int64_t m, double s) {
        return kernel->derivative({{0, m}}, 1, &s, &origin);
      };
      const double expected = -square * (whole(q - 2) * at(*lower, t) - 1) / whole(q);
      CHECK(slope(2, t) == Approx(expected).epsilon(1e-12).margin(1e-13 * square));
      for (int64_t m = 3; m <= q - 2; m += 2) {
        const double h = 1e-4, size = std::pow(kTurn, static_cast<double>(m));
        if (m > 7 || std::fabs(t) < 0.05) continue;
        const double quotient = (8 * (slope(m - 1, t + h) - slope(m - 1, t - h)) -
                                 (slope(m - 1, t + 2 * h) - slope(m - 1, t - 2 * h))) /
                                (12 * h);
        CHECK(std::fabs(slope(m, t) - quotient) <= 1e-8 * size);
      }
    }
  }
  const auto each = made(R"({"kernel":"spline","order":6,"period":[2,3,5],"variance":1.5})");
  const double x[] = {0.3, -1.2, 0.7}, y[] = {0.1, 0.4, -0.2};
  double gradient[] = {1, 1, 1};
  each->add_gradient(2, 3, x, y, gradient);
  for (int64_t k = 0; k < 3; ++k)
    CHECK(gradient[k] == Approx(1 + 2 * each->derivative({{k, 1}}, 3, x, y)).epsilon(1e-13));
}

TEST_CASE("splines are the reference numbers") {
  const Reference& values = oracle("ridge")["spline"];
  REQUIRE(values.size() == 6);
  for (const Reference& one : values) {
    const auto q = one["q"].get<int64_t>();
    const double x = one["x"], z = one["z"];
    const auto kernel =
        kernel::make_kernel({{"kernel", "spline"},
                             {"order", q},
                             {"variance", 1 + 2 * std::riemann_zeta(static_cast<double>(q))}});
    CHECK(kernel->value(1, &x, &z) == Approx(one["Lambda"].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("tanimoto: shares of what rows have in common, whatever their size") {
  const auto kernel = made(R"({"kernel":"tanimoto","variance":2})");
  // 1 - scipy.spatial.distance.jaccard of the same rows: 2 of 5.
  const double a[] = {1, 0, 1, 1, 0, 0, 1, 0, 0}, b[] = {1, 0, 0, 1, 1, 0, 0, 0, 0}, zero[9] = {};
  CHECK(kernel->value(9, a, b) == 2 * 2.0 / 5);
  CHECK(kernel->value(9, a, a) == 2);
  CHECK(kernel->value(9, a, zero) == 0);
  CHECK(kernel->value(9, zero, zero) == 2);
  const double weights[] = {0.5, 3, 0, 1.25}, others[] = {1.5, 2, 4, 0};
  CHECK(kernel->value(4, weights, others) == Approx(2 * 2.5 / 9.75).epsilon(1e-15));
  for (const double unit : {0x1p1020, 0x1p-1060}) {
    double large[4], larger[4];
    for (int j = 0; j < 4; ++j) large[j] = unit * weights[j], larger[j] = unit * others[j];
    CHECK(kernel->value(4, large, larger) == kernel->value(4, weights, others));
  }
  const double below[] = {1, -1e-300}, inside[] = {1, 1};
  CHECK(std::isnan(kernel->value(2, below, inside)));
  CHECK(std::isnan(kernel->value(2, inside, below)));
}

TEST_CASE("inputs on circles are finite where differences or quotients overflow") {
  for (const char* spec :
       {R"({"kernel":"periodic","period":0.3})", R"({"kernel":"spline","order":4,"period":0.3})"}) {
    const auto kernel = made(spec);
    const double x[] = {1e308}, y[] = {-1e308}, near[] = {1};
    double slope[] = {0};
    CHECK(std::isfinite(kernel->value(1, x, y)));
    CHECK(std::isfinite(kernel->value(1, x, near)));
    CHECK(kernel->value(1, x, x) == kernel->value(1, near, near));
    kernel->add_gradient(1, 1, x, y, slope);
    CHECK(std::isfinite(slope[0]));
  }
}

}  // namespace mercer::test::periodic_test
