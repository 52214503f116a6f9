// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Errors of trials against refits without the rows, by every way to them; lambdas that were given
// are all tried; where trials have part of the features and scores part of the rows.
#include "model/outputs/operator_trial.h"

#include <algorithm>
#include <cmath>

#include "model/outputs/operator_fit.h"
#include "model/outputs/operator_path.h"
#include "operator_cases.h"
#include "support/catch.h"
#include "support/dense.h"

using namespace mercer;
using namespace mercer::test;
using model::OperatorCandidate;
using model::OperatorMaker;
using model::OperatorPlan;
using model::OperatorReport;
using model::OperatorRowsView;
using model::OperatorSolution;

namespace {

/// Squared errors of every observed target by a refit without its row, N lambda kept, over the mean
/// square of the targets.
double refitted(const feature::FieldMap& map, const Matrix<double>& X, const Matrix<double>& Y,
                double lambda) {
  Context context;
  double sum = 0, squares = 0;
  for (int64_t row = 0; row < X.rows(); ++row) {
    const Matrix<double> without =
        filled(X.rows(), 2, [&](int64_t i, int64_t k) { return i == row ? kMissing : Y(i, k); });
    std::vector<double> theta(static_cast<size_t>(map.features()));
    model::fit_operator(
        map, X.view(), without.view(),
        {.method = model::OperatorMethod::lsqr, .lambdas = {lambda}, .tolerance = 1e-13}, context,
        theta);
    Matrix<double> f(1, 2);
    map.multiply(X.view().block_rows(row, row + 1), {theta.data(), std::ssize(theta), 1},
              feature::FieldKind::value, context, f.view());
    for (int64_t k = 0; k < 2; ++k) {
      if (std::isnan(Y(row, k))) continue;
      sum += std::pow(f(0, k) - Y(row, k), 2);
      squares += Y(row, k) * Y(row, k);
    }
  }
  return sum / squares;
}

}  // namespace

TEST_CASE("operator trials: errors are those of refits without the row", "[model]") {
  const struct {
    const char* name;
    int64_t features, rows;
    bool gaps;
    OperatorSolution how;
  } cases[] = {{"decomposable", 40, 30, false, OperatorSolution::stein},  // of rows
               {"decomposable", 20, 30, false, OperatorSolution::stein},  // of features
               {"decomposable", 20, 30, true, OperatorSolution::path},
               {"divergence_free", 20, 30, false, OperatorSolution::path},
               {"divergence_free", 60, 15, true, OperatorSolution::path}};
  for (const auto& one : cases) {
    const Matrix<double> X = random_matrix(one.rows, 2, 8), raw = targets(X, one.gaps);
    Context context;
    const OperatorMaker maker(plan_of(one.name, one.features), X.view(), raw.view(), context);
    const Matrix<double> Y = in_units(raw.view(), maker.units(), context);
    for (const double shape : {0.0, 0.5, 1.0}) {
      if (shape > 0 && maker.shapes().size() == 1) continue;
      const auto map = maker.make(0.5, shape, one.features);
      CHECK(model::solution_for(*map, Y.view(), context) == one.how);
      for (const double lambda : {1.0, 1e-2}) {
        const OperatorCandidate found = model::try_out(
            maker, {X.view(), Y.view()}, 0.5, {&shape, 1}, {&lambda, 1}, one.features, 0, context);
        const double expected = refitted(*map, X, Y, lambda);
        CHECK(std::abs(found.error - expected) < 1e-7 * expected);
        CHECK((found.left_out && found.rows == one.rows && found.features == one.features));
      }
    }
  }
}

