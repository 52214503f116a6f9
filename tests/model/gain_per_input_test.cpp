// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/search.h"
#include "model_problem.h"
#include "statistic/metrics.h"
#include "support/catch.h"
#include "support/dense.h"

namespace gain_per_input_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// y = 10 sin x_0 + steps of three levels + noise; x_1 to x_3 are 0/1, x_4 is a logarithm away from
/// noise. In one row of 33 x_0 is missing, so that a few rows have almost all of the error.
Problem with_gaps(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 6, seed), random_matrix(n, 1, seed + 1)};
  const Matrix<double> missing = random_matrix(n, 1, seed + 2);
  for (int64_t i = 0; i < n; ++i) {
    double* const x = problem.X.view().row(i);
    const int64_t level = static_cast<int64_t>(3 * std::abs(x[1])) % 3;
    x[0] *= 2;
    problem.Y(i, 0) =
        10 * std::sin(x[0]) + 3.0 * static_cast<double>(level) + 0.5 * problem.Y(i, 0);
    for (int64_t k = 1; k < 4; ++k) x[k] = k == level + 1 ? 1 : 0;
    if (std::abs(missing(i, 0)) < 0.04) x[0] = std::nan("");
  }
  return problem;
}

double on_fresh_rows(PerInput per_input, uint64_t seed) {
  SearchOptions options;
  options.features = 256;
  options.assess = false;
  options.per_input = per_input;
  options.fit.prepare.missing = Missing::flag;
  const Model model =
      search(maps_of("fourier", {{"kernel", "laplacian"}}, 7), options, with_gaps(400, seed));
  const Problem fresh = with_gaps(1000, seed + 100);
  return statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view());
}

TEST_CASE("lengthscales that explain a few rows with gaps are not kept") {
  const uint64_t seed = GENERATE(11000, 38000);
  CHECK(on_fresh_rows(PerInput::automatic, seed) > on_fresh_rows(PerInput::off, seed) - 0.02);
}

/// Ten inputs that are alike, each with a part of a smooth function, and as much noise twice.
Problem alike(int64_t n, uint64_t seed) {
  constexpr int64_t d = 10;
  Problem problem{random_matrix(n, d, seed), random_matrix(n, 1, seed + 1)};
  const Matrix<double> shared = random_matrix(n, 1, seed + 2);
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < d; ++j) {
      double& x = problem.X(i, j);
      x = (x + shared(i, 0)) / std::sqrt(2.0);
      sum += x / 10;
    }
    problem.Y(i, 0) = std::tanh(1.5 * sum) + 1.2 * problem.Y(i, 0);
  }
  return problem;
}

// Before they were judged by rows that they were not learnt from, R^2 fell by up to .06 in one of
// five such draws. The error of a difference of 2,000 rows is about .005. The last draw loses .04 by
// a gain on other rows of a hundredth of its error; to ask for half an error lost .07 on Servo.
TEST_CASE("lengthscales of inputs that are alike seldom lose to one for all", "[slow]") {
  int draws = 0, lost = 0;
  double mean = 0;
  for (uint64_t seed = 500; seed < 620; seed += 10, ++draws) {
    const Problem train = alike(220, seed), fresh = alike(2000, seed + 5000);
    const auto score = [&](PerInput per_input) {
      SearchOptions options;
      options.features = 256;
      options.assess = false;
      options.per_input = per_input;
      const Model model = search(maps_of("fourier", {{"kernel", "gaussian"}}, 10), options, train);
      return statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view());
    };
    const double gain = score(PerInput::automatic) - score(PerInput::off);
    mean += gain;
    lost += gain < -0.01 ? 1 : 0;
  }
  CHECK(lost <= 1);
  CHECK(mean / draws > -0.005);
}

// From the common lengthscale, which explains nothing, these draws find nothing either.
TEST_CASE("lengthscales of two inputs of forty are found from another start", "[slow]") {
  const int64_t d = 40;
  const auto made = [](int64_t n, uint64_t seed) {
    Problem problem{random_matrix(n, d, seed), random_matrix(n, 1, seed + 1)};
    for (int64_t i = 0; i < n; ++i)
      problem.Y(i, 0) = problem.X(i, 0) * std::sin(4 * problem.X(i, 1)) + 0.2 * problem.Y(i, 0);
    return problem;
  };
  SearchOptions options;
  options.features = 512;
  options.assess = false;
  const uint64_t seed = GENERATE(30, 130);
  const Model model =
      search(maps_of("fourier", {{"kernel", "gaussian"}}, d), options, made(600, seed));
  const Problem fresh = made(1000, 7000);
  CHECK(statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view()) > 0.8);
}

}  // namespace gain_per_input_test
