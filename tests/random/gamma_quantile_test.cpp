// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Quantiles of gamma and Poisson laws.
#include "random/scalar_math.h"

#include <boost/math/special_functions/gamma.hpp>

#include "random/sampler_table.h"
#include "samplers.h"
#include "support/catch.h"

namespace gamma_quantile_test {
using mercer::random::GammaQuantile;
using namespace mercer::random;
using namespace mercer::test;

const double kShapes[] = {1e-3, 0.02, 0.3,  0.5,   0.999, 1.0, 1.5, 2.5, 7.0,
                          9.5,  30.0, 1000, 9999., 1e4,   3e4, 1e6, 1e9};

/// From both ends to the middle: tails down to the least u of point_in_cell.
std::vector<double> masses() {
  std::vector<double> all = {0x1p-54, 0.5};
  for (double u = 0.49; u > 1e-15; u *= 0.6) all.push_back(u);
  return all;
}

/// The error of x in units of x itself: what is wrong about the mass, over the density.
double relative_error(double shape, double x, long double wrong_mass) {
  const long double density =
      boost::math::gamma_p_derivative(static_cast<long double>(shape), static_cast<long double>(x));
  return static_cast<double>(std::fabs(wrong_mass / density / x));
}

double bound(double shape) { return 1e-12 + 1e-14 / shape; }

TEST_CASE("gamma quantile: its distribution function is u") {
  for (const double shape : kShapes) {
    const GammaQuantile quantile(shape);
    double worst = 0;
    for (const double u : masses()) {
      const double x = quantile.lower(u), y = quantile.upper(u);
      REQUIRE((x >= 0 && y > 0 && std::isfinite(y)));
      if (x > 1e-290) {
        const long double mass = boost::math::gamma_p<long double, long double>(shape, x);
        worst = std::max(worst, relative_error(shape, x, mass - u));
      }
      const long double mass = boost::math::gamma_q<long double, long double>(shape, y);
      worst = std::max(worst, relative_error(shape, y, mass - u));
    }
    INFO("shape " << shape << ", worst " << worst);
    CHECK(worst < bound(shape));
  }
}

TEST_CASE("gamma quantile: rises with u, across every change of method") {
  for (const double shape : kShapes) {
    const GammaQuantile quantile(shape);
    double last = -1, fallen = 0;
    for (int i = 1; i < 4000; ++i) {
      const double x = quantile.lower(i / 4000.0);
      if (!(x >= last)) ++fallen;
      last = x;
    }
    INFO("shape " << shape);
    CHECK(fallen == 0);
    CHECK(quantile.lower(0.25) == quantile.upper(0.75));
  }
}

TEST_CASE("gamma quantile: shape 1 is the exponential, shapes beyond all bounds stay finite") {
  const GammaQuantile exponential(1);
  for (const double u : masses())
    CHECK(exponential.upper(u) == Approx(-std::log(u)).epsilon(1e-14));
  for (const double shape : {1e-300, 1e-20, 1e20, 1e300}) {
    const GammaQuantile quantile(shape);
    for (const double u : {0x1p-54, 0.3, 0.7, 1 - 0x1p-53}) {
      INFO("shape " << shape << ", u " << u);
      CHECK(std::isfinite(quantile.lower(u)));
      CHECK(quantile.lower(u) >= 0);
    }
  }
}

TEST_CASE("gamma quantile: log gamma") {
  double worst = 0;
  for (double a = 1e-8; a < 1e12; a *= 1.37) {
    const double exact = static_cast<double>(std::lgamma(static_cast<long double>(a)));
    const double error = std::fabs(mercer::random::portable_log_gamma(a) - exact);
    worst = std::max(worst, error / (1 + std::fabs(exact)));
  }
  CHECK(worst < 1e-14);
}

// Only an alarm, as in addressing_test: low-discrepancy maps of isotropic kernels are made of
// these.
TEST_CASE("gamma quantile: change alarm") {
  std::vector<double> seen;
  for (const double shape : kShapes) {
    const GammaQuantile quantile(shape);
    for (const double u : masses()) {
      seen.push_back(quantile.lower(u));
      seen.push_back(quantile.upper(u));
    }
  }
  CHECK(mercer::random::fnv1a(seen) == 0xdf22182d0bfd6780u);
}

double below(double k, double mean) {
  double sum = 0;
  for (double i = 0; i <= k; ++i) sum += std::exp(i * std::log(mean) - mean - std::lgamma(i + 1));
  return sum;
}

TEST_CASE("poisson: the quantile is the least integer that reaches u") {
  for (const double mean : {1e-4, 0.3, 1.0, 2.5, 17.0, 100.0, 700.0}) {
    for (double u = 0.0005; u < 1; u += 0.00999) {
      const double k = poisson_quantile(u, mean);
      INFO("mean " << mean << ", u " << u);
      CHECK(k == std::floor(k));
      CHECK(below(k, mean) >= u - 1e-10);
      CHECK((k == 0 || below(k - 1, mean) < u + 1e-10));
    }
  }
}

TEST_CASE("poisson: the ends of the unit interval") {
  CHECK(poisson_quantile(0x1p-54, 1.0) == 0);
  CHECK(poisson_quantile(std::exp(-1.0) * 1.0000001, 1.0) == 1);
  const double last = poisson_quantile(1 - 0x1p-53, 1.0);
  CHECK(last >= 15);
  CHECK(last <= 20);
  CHECK(poisson_quantile(1 - 0x1p-53, 700.0) < 1000);
}

TEST_CASE("poisson: the same bytes everywhere") {
  std::vector<double> u(4096);
  fill_uniform(test_stream(31), 0, u);
  for (size_t i = 0; i < u.size(); ++i)
    u[i] = poisson_quantile(u[i], 0.01 * static_cast<double>(i + 1));
  CHECK(fnv1a(u) == 0x52e45e83f7bf1132u);
}

}  // namespace gamma_quantile_test
