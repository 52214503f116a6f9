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
    const std::vector<PartSize> sizes = {{1, 2, 0}, {1, 0, 5}, {0.25, 1, 0}, {2.5, 2, 0}};
    const std::vector<int64_t> features = allot(total, sizes);
    CHECK(std::accumulate(features.begin(), features.end(), int64_t{0}) == total);
    CHECK(features[1] == 5);
    for (const size_t i : {0, 2, 3}) {
      CHECK(features[i] % sizes[i].step == 0);
      CHECK(features[i] >= sizes[i].step);
      // Of the rest of 5 fixed columns and a step each, 5 in all, a part gets its share rounded down to
      // steps, and then a step at most while it has less than its share; the part of step 1 one more,
      // where that alone is left.
      const double share = sizes[i].share / 3.75, beyond = 5 * share;
      const double ideal = static_cast<double>(total - 5) * share;
      const double more = static_cast<double>(features[i]) - ideal;
      const auto step = static_cast<double>(sizes[i].step);
      CHECK(more > -beyond);
      CHECK(more < 2 * step + (sizes[i].step == 1 ? 1 : 0) - beyond);
    }
  }
  CHECK(allot(16, {{1, 2, 0}, {1, 2, 0}}) == std::vector<int64_t>{8, 8});
  CHECK(allot(2048, {{1, 2, 0}, {1, 2, 0}, {1, 2, 0}}) == std::vector<int64_t>{684, 682, 682});
  CHECK(allot(9, {{1, 0, 4}, {1, 0, 5}}) == std::vector<int64_t>{4, 5});
}

TEST_CASE("allotment: totals that cannot be are refused") {
  const auto refused = [](int64_t total, const std::vector<PartSize>& sizes, const char* says) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { allot(total, sizes); }, says);
  };
  CHECK(refused(2, {{1, 2, 0}, {1, 1, 0}}, "features = 2, expected at least 3") == "");
  CHECK(refused(7, {{1, 2, 0}, {1, 2, 0}}, "features = 7, expected 1 less") == "");
  CHECK(refused(8, {{1, 0, 4}, {1, 0, 5}}, "features = 8, expected 9: the inputs") == "");
  CHECK(refused(8, {{1e308, 1, 0}, {1e308, 1, 0}}, "shares add up to inf") == "");
}
