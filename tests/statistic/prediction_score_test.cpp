// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/prediction_score.h"

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace mercer;
using statistic::accuracy;
using statistic::r_squared;

TEST_CASE("R^2 by hand, leading dimensions, outputs that do not vary", "[statistic]") {
  // First output: residual 1 + 0 + 1 = 2 about deviations 4 + 0 + 4 = 8; second: 0 of 2.
  const double Y[] = {1, 5, 9, 3, 6, 9, 5, 7, 9}, f[] = {2, 5, 3, 6, 4, 7};
  CHECK(r_squared({Y, 3, 2, 3}, {f, 3, 2}) == (0.75 + 1) / 2);
  // The third output of Y is constant and is left out.
  const double g[] = {2, 5, 0, 3, 6, 0, 4, 7, 0};
  CHECK(r_squared({Y, 3, 3}, {g, 3, 3}) == (0.75 + 1) / 2);
  CHECK(std::isnan(r_squared({Y, 1, 3}, {g, 1, 3})));
  CHECK(r_squared({Y, 3, 1, 3}, {Y, 3, 1, 3}) == 1);
}

TEST_CASE("R^2 of far targets, and of predictions that are not finite", "[statistic]") {
  const double far[] = {1e9, 1e9 + 1, 1e9 + 2}, close[] = {1e9, 1e9 + 1, 1e9 + 1};
  CHECK(r_squared({far, 3, 1}, {close, 3, 1}) == 0.5);
  const double tenths[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};  // their mean, summed, is not 0.1
  CHECK(std::isnan(r_squared({tenths, 7, 1}, {tenths, 7, 1})));
  const double missing[] = {NAN, 0, 0};
  CHECK(std::isnan(r_squared({far, 3, 1}, {missing, 3, 1})));
}

TEST_CASE("accuracy: the first of equals, and numbers that are no class", "[statistic]") {
  const double scores[] = {0, 1, 1, 9, 3, 2, 1, 9, 0, 0, 5, 9}, Y[] = {1, 0, 2};
  CHECK(accuracy({Y, 3, 1}, {scores, 3, 3, 4}) == 1);
  const double wrong[] = {2, -1, 2};
  CHECK(accuracy({wrong, 3, 1}, {scores, 3, 3, 4}) == 1.0 / 3);
  const double none[] = {NAN, 0.5, 7};
  CHECK(accuracy({none, 3, 1}, {scores, 3, 3, 4}) == 0);
  CHECK(std::isnan(accuracy({Y, 0, 1}, {scores, 0, 3})));
  // NaN is no score: the row is wrong wherever it stands, also for the class 0 in front.
  const double broken[] = {NAN, 0, 1, 1, NAN, 0, 2, 1, 0, 1, 0, NAN}, zeros[] = {0, 0, 0, 0};
  CHECK(accuracy({zeros, 4, 1}, {broken, 4, 3}) == 0.25);
}

TEST_CASE("R^2: rows of weight 0 count for nothing, wherever they stand", "[statistic]") {
  const double Y[] = {1e15, 1, 2, 4}, f[] = {NAN, 1, 3, 4}, w[] = {0, 1, 2, 1};
  CHECK(r_squared({Y, 4, 1}, {f, 4, 1}, w) == r_squared({Y + 1, 3, 1}, {f + 1, 3, 1}, {w + 1, 3}));
  const double same[] = {7, 0.1, 0.1, 0.1};
  CHECK(std::isnan(r_squared({same, 4, 1}, {same, 4, 1}, w)));
  // A target of NaN was not observed; a prediction of NaN is wrong.
  const double lost[] = {1, 1, NAN, 2, 3, 3}, found[] = {1, 1, 9, 2, 3, 3};
  CHECK(r_squared({lost, 3, 2}, {found, 3, 2}) == 1);
  CHECK(std::isnan(r_squared({found, 3, 2}, {lost, 3, 2})));
}
