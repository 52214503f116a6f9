// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gamma, chi square, chi and Student t against Boost's distribution functions.
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/gamma.hpp>

#include "samplers.h"
#include "support/catch.h"
#include "support/statistic.h"

namespace gamma_test {
using namespace mercer::random;
using namespace mercer::test;

constexpr size_t kCount = 100000;

template <class Draw>
std::vector<double> repeat(uint64_t index, Draw one) {
  Cursor cursor(test_stream(index));
  std::vector<double> out(kCount);
  for (double& x : out) x = one(cursor);
  return out;
}

TEST_CASE("gamma: distribution, mean and variance") {
  constexpr double kShapes[] = {0.05, 0.5, 1.0, 7.3, 200.0};
  constexpr double kComparisons = 3.0 * std::size(kShapes);
  for (const double shape : kShapes) {
    INFO("shape " << shape);
    const auto sample =
        repeat(20, [shape](Cursor& cursor) { return mercer::random::gamma(cursor, shape); });
    const boost::math::gamma_distribution<double> law(shape);
    CHECK(ks_distance(sample, [&](double x) { return cdf(law, x); }) <
          ks_threshold(kCount, kFailure, kComparisons));
    const double z = z_threshold(kFailure, kComparisons);
    CHECK(std::abs(mean_z_score(sample, shape, shape)) < z);
    // (x - shape)^2 is too skewed below for the normal limit at this count.
    const double fourth = 3 * shape * shape + 6 * shape;
    if (shape >= 0.5) CHECK(std::abs(variance_z_score(sample, shape, shape, fourth)) < z);
  }
}

TEST_CASE("gamma: tiny and huge shapes stay numbers") {
  Cursor cursor(test_stream(21));
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const double tiny = mercer::random::gamma(cursor, 1e-4);
    const double huge = mercer::random::gamma(cursor, 1e12);
    // sd of huge is 1e6: 50 of them bound it for any correct sampler.
    wrong += !(tiny >= 0.0 && tiny < 100.0) || !(std::abs(huge - 1e12) < 5e7);
  }
  CHECK(wrong == 0);
}

TEST_CASE("chi_squared and chi: distribution") {
  constexpr double kDegrees[] = {0.7, 3.0, 64.0};
  constexpr double kComparisons = 2.0 * std::size(kDegrees);
  for (const double degrees : kDegrees) {
    INFO("degrees " << degrees);
    const boost::math::chi_squared_distribution<double> law(degrees);
    const auto square = repeat(22, [=](Cursor& cursor) { return chi_squared(cursor, degrees); });
    const auto root = repeat(23, [=](Cursor& cursor) { return chi(cursor, degrees); });
    const double threshold = ks_threshold(kCount, kFailure, kComparisons);
    CHECK(ks_distance(square, [&](double x) { return cdf(law, x); }) < threshold);
    CHECK(ks_distance(root, [&](double x) { return cdf(law, x * x); }) < threshold);
  }
}

}  // namespace gamma_test
