// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/lambda_walk.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

using namespace mercer::model;

namespace {

/// Unimodal in log lambda with its minimum at `best`.
auto valley(double best) {
  return [best](double lambda) {
    const double distance = std::abs(std::log10(lambda / best));
    return Merit{distance, distance};
  };
}

}  // namespace

TEST_CASE("a walk ends at the bottom of a valley on either side", "[model]") {
  CHECK(best_of(walk_lambda(1e-4, 10, 20, valley(1e-8))).lambda == Approx(1e-8).epsilon(1e-12));
  CHECK(best_of(walk_lambda(1e-8, 10, 20, valley(1e-4))).lambda == Approx(1e-4).epsilon(1e-12));
  CHECK(best_of(walk_lambda(1e-4, 10, 20, valley(1e-4))).lambda == 1e-4);
}

TEST_CASE("a walk spends no more evaluations than it may and stays within its bounds", "[model]") {
  CHECK(walk_lambda(1e-2, 10, 3, valley(1e-8)).size() == 3);
  double least = 1, most = 0;
  for (const double best : {1e-30, 1e30}) {
    for (const LambdaPoint& point : walk_lambda(1e-6, 10, 100, valley(best))) {
      least = std::min(least, point.lambda);
      most = std::max(most, point.lambda);
    }
  }
  CHECK(least >= kLeastLambda);
  CHECK(most <= kMostLambda);
}

TEST_CASE("NaN never wins a comparison", "[model]") {
  const Merit nan{NAN, NAN}, one{1, 1};
  CHECK(is_better(one, nan));
  CHECK_FALSE(is_better(nan, one));
  CHECK_FALSE(is_better(nan, nan));
  CHECK(best_of({{1, nan}, {2, one}, {3, nan}}).lambda == 2);
}

TEST_CASE("a plateau is entered at its largest lambda", "[model]") {
  const std::vector<LambdaPoint> points{
      {1e-1, {3, 3}}, {1e-2, {1.004, 1.004}}, {1e-3, {1.001, 1.001}}, {1e-4, {1, 1}}};
  CHECK(largest_near_best(points).lambda == 1e-2);
  CHECK(best_of(points).lambda == 1e-4);
}
