// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Streams that differ in one bit of seed, tag, index or position are uncorrelated, in value and in
// square.
#include <cmath>

#include "samplers.h"
#include "support/catch.h"
#include "support/statistic.h"

using namespace mercer::random;
using namespace mercer::test;

namespace {

constexpr size_t kCount = 200000;
constexpr double kPairs = 6;

std::vector<double> normals(const Stream& stream, uint64_t first = 0) {
  std::vector<double> out(kCount);
  fill_normal(stream, first, out);
  return out;
}

/// x y and (x^2 - 1)(y^2 - 1) have mean 0, variance 1 and 4 for independent normals.
void check_independent(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> products(kCount), squares(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    products[i] = x[i] * y[i];
    squares[i] = (x[i] * x[i] - 1) * (y[i] * y[i] - 1);
  }
  const double z = z_threshold(kFailure, 2 * kPairs);
  CHECK(std::abs(mean_z_score(products, 0, 1)) < z);
  CHECK(std::abs(mean_z_score(squares, 0, 4)) < z);
}

}  // namespace

TEST_CASE("streams: neighbours are independent", "[random]") {
  const Stream base(7, Tag::frequency, 0);
  const auto x = normals(base);
  check_independent(x, normals(Stream(7, Tag::frequency, 1)));
  check_independent(x, normals(Stream(7, Tag::phase, 0)));
  check_independent(x, normals(Stream(8, Tag::frequency, 0)));
  check_independent(x, normals(Stream(7 + (uint64_t{1} << 32), Tag::frequency, 0)));
  check_independent(x, normals(base, 1));  // the neighbouring variate
  check_independent(x, normals(base, 2));  // the neighbouring block
}
