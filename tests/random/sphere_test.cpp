// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Uniform directions: unit length, and squared coordinates of law Beta(1/2, (d-1)/2).
#include <boost/math/special_functions/beta.hpp>

#include "samplers.h"
#include "support/catch.h"
#include "support/statistic.h"

using namespace mercer::random;
using namespace mercer::test;

TEST_CASE("direction: unit length, coordinates of the sphere's law, signs even", "[random]") {
  constexpr size_t kDimensions[] = {2, 3, 10, 33};
  constexpr size_t kCount = 50000;
  constexpr double kComparisons = 4.0 * std::size(kDimensions);
  for (const size_t d : kDimensions) {
    INFO("d = " << d);
    Cursor cursor(test_stream(30));
    std::vector<double> first, last, product, signs, v(d);
    double worst = 0.0;
    for (size_t i = 0; i < kCount; ++i) {
      direction(cursor, v);
      double square = 0.0;
      for (const double x : v) square += x * x;
      worst = std::max(worst, std::abs(square - 1.0));
      first.push_back(v[0] * v[0]);
      last.push_back(v[d - 1] * v[d - 1]);
      product.push_back(v[0] * v[d - 1]);
      signs.push_back(v[0] < 0 ? -1.0 : 1.0);
    }
    // Each of d squares, d sums, the root and the quotient rounds once: 2 (d + 2) eps / 2, squared
    // again.
    CHECK(worst < 2.0 * static_cast<double>(d + 4) * 0x1p-52);
    const auto law = [d](double x) {
      return boost::math::ibeta(0.5, 0.5 * static_cast<double>(d - 1), x);
    };
    CHECK(ks_distance(first, law) < ks_threshold(kCount, kFailure, kComparisons));
    CHECK(ks_distance(last, law) < ks_threshold(kCount, kFailure, kComparisons));
    const double z = z_threshold(kFailure, kComparisons);
    CHECK(std::abs(studentised_z_score(product, 0.0)) < z);
    CHECK(std::abs(mean_z_score(signs, 0.0, 1.0)) < z);
  }
}

TEST_CASE("direction: d = 1 is a sign, d = 0 nothing; blocks are consumed by size", "[random]") {
  Cursor cursor(test_stream(31));
  int plus = 0, minus = 0;
  for (int i = 0; i < 100; ++i) {
    double x = 0.0;
    direction(cursor, {&x, 1});
    plus += x == 1.0;
    minus += x == -1.0;
  }
  CHECK(plus + minus == 100);
  CHECK(plus > 0);
  CHECK(minus > 0);
  CHECK(cursor.position() == 100);
  direction(cursor, {});
  CHECK(cursor.position() == 100);
  std::vector<double> v(5);
  direction(cursor, v);
  CHECK(cursor.position() == 103);
}