TEST_CASE("operator trials: by steps every lambda that was given is tried", "[model]") {
  const Matrix<double> X = random_matrix(400, 2, 9), Y = targets(X, true);
  const OperatorPlan plan = plan_of("decomposable", 150);
  const std::vector<double> given = {10, 1e-3, 1, 1e-4, 5, 1e-2};
  Context small;
  small.memory_cap = int64_t{4} << 20;
  OperatorReport report;
  const auto run = [&](std::vector<double> lambdas) {
    report = {};
    model::search_operator(
        plan, {.lengthscales = {0.5}, .lambdas = lambdas, .shapes = {0.5}, .assess = false},
        X.view(), Y.view(), small, report);
    CHECK(!report.chosen.left_out);
    return report.chosen;
  };
  double least = 1;
  for (const double lambda : given) least = std::min(least, run({lambda}).error);
  const OperatorCandidate chosen = run(given);
  CHECK(std::abs(chosen.error - least) < 1e-2 * least);
  CHECK((chosen.lambda == 1e-2 || chosen.lambda == 1e-3));
  CHECK(report.warnings.empty());
  // Nobody's list: the fit has a lambda of a finer one than the trial's.
  const OperatorCandidate searched = run({});
  CHECK(searched.error < 1.01 * least);
}

TEST_CASE("operator trials: part of the features, then lambda again with all", "[model]") {
  const Matrix<double> X = random_matrix(600, 2, 10), Y = targets(X, false);
  Context context;
  OperatorReport report;
  const model::OperatorModel model = model::search_operator(
      plan_of("decomposable", 1400), {.lengthscales = {0.5}, .shapes = {0.5}, .assess = false},
      X.view(), Y.view(), context, report);
  REQUIRE(report.trials.size() == 1);
  CHECK((report.trials[0].features == 1024 && report.trials[0].rows == 600));
  CHECK((report.chosen.features == 1400 && model.map->scalar().features() == 1400));
  CHECK(std::abs(report.chosen.error - report.trials[0].error) < 0.1 * report.trials[0].error);
}

TEST_CASE("operator search: which rows a score is of", "[model]") {
  for (const int64_t n : {9, 10, 400, 401, 5000, 5001}) {
    const Matrix<double> X = random_matrix(n, 2, 11), Y = targets(X, false);
    Context context;
    OperatorReport report;
    const auto plan = plan_of("divergence_free", 8);
    model::search_operator(plan, {.lengthscales = {0.5}, .lambdas = {1e-3}}, X.view(), Y.view(),
                           context, report);
    CHECK(report.score.nested == (n >= 10 && n <= 400));
    CHECK(report.score.rows == (n < 10     ? 0
                                : n <= 400 ? n
                                : n == 401 ? 80
                                           : n / (n > 5000 ? 10 : 5)));
    bool told = false;
    for (const std::string& warning : report.warnings)
      told = told || warning.find("there is no score: 9 rows") != std::string::npos;
    CHECK(told == (n < 10));
  }
}

TEST_CASE("operator search: a constant output changes no other's score or choice", "[model]") {
  const Matrix<double> X = random_matrix(120, 2, 12), Y = targets(X, false);
  OperatorReport one, two;
  Context context;
  const auto plan = plan_of("decomposable", 20);
  const Matrix<double> alone = filled(120, 1, [&](int64_t i, int64_t) { return Y(i, 0); });
  const Matrix<double> with =
      filled(120, 2, [&](int64_t i, int64_t k) { return k == 0 ? Y(i, 0) : 0.1; });
  const auto first = model::search_operator(plan, {}, X.view(), alone.view(), context, one);
  const auto second = model::search_operator(plan, {}, X.view(), with.view(), context, two);
  CHECK((!one.has_shape && one.chosen.shape == 0));
  CHECK(one.chosen.lambda == two.chosen.lambda);
  CHECK(std::abs(one.chosen.lengthscale - two.chosen.lengthscale) < 1e-12);
  CHECK(std::abs(one.score.score - two.score.score) < 1e-6);
  CHECK(std::abs(one.score.constant - two.score.constant) < 1e-6);
  CHECK(std::abs(two.score.independent - two.score.score) < 1e-6);
  Matrix<double> f(120, 1), g(120, 2);
  predict(first, X.view(), feature::FieldKind::value, context, f.view());
  predict(second, X.view(), feature::FieldKind::value, context, g.view());
  for (int64_t i = 0; i < 120; ++i) {
    CHECK(std::abs(f(i, 0) - g(i, 0)) < 1e-6);
    CHECK(std::abs(g(i, 1) - 0.1) < 1e-12);
  }
  // Nothing varies: every prediction is the targets.
  for (const char* name : {"decomposable", "divergence_free"})
    for (const double flat : {0.0, 3.0}) {
      const Matrix<double> same = filled(40, 2, [&](int64_t, int64_t) { return flat; });
      const Matrix<double> some = filled(40, 2, X.view());
      OperatorReport report;
      const auto model =
          model::search_operator(plan_of(name, 20), {}, some.view(), same.view(), context, report);
      Matrix<double> h(40, 2);
      predict(model, some.view(), feature::FieldKind::value, context, h.view());
      CHECK(difference(h.view(), same.view(), 1e-12) == "");
      CHECK(std::isnan(report.score.score));
    }
}

