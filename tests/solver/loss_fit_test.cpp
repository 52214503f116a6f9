// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits by losses against Newton's method, ridge and closed forms.
#include "solver/loss_fit.h"

#include "solver/block_source.h"
#include "solver/block_statistics.h"
#include "squared_loss.h"
#include "support/dense.h"
#include "support/matrix_source.h"
#include "support/refusal.h"
#include "support/thread_reduction.h"

namespace loss_fit_test {
using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

using Vector = std::vector<double>;

/// Features about 1, correlated, and class codes or counts that depend on them.
struct Problem {
  Matrix<double> Z, Y;
  Problem(int64_t n, int64_t D, int64_t outputs, bool codes)
      : Z(random_matrix(n, D, 31)), Y(n, outputs) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = D - 1; j > 0; --j) Z(i, j) = 1 + Z(i, j) / double(j) + 0.7 * Z(i, j - 1);
      const double t = Z(i, 0) + 0.6 * std::sin(11.0 * double(i));
      for (int64_t o = 0; o < outputs; ++o) Y(i, o) = codes ? 0 : std::floor(std::exp(t + 1));
      if (codes)
        Y(i, std::clamp<int64_t>(int64_t(std::floor(t + double(outputs) / 2)), 0, outputs - 1)) = 1;
    }
  }
  MatrixSource source(Vector weights = {}, int64_t size = 37) const {
    return MatrixSource(Z.view(), Y.view(), size, false, std::move(weights));
  }
};

LossOptions options_of(const char* name) {
  LossOptions options;
  options.loss = find_loss(name);
  return options;
}

/// tolerance: on the gradient, relative to that at x = 0.
Weights fitted(const BlockSource& source, LossOptions options, double lambda, double tolerance,
               Context& context) {
  LossObjective f(source, options, context);
  Vector x(static_cast<size_t>(f.size())), g(x.size());
  f(x, g, context);
  double most = 0;
  for (const double slope : g) most = std::max(most, std::abs(slope));
  LossFit fit(source, std::move(options), context);
  const auto result = fit.run(lambda, {.gradient_tolerance = tolerance * most}, context);
  CAPTURE(result.iterations, result.evaluations, result.largest_gradient);
  CHECK(result.converged());
  return fit.weights();
}

TEST_CASE("the objective's gradient is its derivative", "[loss]") {
  Context context;
  for (const char* name : {"logistic", "squared_hinge", "poisson"})
    for (const bool center : {true, false}) {
      const Problem problem(90, 5, 3, std::string_view(name) != "poisson");
      Vector weights;
      for (int i = 0; i < 90; ++i) weights.push_back(i % 4);
      const MatrixSource source = problem.source(weights);
      LossOptions options = options_of(name);
      options.lambda = 0.3;
      options.center = center;
      if (options.loss->classes) options.class_weights = {1, 2, 0.5};
      LossObjective f(source, options, context);
      Vector x(static_cast<size_t>(f.size())), g(x.size()), unused(x.size());
      REQUIRE(x.size() == (center ? 18 : 15));
      for (size_t j = 0; j < x.size(); ++j) x[j] = 0.1 * std::cos(double(5 * j));
      f(x, g, context);
      for (size_t j = 0; j < x.size(); ++j) {
        Vector up = x, down = x;
        up[j] += 1e-5;
        down[j] -= 1e-5;
        const double slope = (f(up, unused, context) - f(down, unused, context)) / 2e-5;
        CAPTURE(name, center, j);
        CHECK(std::abs(slope - g[j]) <= 1e-8 * (1 + std::abs(g[j])));
      }
    }
}

TEST_CASE("softmax of two columns has half the penalty of one", "[loss]") {
  // With theta_0 = -theta_1 = -w/2 the penalty lambda/2 (|theta_0|^2 + |theta_1|^2) is that of
  // lambda/2 for w: a third class that never occurs, at weight 0, leaves two columns.
  Context context;
  const Problem problem(300, 6, 2, true);
  LossOptions twice = options_of("logistic");
  const Weights one = fitted(problem.source(), options_of("logistic"), 1e-3, 1e-10, context);
  const Loss* logistic = find_loss("logistic");
  static const Loss* inner = logistic;
  const Loss columns_of_two{
      "softmax", "", false,
      [](std::span<const double> s, std::span<const double> y, const LossParameters& p,
         std::span<double> slope) { return inner->at(s, y, p, slope); }};
  twice.loss = &columns_of_two;
  const Weights two = fitted(problem.source(), twice, 2e-3, 1e-10, context);
  CHECK(difference(one.w.view(), two.w.view(), 1e-6) == "");
}

