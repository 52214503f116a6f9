// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights are numbers of rows in medians; row losses of scores that are not numbers.
#include "model/estimator/target_units.h"

#include <cmath>

#include "model/select/row_loss.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

TEST_CASE("weighted medians are those of repeated numbers", "[model][units]") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto count = static_cast<int64_t>(1 + seed % 9);
    const Matrix<double> random = random_matrix(count, 2, seed);
    std::vector<Weighed> weighed, repeated;
    for (int64_t i = 0; i < count; ++i) {
      const double value = std::round(4 * random(i, 0)), times = std::ceil(2 + 2 * random(i, 1));
      weighed.push_back({value, times});
      for (int c = 0; c < static_cast<int>(times); ++c) repeated.push_back({value, 1});
    }
    CAPTURE(seed);
    CHECK(median(weighed) == median(repeated));
    CHECK(robust_scale(weighed) == robust_scale(repeated));
  }
  std::vector<Weighed> none, even = {{3, 1}, {1, 1}, {10, 1}, {2, 1}};
  CHECK(median(none) == 0);
  CHECK(median(even) == 2.5);
}

TEST_CASE("units of weighted targets are those of repeated ones", "[model][units]") {
  const double y[] = {0, 1, 7, 30}, weights[] = {1, 2, 3, 0};
  const double repeated[] = {0, 1, 1, 7, 7, 7}, z[] = {1, 1, 1, 1, 1, 1};
  Context context;
  const TargetUnits found =
      robust_units(MatrixSource({z, 4, 1}, {y, 4, 1}, 2, false, {weights, weights + 4}), context);
  const TargetUnits expected =
      robust_units(MatrixSource({z, 6, 1}, {repeated, 6, 1}, 2, false), context);
  CHECK(found.median[0] == 4);
  CHECK(found.median == expected.median);
  CHECK(found.scale == expected.scale);
}

TEST_CASE("a row with a NaN score is wrong, whichever class it is of", "[model][loss]") {
  const double code[] = {0, 1, 0};
  for (int64_t k = 0; k < 3; ++k) {
    double scores[] = {0.1, 0.9, 0.2};
    CHECK(margin(scores, code, 3) == 0.9 - 0.2);
    scores[k] = std::nan("");
    CAPTURE(k);
    CHECK(std::isnan(margin(scores, code, 3)));
    CHECK(soft_error(margin(scores, code, 3)) == 1);
  }
}
