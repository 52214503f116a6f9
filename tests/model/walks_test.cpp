// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How a search chooses: by errors of differences, in walks over lambda and over lengthscales.
#include "model/search/lengthscale_walk.h"
#include "model/search/trial.h"
#include "model/select/judge.h"
#include "support/catch.h"
#include "support/dense.h"

namespace walks_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// Losses about `level` whose differences are small: rows x 3.
Matrix<double> losses_near(double level, int64_t rows) {
  Matrix<double> losses = random_matrix(rows, 3, 51);
  for (int64_t i = 0; i < rows; ++i) {
    const double shared = level * (2 + losses(i, 0));
    for (int64_t k = 0; k < 3; ++k) losses(i, k) = shared + 1e-3 * level * losses(i, k);
  }
  return losses;
}

double weight_of(int64_t i) { return static_cast<double>(i % 4); }

PairedLosses sums_of(const Matrix<double>& losses, int64_t first, int64_t last) {
  PairedLosses sums(losses.cols());
  for (int64_t i = first; i < last; ++i) sums.add(losses.view().row(i), weight_of(i));
  return sums;
}

/// Errors of a difference by the sandwich, from the differences themselves.
double plain_error(const Matrix<double>& losses, int64_t a, int64_t b) {
  double n = 0, weight = 0, mean = 0, squares = 0;
  for (int64_t i = 0; i < losses.rows(); ++i) {
    n += weight_of(i) > 0;
    weight += weight_of(i);
    mean += weight_of(i) * (losses(i, a) - losses(i, b));
  }
  mean /= weight;
  for (int64_t i = 0; i < losses.rows(); ++i) {
    const double d = weight_of(i) * (losses(i, a) - losses(i, b) - mean);
    squares += d * d;
  }
  return std::sqrt(squares * n / (n - 1)) / weight;
}

TEST_CASE("errors of differences come out of the sums, far from zero too") {
  for (const double level : {1.0, 1e6}) {
    const Matrix<double> losses = losses_near(level, 200);
    const PairedLosses sums = sums_of(losses, 0, 200);
    for (int64_t a = 0; a < 3; ++a) {
      CHECK(sums.error_of_difference(a, a) <= 1e-9 * level);
      for (int64_t b = 0; b < a; ++b) {
        CHECK(sums.error_of_difference(a, b) == Approx(plain_error(losses, a, b)).epsilon(1e-6));
        CHECK(sums.error_of_difference(b, a) == sums.error_of_difference(a, b));
      }
    }
  }
}

TEST_CASE("of candidates that cannot be told from the best the simplest is taken") {
  // Candidate 1 is the best; 0 is worse by one standard error and a little less, 2 by far.
  const int64_t n = 101;
  PairedLosses sums(3), apart(3);
  for (int64_t i = 0; i < n; ++i) {
    const double noise = i == 0 ? 0.0 : (i % 2 == 0 ? 1.0 : -1.0);  // its error: sqrt(1/n)
    const double error = std::sqrt(1.0 / static_cast<double>(n));
    const double near[] = {2 + noise + 0.99 * error, 2, 9},
                 far[] = {2 + noise + 1.01 * error, 2, 9};
    sums.add(near);
    apart.add(far);
  }
  CHECK(sums.error_of_difference(0, 1) == Approx(std::sqrt(1.0 / n)).epsilon(1e-12));
  CHECK(least_loss(sums) == 1);
  CHECK(one_standard_error_choice(sums, std::vector<double>{5, 6, 1}) == 0);
  CHECK(one_standard_error_choice(sums, std::vector<double>{7, 6, 1}) == 1);
  CHECK(one_standard_error_choice(apart, std::vector<double>{5, 6, 1}) == 1);
}

TEST_CASE("a loss that one row makes huge is not taken for near") {
  // The error of the difference is that of the one row, and as large as the excess.
  PairedLosses sums(2);
  for (int i = 0; i < 200; ++i) {
    const double losses[] = {i == 5 ? 1e6 : 0.01, 0.01};
    sums.add(losses);
  }
  CHECK(sums.mean(0) - sums.mean(1) <= sums.error_of_difference(0, 1));
  CHECK(one_standard_error_choice(sums, std::vector<double>{1, 2}) == 1);
}

