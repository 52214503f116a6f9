// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lengthscales learnt by gradients: which inputs matter, bits, columns and targets that are
// constant.
#include "model/search/ard.h"

#include <cmath>
#include <vector>

#include "model/model_problem.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/map_calls.h"

using namespace mercer;
using namespace mercer::model;

namespace {

/// y = sin(2 x_0) + x_1 x_2 + noise of 20 inputs; rows of unit variance.
test::Problem three_of_twenty(int64_t n, uint64_t seed) {
  test::Problem problem = test::smooth_problem(n, 20, 1, 0.05, seed);
  for (int64_t k = 0; k < n * 20; ++k) problem.X.data()[k] *= std::sqrt(3.0);
  return problem;
}

Ard learnt(const test::Problem& problem, int threads = 1) {
  Context context;
  context.threads = threads;
  const auto map = test::gaussian_map(problem.X.cols(), 256);
  return learn_lengthscales(*map, problem.x(), problem.y(),
                            {.lengthscale = std::sqrt(2.0 * problem.X.cols())}, context);
}

}  // namespace

// Over seeds 1 to 20 the largest relevance of an input without effect was below 5e-5, all being
// dropped, and the least of one with effect 0.18.
TEST_CASE("ard: the three of twenty inputs that matter are found") {
  for (const uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Ard ard = learnt(three_of_twenty(600, seed));
    const std::vector<double> r = relevance(ard.lengthscale);
    CHECK(*std::max_element(r.begin(), r.end()) == 1);
    for (size_t j = 0; j < 20; ++j) {
      CAPTURE(j, ard.lengthscale[j]);
      CHECK((j < 3 ? r[j] > 0.1 : r[j] < 0.01));
    }
    CHECK(ard.gain > 0.1);
    CHECK(ard.lambda >= kLeastArdLambda);
  }
}

TEST_CASE("ard: the same bits for every number of threads") {
  const test::Problem problem = three_of_twenty(400, 4);
  const Ard one = learnt(problem);
  for (const int threads : {2, 7}) {
    const Ard other = learnt(problem, threads);
    CHECK(other.lengthscale == one.lengthscale);
    CHECK(other.lambda == one.lambda);
  }
}

TEST_CASE("ard: a constant column is dropped, a constant target keeps all lengthscales") {
  test::Problem problem = three_of_twenty(200, 5);
  for (int64_t i = 0; i < 200; ++i) problem.X(i, 7) = 0;
  CHECK(learnt(problem).lengthscale[7] == kDroppedLengthscale);
  problem.Y.fill(2);
  const Ard start = learnt(problem);
  for (const double l : start.lengthscale) CHECK(l == Approx(std::sqrt(40.0)).epsilon(1e-12));
  CHECK((start.evaluations == 0 && start.dropped == 0 && start.gain == 0));
}

TEST_CASE("ard: relevance is the shortest lengthscale over each, 0 for dropped inputs") {
  const std::vector<double> l = {2, 8, kDroppedLengthscale};
  CHECK(relevance(l) == std::vector<double>{1, 0.25, 0});
}
