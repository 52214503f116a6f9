// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How the features of a sum are shared out.
#include "feature/allotment.h"

#include <cmath>
#include <numeric>

#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;
using feature::allot;
using feature::PartSize;

TEST_CASE("allotment: all of the features, in steps, each part near its share") {
  for (int64_t total = 12; total < 200; ++total) {
    const std::vector<PartSize> sizes = {{1, 2, 2}, {1, 5, 0}, {0.25, 1, 1}, {2.5, 2, 2}};
    const std::vector<int64_t> features = allot(total, sizes);
    CHECK(std::accumulate(features.begin(), features.end(), int64_t{0}) == total);
    CHECK(features[1] == 5);
    for (const size_t i : {0, 2, 3}) {
      CHECK(features[i] % sizes[i].step == 0);
      CHECK(features[i] >= sizes[i].step);
      // Of the rest, 10 less than the total, a part gets its share down to a step, then at most
      // what such roundings leave: 2 + 1 + 2, or less than a step for each.
      const double ideal = static_cast<double>(total - 10) * sizes[i].share / 3.75;
      const double own = static_cast<double>(features[i] - sizes[i].least);
      CHECK(own > ideal - static_cast<double>(sizes[i].step));
      CHECK(own < ideal + 5);
    }
  }
  CHECK(allot(16, {{1, 2, 2}, {1, 2, 2}}) == std::vector<int64_t>{8, 8});
  CHECK(allot(2048, {{1, 2, 2}, {1, 2, 2}, {1, 2, 2}}) == std::vector<int64_t>{684, 682, 682});
  // A least number that is no multiple of the step: that of a sum with a part of three columns.
  CHECK(allot(13, {{1, 5, 2}, {1, 2, 2}}) == std::vector<int64_t>{9, 4});
  CHECK(allot(9, {{1, 4, 0}, {1, 5, 0}}) == std::vector<int64_t>{4, 5});
}

TEST_CASE("allotment: totals that cannot be are refused") {
  const auto refused = [](int64_t total, const std::vector<PartSize>& sizes, const char* says) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { allot(total, sizes); }, says);
  };
  CHECK(refused(2, {{1, 2, 2}, {1, 1, 1}}, "features = 2, expected at least 3") == "");
  CHECK(refused(7, {{1, 2, 2}, {1, 2, 2}}, "features = 7, expected 1 less") == "");
  CHECK(refused(8, {{1, 4, 0}, {1, 5, 0}}, "features = 8, expected 9: the inputs") == "");
  CHECK(refused(8, {{1e308, 1, 1}, {1e308, 1, 1}}, "shares add up to inf") == "");
}