TEST_CASE("losses that are not finite never win") {
  PairedLosses sums(3);
  const double losses[] = {INFINITY, NAN, 3};
  for (int i = 0; i < 4; ++i) sums.add(losses);
  CHECK(least_loss(sums) == 2);
  CHECK(one_standard_error_choice(sums, std::vector<double>{1, 2, 3}) == 2);
  PairedLosses none(2);
  for (int i = 0; i < 4; ++i) none.add(losses);
  CHECK(one_standard_error_choice(none, std::vector<double>{1, 2}) == 0);
}

struct Walk {
  std::vector<double> lambdas, losses;
  double best() const { return lambdas[std::ranges::min_element(losses) - losses.begin()]; }
};

/// A loss that is unimodal in log lambda with its minimum at `best`.
Walk walk_of(double start, int64_t most, double best) {
  WalkPlan plan;
  plan.start = start;
  plan.most = most;
  Walk walk;
  walk_downhill(plan, [&](double lambda) {
    walk.lambdas.push_back(lambda);
    walk.losses.push_back(std::abs(std::log10(lambda / best)));
    return walk.losses.back();
  });
  return walk;
}

TEST_CASE("a walk ends at the bottom of a valley on either side") {
  CHECK(walk_of(1e-4, 20, 1e-8).best() == Approx(1e-8).epsilon(1e-12));
  CHECK(walk_of(1e-8, 20, 1e-4).best() == Approx(1e-4).epsilon(1e-12));
  CHECK(walk_of(1e-4, 20, 1e-4).best() == 1e-4);
  CHECK(walk_of(1e-4, 20, 1e-4).lambdas.size() == 3);  // and one on either side
}

TEST_CASE("a walk spends no more evaluations than it may and stays within its bounds") {
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

TEST_CASE("where there is no fit a walk starts farther up") {
  WalkPlan plan;
  plan.start = 1e-12;
  for (const double least : {1e-11, 1e-9, 1e-7}) {
    std::vector<double> fitted;
    walk_downhill(plan, [&](double lambda) {
      if (lambda < least) return static_cast<double>(INFINITY);
      fitted.push_back(lambda);
      return std::log10(lambda);  // falls down to where there is none
    });
    REQUIRE(!fitted.empty());
    CHECK(*std::ranges::min_element(fitted) < 10.01 * least);
  }
  int asked = 0;
  walk_downhill(plan, [&](double) { return ++asked, static_cast<double>(INFINITY); });
  CHECK(asked <= 9);  // 1e-12, 1e-10, ..., 1, 10; then a step down
}

TEST_CASE("a loss of NaN is larger than all") {
  WalkPlan plan;
  plan.start = 1e-3;
  plan.most = 20;
  std::vector<double> lambdas;
  walk_downhill(plan, [&](double lambda) {
    lambdas.push_back(lambda);
    return lambda < 5e-4 ? NAN : std::abs(std::log10(lambda));
  });
  CHECK(lambdas.size() == 6);  // 1e-3, NaN below, 1e-2, 1e-1, 1, 10
}

/// Two rows whose mean loss is a valley about `best`, flat within `flat` of it in log2; their
/// difference from another trial is all noise of size 1.
Trial valley(double lengthscale, double best, double flat, double noise) {
  const double distance = std::max(0.0, std::abs(std::log2(lengthscale / best)) - flat);
  Trial trial;
  trial.points = {
      {.lambda = 1, .loss = distance, .score = distance, .dimension = 100 / lengthscale}};
  const double wave = noise * std::log2(lengthscale);
  trial.losses = {{distance + wave, distance - wave}};
  trial.weights = {1, 1};
  return trial;
}

LengthscaleWalk walk_from(double start, double best, double flat = 0, double noise = 0,
                          std::vector<double>* seen = nullptr) {
  return {start, [=](double lengthscale, const Trial*) {
            if (seen != nullptr) seen->push_back(lengthscale);
            return valley(lengthscale, best, flat, noise);
          }};
}

TEST_CASE("a walk over lengthscales ends at the bottom of a valley") {
  for (const double best : {0.125, 1.0, 16.0}) {
    LengthscaleWalk walk = walk_from(1, best);
    walk.climb(2, 8);
    CHECK(walk.best().lengthscale == best);
    CHECK_FALSE(walk.stopped_short());
    CHECK(walk.choice().tried->lengthscale == best);
  }
}

TEST_CASE("a walk says that it ran out of steps") {
  LengthscaleWalk walk = walk_from(1, 1024);
  walk.climb(2, 3);
  CHECK(walk.best().lengthscale == 8);
  CHECK(walk.stopped_short());
}

TEST_CASE("a walk says that it ran out of candidates while it fell") {
  const auto walk_to = [](double best) {
    return LengthscaleWalk(
        1, [=](double lengthscale, const Trial*) { return valley(lengthscale, best, 0, 0); },
        [](double lengthscale) { return lengthscale <= 4; });
  };
  LengthscaleWalk ended = walk_to(1024), found = walk_to(2);
  ended.climb(2, 8);
  CHECK(ended.best().lengthscale == 4);
  CHECK(ended.stopped_short());
  found.climb(2, 8);
  CHECK_FALSE(found.stopped_short());
}

TEST_CASE("longer lengthscales are tried as long as the simplest of equals is the longest") {
  std::vector<double> seen;
  LengthscaleWalk walk = walk_from(1, 1, 0, 10, &seen);  // errors far larger than differences
  walk.climb(2, 8);
  CHECK(seen == std::vector<double>{1, 0.5, 2});
  walk.lengthen(2, 3);
  CHECK(seen == std::vector<double>{1, 0.5, 2, 4, 8, 16});
  CHECK(walk.choice().tried->lengthscale == 16);
  CHECK(walk.best().lengthscale == 1);
}

TEST_CASE("trials take a part of the rows, held-out ones of the features, too") {
  constexpr struct {
    decltype(&left_out_sizes) sizes;
    TrialSize all, coarse, fine;
  } kRows[] = {
      {left_out_sizes, {200, 2048}, {200, 2048}, {200, 2048}},
      {left_out_sizes, {500, 4096}, {300, 4096}, {500, 4096}},
      {left_out_sizes, {3000, 2048}, {300, 2048}, {600, 2048}},
      {left_out_sizes, {3000, 512}, {300, 512}, {3000, 512}},
      {left_out_sizes, {3000, 256}, {3000, 256}, {3000, 256}},
      {held_out_sizes, {16000, 1501}, {600, 1501}, {8000, 736}},
      {held_out_sizes, {16000, 300}, {1200, 300}, {8000, 300}},
      {held_out_sizes, {16000, 4096}, {600, 4096}, {5120, 2048}},
      {held_out_sizes, {4000, 256}, {1406, 256}, {2000, 256}},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.all.rows, row.all.features);
    const TrialSizes sizes = row.sizes(row.all.rows, row.all.features);
    CHECK(sizes.coarse == row.coarse);
    CHECK(sizes.fine == row.fine);
  }
  CHECK(held_out_sizes(10000000, 2048).fine.rows == 19073);  // 2e10 / 1024^2
}