TEST_CASE("squared loss by this road is ridge", "[loss]") {
  Context context;
  const Problem problem(120, 7, 2, false);
  for (const bool center : {true, false}) {
    LossOptions options;
    options.loss = &kSquared;
    options.center = center;
    Vector weights;
    for (int i = 0; i < 120; ++i) weights.push_back(1 + i % 3);
    const MatrixSource source = problem.source(weights);
    const Weights w = fitted(source, options, 1e-3, 1e-12, context);
    RowStatistics statistics(7, 2);
    add_blocks(source, statistics, context);
    const Weights expected = ridge_cholesky(std::move(statistics), center, 1e-3, context);
    CHECK(difference(w.w.view(), expected.w.view(), 1e-9) == "");
    CHECK(std::abs(w.intercept[1] - expected.intercept[1]) <= 1e-8);
  }
}

TEST_CASE("intercepts alone: medians, quantiles, means of counts", "[loss]") {
  Context context;
  const int64_t n = 2001;
  Matrix<double> Z(n, 1), Y(n, 1);
  for (int64_t i = 0; i < n; ++i) {
    Z(i, 0) = 0;
    Y(i, 0) = std::pow(double(i) / 1000, 2);  // quantile tau: (2 tau)^2
  }
  const MatrixSource source(Z.view(), Y.view(), 500, false);
  for (const double tau : {0.1, 0.5, 0.8}) {
    LossOptions options = options_of("quantile");
    options.parameters = {0.01, tau};
    const double b = fitted(source, options, 1, 1e-9, context).intercept[0];
    // Rounding moves it by delta^2 / 6 f'/f = delta^2 / (12 y), the grid by half its step.
    CHECK(std::abs(b - 4 * tau * tau) <= 1e-4 / (12 * 4 * tau * tau) + 2 * tau * 1e-3);
  }
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) mean += Y(i, 0) / double(n);
  CHECK(std::abs(fitted(source, options_of("poisson"), 1, 1e-12, context).intercept[0] -
                 std::log(mean)) <= 1e-10);
  LossOptions huber = options_of("huber");
  huber.parameters.delta = 1e-4;  // towards the median
  CHECK(std::abs(fitted(source, huber, 1, 1e-9, context).intercept[0] - 1) <= 2e-3);
  huber.parameters.delta = 1e4;  // the mean
  CHECK(std::abs(fitted(source, huber, 1, 1e-12, context).intercept[0] - mean) <= 1e-9);
  LossOptions smooth = options_of("log_cosh");
  smooth.parameters.delta = 1e-4;
  CHECK(std::abs(fitted(source, smooth, 1, 1e-9, context).intercept[0] - 1) <= 2e-3);
  smooth.parameters.delta = 1e4;  // beside squares terms of relative size (4 / delta)^2 / 6
  CHECK(std::abs(fitted(source, smooth, 1, 1e-12, context).intercept[0] - mean) <= 1e-6);
  // As many targets are above b + delta as below b - delta: sqrt(b + delta) = 2 - sqrt(b - delta).
  LossOptions insensitive = options_of("epsilon_insensitive");
  insensitive.parameters.delta = 0.5;
  const double b = fitted(source, insensitive, 1, 1e-9, context).intercept[0];
  CHECK(std::abs(std::sqrt(b + 0.5) + std::sqrt(b - 0.5) - 2) <= 5e-3);
}

TEST_CASE("losses: weights are repeated rows, of classes too", "[loss]") {
  Context context;
  const Problem problem(60, 4, 3, true);
  Vector weights;
  std::vector<int64_t> index;
  const Vector of_class = {1, 2, 3};
  for (int64_t i = 0; i < 60; ++i) {
    weights.push_back(double(i % 3));
    int64_t copies = i % 3;
    for (int64_t k = 0; k < 3; ++k)
      if (problem.Y(i, k) == 1) copies *= k + 1;
    for (int64_t c = 0; c < copies; ++c) index.push_back(i);
  }
  LossOptions options = options_of("logistic");
  const MatrixSource all = problem.source();
  const auto repeated = all.subset(index);
  const Weights expected = fitted(*repeated, options, 1e-2, 1e-11, context);
  options.class_weights = of_class;
  const Weights w = fitted(problem.source(weights), options, 1e-2, 1e-11, context);
  CHECK(difference(w.w.view(), expected.w.view(), 1e-8) == "");
}

