// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gamma, chi square, chi and Student t against Boost's distribution functions.
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "samplers.h"
#include "support/catch.h"
#include "support/statistic.h"

using namespace mercer::random;
using namespace mercer::test;

namespace {

constexpr size_t kCount = 100000;

template <class Draw>
std::vector<double> repeat(uint64_t index, Draw one) {
  Cursor cursor(test_stream(index));
  std::vector<double> out(kCount);
  for (double& x : out) x = one(cursor);
  return out;
}

}  // namespace

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

TEST_CASE("student_t: components are t, the mean square is F(3, degrees)") {
  constexpr double kDegrees[] = {1.0, 3.0, 5.0, 40.0};
  constexpr size_t kVectors = 20000;
  constexpr double kComparisons = 4.0 * std::size(kDegrees);
  for (const double degrees : kDegrees) {
    INFO("degrees " << degrees);
    std::vector<double> component[3], mean_square;
    Cursor cursor(test_stream(24));
    for (size_t i = 0; i < kVectors; ++i) {
      double t[3];
      student_t(cursor, degrees, t);
      for (int k = 0; k < 3; ++k) component[k].push_back(t[k]);
      mean_square.push_back((t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) / 3);
    }
    const double threshold = ks_threshold(kVectors, kFailure, kComparisons);
    const boost::math::students_t_distribution<double> law(degrees);
    const boost::math::fisher_f_distribution<double> ratio(3.0, degrees);
    for (const auto& sample : component) {
      CHECK(ks_distance(sample, [&](double x) { return cdf(law, x); }) < threshold);
    }
    CHECK(ks_distance(mean_square, [&](double x) { return cdf(ratio, x); }) < threshold);
  }
}

TEST_CASE("student_t: consumes the blocks of its chi square and its normals") {
  Cursor vector(test_stream(26)), alone(test_stream(26));
  for (const size_t d : {1, 2, 3, 8, 9}) {
    std::vector<double> t(d), z(d);
    student_t(vector, 3.0, t);
    const double square = chi_squared(alone, 3.0);
    fill_normal(alone.stream(), 2 * alone.position(), z);
    alone.skip((d + 1) / 2);
    INFO("d = " << d);
    CHECK(vector.position() == alone.position());
    CHECK(t[d - 1] == Approx(z[d - 1] / std::sqrt(square / 3.0)).epsilon(1e-14));
  }
}

TEST_CASE("student_t: finite for degrees whose chi square underflows") {
  Cursor cursor(test_stream(25));
  int wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    double t[4];
    student_t(cursor, 1e-3, t);
    for (const double x : t) wrong += !std::isfinite(x);
  }
  CHECK(wrong == 0);
}
