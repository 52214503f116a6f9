// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The choice of lambda for a loss, against the same rule written out.
#include "model/estimator/loss_search.h"

#include "model/select/selection.h"
#include "model_problem.h"
#include "support/catch.h"
#include "support/matrix_source.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

Fitting logistic_options() {
  Fitting options;
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
  Plain(const solver::BlockSource& rows, const Fitting& options, const solver::LossOptions& loss,
        const std::vector<PathPoint>& path)
      : losses(path.size()) {
    Context context;
    for (const Split& split : splits_of(rows, options.select)) {
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

}  // namespace

TEST_CASE("lambda of a loss: the largest within the error of weighted rows", "[model][loss]") {
  const Fitting options = logistic_options();
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

TEST_CASE("rows held out: folds of few rows, a part of many", "[model][loss]") {
  Fitting options = logistic_options();
  const auto splits = [&](int64_t n) {
    const Matrix<double> Z(n, 1), Y(n, 2);
    return splits_of(MatrixSource(Z.view(), Y.view(), 64, false), options.select);
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