TEST_CASE("losses over blocks, with and without a cache, in single precision", "[loss]") {
  Context context;
  const Problem problem(200, 6, 3, true);
  const Weights expected = fitted(problem.source(), options_of("logistic"), 1e-2, 1e-11, context);
  CHECK(difference(
            fitted(problem.source({}, 200), options_of("logistic"), 1e-2, 1e-11, context).w.view(),
            expected.w.view(), 1e-9) == "");
  const MatrixSource single(problem.Z.view(), problem.Y.view(), 64, true);
  CHECK(difference(fitted(single, options_of("logistic"), 1e-2, 1e-6, context).w.view(),
                   expected.w.view(), 1e-3) == "");
  Context no_cache;
  no_cache.memory_cap = 11000;  // less than 200 rows of 6 floats and 4 doubles
  CHECK(make_cached(problem.source(), no_cache) == nullptr);
  CHECK(difference(fitted(problem.source(), options_of("logistic"), 1e-2, 1e-11, no_cache).w.view(),
                   expected.w.view(), 1e-9) == "");
}

TEST_CASE("losses over processes have the bits of one another", "[loss]") {
  Context context;
  const Problem problem(150, 5, 2, true);
  const Weights expected = fitted(problem.source(), options_of("logistic"), 1e-2, 1e-11, context);
  ThreadJob job(2);
  std::vector<Weights> found(2);
  std::vector<int> converged(2);
  job.run([&](Reduction& reduction, int process) {
    Context own;
    const int64_t first = process == 0 ? 0 : 60, end = process == 0 ? 60 : 150;
    const MatrixSource part(problem.Z.view().block_rows(first, end),
                            problem.Y.view().block_rows(first, end), 37, false, {}, &reduction);
    LossFit fit(part, options_of("logistic"), own);
    converged[size_t(process)] = fit.run(1e-2, {.gradient_tolerance = 1e-11}, own).converged();
    found[size_t(process)] = fit.weights();
  });
  CHECK(converged[0]);
  CHECK(converged[1]);
  CHECK(difference(found[0].w.view(), expected.w.view(), 1e-8) == "");
  CHECK(difference(found[1].w.view(), found[0].w.view(), 0) == "");
}

TEST_CASE("processes without room or without rows fit as the others do", "[loss]") {
  Context context;
  const Problem problem(150, 40, 2, true);
  const Weights expected = fitted(problem.source(), options_of("logistic"), 1e-2, 1e-11, context);
  std::vector<Weights> found(2);
  std::vector<double> noise(2);
  for (const bool single : {false, true}) {
    ThreadJob(2).run([&](Reduction& reduction, int process) {
      Context own;
      if (process == 1) own.memory_cap = 20000;  // scaling takes 25,600
      const int64_t first = process == 0 ? 0 : 150;
      const MatrixSource part(problem.Z.view().block_rows(first, 150),
                              problem.Y.view().block_rows(first, 150), 37, single, {}, &reduction);
      LossFit fit(part, options_of("logistic"), own);
      fit.run(1e-2, {.gradient_tolerance = 1e-11}, own);
      found[size_t(process)] = fit.weights();
      noise[size_t(process)] = LossObjective(part, options_of("logistic"), own).noise();
    });
    CHECK(noise[0] == noise[1]);
    CHECK(difference(found[0].w.view(), expected.w.view(), single ? 1e-3 : 1e-6) == "");
    CHECK(difference(found[1].w.view(), found[0].w.view(), 0) == "");
  }
}

TEST_CASE("losses refuse rows without weight and features that are not finite", "[loss]") {
  Context context;
  const Problem problem(20, 3, 2, true);
  CHECK_REFUSED(
      MERCER_INVALID_ARGUMENT, const MatrixSource source = problem.source(Vector(20, 0.0));
      LossFit(source, options_of("logistic"), context), "the weights of the rows with a target sum to 0");
  problem.Z(7, 1) = std::nan("");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, const MatrixSource source = problem.source();
                LossFit(source, options_of("logistic"), context), "not finite");
}

}  // namespace loss_fit_test
