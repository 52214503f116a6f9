// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Another loss than squares through a search: fitted on the map found, scored by itself.
#include "model/assess/assessment.h"
#include "model_problem.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

Estimating of_loss(const char* loss, double tau = 0) {
  Estimating asked{.entry = &logistic_model(), .parameters = default_parameters(logistic_model())};
  asked.parameters.set("loss", loss);
  if (tau > 0) asked.parameters.set("tau", tau);
  asked.precision = feature::Precision::f64;
  return asked;
}

Model searched(const Problem& problem, const Estimating& loss) {
  SearchOptions options;
  options.features = 60;
  options.per_input = PerInput::off;
  options.fit.estimate.precision = feature::Precision::f64;
  options.loss = loss;
  return search(GaussianMaker{3, 5}, options, problem);
}

/// Noise whose size grows with an input: quantiles are not shifted means.
Problem uneven(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 3, seed), random_matrix(n, 1, seed + 1)};
  for (int64_t i = 0; i < n; ++i)
    problem.Y(i, 0) =
        std::sin(2 * problem.X(i, 0)) + (1.2 + problem.X(i, 1)) * std::pow(problem.Y(i, 0), 3);
  return problem;
}

double explained(const Model& model, const Problem& problem, statistic::RowLoss loss) {
  return statistic::explained_loss(loss, problem.y(), predictions(model, problem.x()).view());
}

}  // namespace

TEST_CASE("a quantile through a search has its share below, and its own honest score", "[model]") {
  for (const int64_t n : {400, 1500}) {  // nested, unseen
    const Problem known = uneven(n, 3), others = uneven(4000, 77);
    const Model model = searched(known, of_loss("quantile", 0.9));
    const Matrix<double> f = predictions(model, others.x());
    double below = 0;
    for (int64_t i = 0; i < 4000; ++i) below += others.Y(i, 0) <= f(i, 0) ? 1.0 / 4000 : 0;
    CHECK(std::abs(below - 0.9) < 0.05);
    const Assessment& score = model.report.assessment;
    CHECK(score.measure == Measure::pinball);
    CHECK(score.constant < 0.05);
    CHECK(std::isnan(score.linear));
    const double truth = explained(model, others, {false, 0.9});
    INFO(score.score << " +- " << score.standard_error << ", truth " << truth);
    CHECK(truth > 0.1);
    CHECK(std::abs(score.score - truth) < 3.5 * score.standard_error);
    CHECK(model.fit.select.lambda > 0);
    CHECK(model.path.size() > 2);
  }
}

TEST_CASE("counts through a search are scored by their deviance", "[model]") {
  Problem counts{random_matrix(500, 3, 8), random_matrix(500, 1, 9)};
  for (int64_t i = 0; i < 500; ++i)  // counts of about the mean, no draws
    counts.Y(i, 0) = std::floor(std::exp(1 + std::sin(2 * counts.X(i, 0))) + counts.Y(i, 0) + 0.5);
  for (int64_t i = 0; i < 500; ++i) counts.Y(i, 0) = std::max(counts.Y(i, 0), 0.0);
  const Model model = searched(counts, of_loss("poisson"));
  CHECK(model.report.assessment.measure == Measure::deviance);
  CHECK(model.report.assessment.score > 0.7);
}

TEST_CASE("explained losses by hand, and their constants", "[model]") {
  Matrix<double> Y(4, 1), f(4, 1);
  for (int64_t i = 0; i < 4; ++i) Y(i, 0) = static_cast<double>(i);  // 0 1 2 3
  f(0, 0) = f(1, 0) = 1;
  f(2, 0) = f(3, 0) = 2;
  const statistic::RowLoss half{false, 0.5}, high{false, 0.75}, deviance{true};
  CHECK(half.best_constant(Y.view(), 0) == 1);
  CHECK(high.best_constant(Y.view(), 0) == 2);
  const std::vector<double> weights = {1, 1, 1, 9};
  CHECK(half.best_constant(Y.view(), 0, weights) == 3);
  CHECK(std::abs(deviance.best_constant(Y.view(), 0) - std::log(1.5)) < 1e-15);
  // Absolute errors 1 0 0 1 against 1 0 1 2 of the median.
  CHECK(std::abs(statistic::explained_loss(half, Y.view(), f.view()) - 0.5) < 1e-15);
  // Score and error of an assessment are those of the same ratio.
  const Measuring by(Task::regression, of_loss("huber"));
  CHECK(std::abs(score_of(by, Y.view(), f.view()).value - 0.5) < 1e-15);
  Matrix<double> exact(4, 1);
  for (int64_t i = 0; i < 4; ++i) exact(i, 0) = std::log(Y(i, 0) + (i == 0 ? 1e-300 : 0));
  CHECK(std::abs(statistic::explained_loss(deviance, Y.view(), exact.view()) - 1) < 1e-12);
}

TEST_CASE("losses in a search refuse what they cannot take, and gaps in targets by name",
          "[model]") {
  Problem problem = uneven(60, 5);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, of_loss("poisson")), "counts");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, of_loss("squared_hinge")),
                "squared_hinge", "classification");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, of_loss("huber", 0.4)), "tau");
  problem.Y(7, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, of_loss("huber")), "row 7",
                "squared loss");
}
