// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge against logistic regression: which is kept, and that its numbers are those of rows held
// out.
#include "model/rows/feature_rows.h"
#include "model/search/search_run.h"
#include "model_problem.h"
#include "solver/block_statistics.h"
#include "solver/primal_system.h"
#include "support/catch.h"

namespace estimator_choice_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

struct Setting {
  Problem problem;
  std::shared_ptr<const feature::FeatureMap> map = gaussian_map(3, 60, 1.0);
  Preparation preparation;
  FitOptions options = two_classes();
  FeatureRows rows;

  /// Two classes of probability 1 / (1 + exp(-steepness f)), or by a step of f.
  Setting(int64_t n, double steepness)
      : problem(coins(n, steepness)),
        rows(*map, preparation, options.coding, options.estimate.precision,
             {problem.X.view(), problem.y()}) {}
  static FitOptions two_classes() {
    FitOptions options = f64_options(Selection::fixed);
    options.coding = {Task::classification, 2};
    return options;
  }
  static Problem coins(int64_t n, double steepness) {
    Problem problem = smooth_problem(n, 3, 1, 0, 51);
    const Matrix<double> uniform = random_matrix(n, 1, 52);
    for (int64_t i = 0; i < n; ++i)
      problem.Y(i, 0) =
          (uniform(i, 0) + 1) / 2 < 1 / (1 + std::exp(-steepness * problem.Y(i, 0))) ? 1 : 0;
    return problem;
  }
  solver::Weights ridge(const Split& split, double lambda) const {
    Context context;
    solver::RowStatistics statistics(60, 2);
    solver::add_blocks(*rows.subset(split.train), statistics, context);
    return solver::ridge_cholesky(std::move(statistics), true, lambda, context);
  }
  EstimatorChoice choose(Estimator asked, std::span<const Split> splits, double lambda = 1e-4,
                         bool given = false) {
    Context context;
    return choose_estimator(rows, options.estimate, asked, splits,
                            {.lambda = lambda,
                             .part = [&](const Split& split) { return ridge(split, lambda); },
                             .given = given},
                            context);
  }
};

TEST_CASE("the estimator of the lower held-out log loss is kept", "[loss]") {
  // Steep probabilities: the best linear scores of one-hot codes level off, those of log odds do
  // not, so that logistic regression fits better than calibrated least squares.
  Setting steep(3000, 12);
  const Split split = split_rows(all_rows(3000), 0.2, 3000, 3);
  const EstimatorChoice chosen = steep.choose(Estimator::automatic, {&split, 1});
  CHECK(chosen.logistic_loss < chosen.ridge_loss);
  REQUIRE(chosen.estimating.entry == &logistic_model());
  CHECK(chosen.estimating.parameters.text("loss") == "logistic");
  CHECK(chosen.path.size() == 4);
  CHECK(chosen.path[0].lambda == 1e-4);
  CHECK(!chosen.calibration.empty());
  CHECK(chosen.error_rate > 0);
  CHECK(chosen.error_rate < 0.2);
  const EstimatorChoice ridge = steep.choose(Estimator::ridge, {&split, 1});
  CHECK(ridge.estimating.entry == &ridge_model());
  CHECK(ridge.lambda == 1e-4);
  CHECK(ridge.path.empty());
  CHECK(!ridge.calibration.empty());
  CHECK(ridge.ridge_loss == chosen.ridge_loss);
  CHECK(std::isnan(ridge.logistic_loss));
  const EstimatorChoice logistic = steep.choose(Estimator::logistic, {&split, 1});
  CHECK(logistic.estimating.entry == &logistic_model());
  CHECK(logistic.logistic_loss == chosen.logistic_loss);
  CHECK(std::isnan(logistic.ridge_loss));
  const EstimatorChoice given = steep.choose(Estimator::logistic, {&split, 1}, 1e-3, true);
  CHECK(given.lambda == 1e-3);
  CHECK(given.path.size() == 1);
}