TEST_CASE("a trial beats another by more than the error of the difference alone") {
  const auto trial_of = [](std::vector<double> losses) {
    Trial trial;
    trial.points = {{.lambda = 1, .loss = 0, .score = 0, .dimension = 1}};
    trial.weights.assign(losses.size(), 1.0);
    trial.losses = {std::move(losses)};
    return trial;
  };
  // Differences 0, 1, 2, 3: mean 1.5, error sqrt(5/12) = 0.65. Less 1: 0.5.
  const Trial base = trial_of({5, 5, 5, 5}), better = trial_of({5, 4, 3, 2}),
              nearly = trial_of({6, 5, 4, 3});
  CHECK(beats(better, 0, base, 0, 1));
  CHECK(beats(better, 0, base, 0, 2.3));
  CHECK_FALSE(beats(better, 0, base, 0, 2.4));
  CHECK_FALSE(beats(nearly, 0, base, 0, 1));
  CHECK_FALSE(beats(base, 0, better, 0, 1));
  CHECK_FALSE(beats(base, 0, base, 0, 1));
}

TEST_CASE("of points that cannot be told from the best the likeliest is taken, if that is known") {
  Trial trial;
  trial.points = {{.lambda = 10, .loss = 5.5, .dimension = 1, .evidence = 3},
                  {.lambda = 1, .loss = 5, .dimension = 2, .evidence = 2},
                  {.lambda = 0.1, .loss = 5.25, .dimension = 3, .evidence = 1},
                  {.lambda = 0.01, .loss = 9, .dimension = 4, .evidence = 0}};
  // Less those of the best: means 0.5, 0.25 and 4, errors 1.2, 0.5 and 0.
  trial.losses = {{4, 8, 3, 7}, {5, 5, 5, 5}, {5, 6, 4, 6}, {9, 9, 9, 9}};
  trial.weights = {1, 1, 1, 1};
  CHECK(paired_pick(trial) == 2);
  trial.points[3].evidence = kNaN;
  CHECK(paired_pick(trial) == 0);
}

}  // namespace walks_test
