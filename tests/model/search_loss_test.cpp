// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Losses other than squares: through a search, fitted on the map found and scored by itself; lambda of
// a loss on rows held out.
#include "model/assess/assessment.h"
#include "model/estimator/loss_search.h"
#include "model/select/selection.h"
#include "model_problem.h"
#include "support/catch.h"
#include "support/matrix_source.h"
#include "support/refusal.h"

namespace search_loss_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

EstimatorOptions of_loss(const char* loss, double tau = 0) {
  EstimatorOptions asked{.entry = &logistic_model(),
                         .parameters = default_parameters(logistic_model())};
  asked.parameters.set("loss", loss);
  if (tau > 0) asked.parameters.set("tau", tau);
  asked.precision = feature::Precision::f64;
  return asked;
}

Model searched(const Problem& problem, const EstimatorOptions& loss) {
  SearchOptions options;
  options.features = 60;
  options.per_input = PerInput::off;
  options.fit.estimate = loss;
  return search(OneLengthscale{3, 5}, options, problem);
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

TEST_CASE("a quantile through a search has its share below, and its own honest score") {
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
    CHECK(model.path.size() > 2);
  }
}

TEST_CASE("counts through a search are scored by their deviance") {
  Problem counts{random_matrix(500, 3, 8), random_matrix(500, 1, 9)};
  for (int64_t i = 0; i < 500; ++i)  // counts of about the mean, no draws
    counts.Y(i, 0) = std::floor(std::exp(1 + std::sin(2 * counts.X(i, 0))) + counts.Y(i, 0) + 0.5);
  for (int64_t i = 0; i < 500; ++i) counts.Y(i, 0) = std::max(counts.Y(i, 0), 0.0);
  const Model model = searched(counts, of_loss("poisson"));
  CHECK(model.report.assessment.measure == Measure::deviance);
  CHECK(model.report.assessment.score > 0.7);
}

TEST_CASE("explained losses by hand, and their constants") {
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
  const ScoreMetric by(Task::regression, of_loss("huber"));
  CHECK(std::abs(score_of(by, Y.view(), f.view()).value - 0.5) < 1e-15);
  Matrix<double> exact(4, 1);
  for (int64_t i = 0; i < 4; ++i) exact(i, 0) = std::log(Y(i, 0) + (i == 0 ? 1e-300 : 0));
  CHECK(std::abs(statistic::explained_loss(deviance, Y.view(), exact.view()) - 1) < 1e-12);
}

TEST_CASE("losses in a search refuse what they cannot take, by name") {
  Problem problem = uneven(60, 5);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, of_loss("poisson")), "counts");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, of_loss("squared_hinge")),
                "squared_hinge", "classification");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, of_loss("huber", 0.4)), "tau");
}

FitOptions logistic_options() {
  FitOptions options;
  options.estimate.entry = &logistic_model();
  options.estimate.parameters = default_parameters(logistic_model());
  options.coding.task = Task::classification;
  options.coding.classes = 2;
  options.select.selection = Selection::held_out;
  return options;
}

/// Losses of the rows held out at each lambda of the path, fold after fold, and their weights.
struct Plain {
  std::vector<std::vector<double>> losses;
  std::vector<double> weights;
  Plain(const solver::BlockSource& rows, const FitOptions& options, const solver::LossOptions& loss,
        const std::vector<PathPoint>& path)
      : losses(path.size()) {
    Context context;
    for (const Split& split : splits_of(rows, options.select, context)) {
      const auto train = rows.subset(split.train), held_out = rows.subset(split.held_out);
      solver::LossFit fit(*train, loss, context);
      solver::LossFitOptions descent = descent_of(options.estimate.parameters);
      descent.tolerance = 1e-4;  // of the walk
      for (size_t k = 0; k < path.size(); ++k) {
        fit.run(path[k].lambda, descent, context);
        const ScoredRows scored = score_all(*held_out, fit.weights(), context);
        const std::vector<double> part = row_losses(loss, scored);
        losses[k].insert(losses[k].end(), part.begin(), part.end());
        if (k == 0) weights.insert(weights.end(), scored.weights.begin(), scored.weights.end());
      }
    }
  }
  /// Of losses k less those of best: the mean, and sum w^2 (d - mean)^2 / (sum w)^2 n / (n - 1).
  std::pair<double, double> difference(size_t k, size_t best) const {
    double weight = 0, sum = 0, square = 0, n = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      weight += weights[i];
      sum += weights[i] * (losses[k][i] - losses[best][i]);
      n += weights[i] > 0;
    }
    const double mean = sum / weight;
    for (size_t i = 0; i < weights.size(); ++i)
      square += std::pow(weights[i] * (losses[k][i] - losses[best][i] - mean), 2);
    return {mean, std::sqrt(square / (weight * weight) * n / (n - 1))};
  }
};

TEST_CASE("lambda of a loss: the largest within the error of weighted rows", "[loss]") {
  const FitOptions options = logistic_options();
  solver::LossOptions loss;
  loss.loss = solver::find_loss("logistic");
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const int64_t n = 300;
    const Problem problem = smooth_problem(n, 3, 1, 1.0, seed);
    const Matrix<double> Z = plain_features(*gaussian_map(3, 24), problem.x(), {});
    Matrix<double> codes(n, 2);
    std::vector<double> weights;
    for (int64_t i = 0; i < n; ++i) {
      codes(i, 1) = problem.Y(i, 0) > 0;
      codes(i, 0) = 1 - codes(i, 1);
      weights.push_back(i % 10 == 0 ? 30 : i % 7 > 0);  // a few rows weigh most of it
    }
    const MatrixSource rows(Z.view(), codes.view(), 64, false, weights);
    Context context;
    LossSearch search(rows, options.select, descent_of(options.estimate.parameters), loss, context);
    const double found = search.choose_lambda(context);
    const std::vector<PathPoint>& path = search.path();
    const Plain plain(rows, options, loss, path);
    CHECK(plain.weights.size() == 300);  // every row is held out once
    size_t best = 0, expected = path.size();
    for (size_t k = 0; k < path.size(); ++k)
      if (path[k].score < path[best].score) best = k;
    for (size_t k = path.size(); k-- > 0;) {
      const auto [mean, error] = plain.difference(k, best);
      CHECK(std::abs(mean - (path[k].score - path[best].score)) <= 1e-9);
      if (mean <= error) expected = k;
    }
    CAPTURE(seed);
    CHECK(found == path[expected].lambda);
  }
}

TEST_CASE("rows held out: folds of few rows, a part of many", "[loss]") {
  FitOptions options = logistic_options();
  const auto splits = [&](int64_t n) {
    Context context;
    const Matrix<double> Z(n, 1), Y(n, 2);
    return splits_of(MatrixSource(Z.view(), Y.view(), 64, false), options.select, context);
  };
  CHECK(splits(3000).size() == 1);
  CHECK(splits(3000)[0].held_out.size() == 300);
  CHECK(splits(2999).size() == 5);
  CHECK(splits(3).size() == 3);  // no fold is empty
  options.select.held_out_fraction = 1.0 / 3;
  CHECK(splits(30).size() == 3);
  options.select.held_out_fraction = 0.9;
  CHECK(splits(30).size() == 2);
}

}  // namespace search_loss_test