TEST_CASE("logistic regression is tried on all folds where it may win on the first", "[loss]") {
  const auto folds = [](int64_t n) {
    std::vector<Split> splits;
    for (const auto& fold : fold_rows(n, 5, 4)) splits.push_back({rows_without(n, fold), fold});
    return splits;
  };
  // Steep probabilities, as above: it wins.
  const EstimatorChoice wins = Setting(1500, 12).choose(Estimator::automatic, folds(1500));
  CHECK(wins.keeps_logistic);
  CHECK(wins.logistic_loss < wins.ridge_loss);
  // Coins without a bias: no score foresees them, and logistic regression at smaller lambdas fits
  // more of their noise. It is given up, unless it is asked for.
  Setting coin(1500, 0);
  const EstimatorChoice given_up = coin.choose(Estimator::automatic, folds(1500), 10);
  CHECK(!given_up.keeps_logistic);
  CHECK(given_up.path.empty());
  CHECK(std::isnan(given_up.logistic_loss));
  const EstimatorChoice asked = coin.choose(Estimator::logistic, folds(1500), 10);
  CHECK(asked.keeps_logistic);
  CHECK(asked.path.size() < 4);  // the loss rises
}

TEST_CASE("the last fit of logistic regression is the minimum on its rows", "[loss]") {
  Setting steep(3000, 12);
  const Split split = split_rows(all_rows(3000), 0.2, 3000, 3);
  EstimatorChoice chosen = steep.choose(Estimator::logistic, {&split, 1});
  Context context;
  const solver::Weights found = fit_logistic(steep.rows, nullptr, chosen, context);
  FitOptions exact = steep.options;
  exact.estimate.entry = &logistic_model();
  exact.estimate.parameters = default_parameters(logistic_model());
  exact.estimate.parameters.set("tolerance", 1e-12);
  exact.select.lambda = chosen.lambda;
  const EstimatorFit learned =
      logistic_model().fit(steep.rows, exact.estimate, exact.coding, exact.select, context);
  const solver::Weights& best = *learned.predictor->linear();
  // Scores, not weights: those of features that few rows have are hardly determined.
  double square = 0;
  for (int64_t i = 0; i < 200; ++i) {
    double f = found.intercept[1], g = best.intercept[1];
    const Matrix<double> z = plain_features(*steep.map, steep.problem.x().block_rows(i, i + 1), {});
    for (int64_t j = 0; j < 60; ++j) {
      f += z(0, j) * found.w(j, 1);
      g += z(0, j) * best.w(j, 1);
    }
    square += (f - g) * (f - g) / 200;
  }
  // Logits are known to sqrt(D / (n p (1 - p))), about 0.8 here: the descent's rest is a tenth.
  CHECK(std::sqrt(square) <= 0.08);
}

TEST_CASE("folds are pooled: the loss of ridge is that of every row once", "[loss]") {
  Setting flat(300, 3);
  std::vector<Split> splits;
  for (const auto& fold : fold_rows(300, 3, 4)) splits.push_back({rows_without(300, fold), fold});
  const EstimatorChoice chosen = flat.choose(Estimator::ridge, splits);
  double loss = 0;
  for (const Split& split : splits) {
    Context context;
    const solver::Weights w = flat.ridge(split, 1e-4);
    solver::for_each_wide(*flat.rows.subset(split.held_out), context,
                          [&](const solver::WideBlock& block) {
                            for (int64_t i = 0; i < block.Z.rows; ++i) {
                              Matrix<double> p(1, 2);
                              for (int64_t k = 0; k < 2; ++k) {
                                p(0, k) = w.intercept[k];
                                for (int64_t j = 0; j < 60; ++j)
                                  p(0, k) += block.Z(i, j) * w.w(j, k);
                              }
                              chosen.calibration.apply(p.view());
                              loss -= std::log(block.Y(i, 1) == 1 ? p(0, 1) : p(0, 0)) / 300;
                            }
                          });
  }
  CHECK(std::abs(loss - chosen.ridge_loss) <= 1e-9);
  CHECK(loss < std::log(2.0));
}

}  // namespace estimator_choice_test
