// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variances of linear maps against the reference numbers, which are those of degree 1.
#include "moment/linear_variance.h"

#include <cmath>
#include <vector>

#include "support/catch.h"
#include "support/reference.h"

using namespace mercer;
using namespace mercer::moment;
using test::Reference;

TEST_CASE("linear variances equal the reference numbers") {
  int64_t compared = 0;
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    if (entry["p"] != 1) continue;
    const auto x = entry["x"].get<std::vector<double>>(), y = entry["y"].get<std::vector<double>>();
    const PairSums sums = pair_sums(static_cast<int64_t>(x.size()), x.data(), y.data());
    CHECK(sums.s == Approx(entry["kernel"].get<double>()).epsilon(1e-13));
    double worst = 0;
    const auto compare = [&](double got, const Reference& expected, double scale) {
      worst = std::max(worst, std::fabs(got - expected.get<double>()) / (1e-12 * scale));
      ++compared;
    };
    const Reference& gaussian = entry["single"]["gaussian_real"];
    const Reference& rademacher = entry["single"]["rademacher_real"];
    compare(gaussian_entries_variance(sums, 1), gaussian[0], gaussian[1]);
    compare(rademacher_entries_variance(sums, 1), rademacher[0], rademacher[1]);
    CHECK(rademacher_entries_variance(sums, 8) == rademacher_entries_variance(sums, 1) / 8);
    for (const Reference& at : entry["tensorsrht"]) {
      const Reference& stacked = at["stacked"];
      compare(srht_variance(sums, entry["padded_d"], at["D"]), stacked["real"], stacked["scale"]);
    }
    CAPTURE(entry["x"]);
    CHECK(worst <= 1);
  }
  CHECK(compared == 3 * 7 + 9 * 8);  // two i.i.d. laws, and 5 or 6 values of D
}

TEST_CASE("srht variance: whole blocks and d = 1 are exact, one column is one Rademacher column") {
  const double x[] = {0.3, -1.2, 0.5}, y[] = {1.0, 0.4, 2.0};
  const PairSums sums = pair_sums(3, x, y);
  CHECK(srht_variance(sums, 4, 12) == 0);
  CHECK(srht_variance(sums, 4, 1) == rademacher_entries_variance(sums, 1));
  CHECK(srht_variance(pair_sums(1, x, y), 1, 7) == 0);
}