TEST_CASE("operator search: folds may lack a pair that all rows have", "[model]") {
  const Matrix<double> X = random_matrix(30, 2, 13);
  Matrix<double> Y = targets(X, false);
  for (int64_t i = 1; i < 30; ++i) Y(i, i % 2) = kMissing;  // both in row 0 alone
  for (const auto structure :
       {model::OutputStructure::covariance, model::OutputStructure::similarity}) {
    OperatorPlan plan = plan_of("decomposable", 10);
    plan.structure = structure;
    Context context;
    OperatorReport report;
    model::search_operator(plan, {}, X.view(), Y.view(), context, report);
    CHECK((report.score.rows == 30 && std::isfinite(report.score.score)));
  }
}

TEST_CASE("operator search: with more than a path holds lambda is chosen again by factors",
          "[model]") {
  const int64_t n = 700;
  const Matrix<double> X = random_matrix(n, 2, 14), Y = targets(X, false);
  Context context;
  OperatorReport report;
  const model::OperatorModel model = model::search_operator(
      plan_of("divergence_free", 1400), {.lengthscales = {0.5}, .assess = false}, X.view(),
      Y.view(), context, report);
  REQUIRE((report.trials.size() == 1 && model.map->features() == 1400));
  CHECK((report.trials[0].left_out && report.trials[0].features == 1024));
  CHECK((!report.chosen.left_out && report.chosen.features == 1400));
  CHECK(model.lambda == report.chosen.lambda);
  const double steps = 2 * std::log10(report.chosen.lambda / report.trials[0].lambda);
  CHECK((std::abs(steps) < 2.5 && std::abs(steps - std::round(steps)) < 1e-9));  // of the list
  // sum_i Phi(x_i)(y_i - offset - f(x_i)) = N lambda theta.
  Matrix<double> f(n, 2), left(1400, 1);
  model::predict(model, X.view(), feature::FieldKind::value, context, f.view());
  for (int64_t j = 0; j < 2 * n; ++j) f.data()[j] = Y.data()[j] - f.data()[j];
  model.map->adjoint(X.view(), MatrixView<const double>(f.view()), context, left.view());
  double most = 0;
  for (int64_t j = 0; j < 1400; ++j) {
    const double right =
        static_cast<double>(n) * model.lambda * model.theta[static_cast<size_t>(j)];
    most = std::max(most, std::abs(right));
    CHECK(std::abs(left(j, 0) - right) < 1e-8);
  }
  CHECK(most > 1e-3);
}

TEST_CASE("operator search: independent outputs have the same features", "[model]") {
  const Matrix<double> X = random_matrix(40, 2, 15), Y = targets(X, false);
  OperatorPlan plan = plan_of("decomposable", 50);
  plan.spec.set("projection", "sorf");
  plan.spec.set("whole_blocks", true);
  Context context;
  OperatorReport report;
  // Gamma = I, too.
  model::search_operator(plan, {.lengthscales = {0.5}, .lambdas = {1e-2}, .shapes = {0}}, X.view(),
                         Y.view(), context, report);
  CHECK(report.chosen.features < 50);
  CHECK(std::abs(report.score.score - report.score.independent) < 1e-12);
}
