// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/lambda_walk.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/catch.h"

using namespace mercer::model;

namespace {

struct Walk {
  std::vector<double> lambdas, losses;
  double best() const {
    return lambdas[static_cast<size_t>(std::ranges::min_element(losses) - losses.begin())];
  }
};

/// A loss that is unimodal in log lambda with its minimum at `best`.
Walk walk_of(double start, int64_t most, double best) {
  LambdaPlan plan;
  plan.start = start;
  plan.most = most;
  Walk walk;
  walk_lambda(plan, [&](double lambda) {
    walk.lambdas.push_back(lambda);
    walk.losses.push_back(std::abs(std::log10(lambda / best)));
    return walk.losses.back();
  });
  return walk;
}

}  // namespace

TEST_CASE("a walk ends at the bottom of a valley on either side", "[model]") {
  CHECK(walk_of(1e-4, 20, 1e-8).best() == Approx(1e-8).epsilon(1e-12));
  CHECK(walk_of(1e-8, 20, 1e-4).best() == Approx(1e-4).epsilon(1e-12));
  CHECK(walk_of(1e-4, 20, 1e-4).best() == 1e-4);
  CHECK(walk_of(1e-4, 20, 1e-4).lambdas.size() == 3);  // and one on either side
}

TEST_CASE("a walk spends no more evaluations than it may and stays within its bounds", "[model]") {
  CHECK(walk_of(1e-2, 3, 1e-8).lambdas.size() == 3);
  double least = 1, most = 0;
  for (const double best : {1e-30, 1e30}) {
    for (const double start : {1e-6, 1e-20, 1e20}) {
      for (const double lambda : walk_of(start, 100, best).lambdas) {
        least = std::min(least, lambda);
        most = std::max(most, lambda);
      }
    }
  }
  CHECK(least == kLeastLambda);
  CHECK(most == kMostLambda);
}

TEST_CASE("where there is no fit a walk starts farther up", "[model]") {
  LambdaPlan plan;
  plan.start = 1e-12;
  for (const double least : {1e-11, 1e-9, 1e-7}) {
    std::vector<double> fitted;
    walk_lambda(plan, [&](double lambda) {
      if (lambda < least) return static_cast<double>(INFINITY);
      fitted.push_back(lambda);
      return std::log10(lambda);  // falls down to where there is none
    });
    REQUIRE(!fitted.empty());
    CHECK(*std::ranges::min_element(fitted) < 10.01 * least);
  }
  int asked = 0;
  walk_lambda(plan, [&](double) { return ++asked, static_cast<double>(INFINITY); });
  CHECK(asked <= 9);  // 1e-12, 1e-10, ..., 1, 10; then a step down
}

TEST_CASE("a loss of NaN is larger than all", "[model]") {
  LambdaPlan plan;
  plan.start = 1e-3;
  plan.most = 20;
  std::vector<double> lambdas;
  walk_lambda(plan, [&](double lambda) {
    lambdas.push_back(lambda);
    return lambda < 5e-4 ? NAN : std::abs(std::log10(lambda));
  });
  CHECK(lambdas.size() == 6);  // 1e-3, NaN below, 1e-2, 1e-1, 1, 10
}
