// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits with operator-valued maps: every method finds the same minimum, fields keep what they are,
// lambda is the best of a list, gaps in the targets.
#include "model/outputs/operator_fit.h"

#include <cmath>
#include <limits>

#include "fitted_operator.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;
using feature::FieldKind;
using model::OperatorFit;
using model::OperatorFitOptions;
using model::OperatorMethod;

namespace {

std::unique_ptr<const feature::FieldMap> field(const char* name, int64_t inputs, int64_t features) {
  return made_operator({{"operator", name}, {"inputs", inputs}, {"features", features}});
}

/// x -> (-x_2, x_1) exp(-|x|^2 / 2): without sources, of |curl| 2 at 0.
Matrix<double> vortex(const Matrix<double>& X) {
  return filled(X.rows(), 2, [&](int64_t i, int64_t k) {
    const double size = X(i, 0) * X(i, 0) + X(i, 1) * X(i, 1);
    return (k == 0 ? -X(i, 1) : X(i, 0)) * std::exp(-size / 2);
  });
}

}  // namespace

TEST_CASE("operator fits: every method has the same minimum", "[model]") {
  const Matrix<double> X = random_matrix(60, 2, 1), Y = random_matrix(60, 2, 2);
  const auto map = decomposable(20);
  OperatorFit fit;
  const Matrix<double> exact = fitted(*map, X, Y, {.lambdas = {1e-2}}, &fit);
  CHECK((fit.method == OperatorMethod::stein && fit.error == 0 && fit.chosen == 0));
  // (sum Phi_i Phi_i' + N lambda I) theta = sum Phi_i y_i.
  Matrix<double> left(40, 40);
  Context context;
  map->gram(X.view(), context, left.view());
  const Matrix<double> right = adjoint_of(*map, X.view(), Y);
  for (int64_t j = 0; j < 40; ++j) left(j, j) += 60 * 1e-2;
  CHECK(difference(product(left.view(), exact.view()).view(), right.view(), 1e-11) == "");
  double square = 0;
  for (int64_t j = 0; j < 40; ++j) square += exact(j, 0) * exact(j, 0);
  CHECK(std::abs(fit.squared_norm - square) < 1e-12 * square);
  for (const OperatorMethod method :
       {OperatorMethod::conjugate_gradient, OperatorMethod::lsqr, OperatorMethod::lbfgs}) {
    const Matrix<double> other =
        fitted(*map, X, Y, {.method = method, .lambdas = {1e-2}, .tolerance = 1e-14}, &fit);
    CHECK(difference(other.view(), exact.view(), 1e-6) == "");
    CHECK((fit.method == method && fit.iterations > 0 && fit.residual < 1e-6));
  }
  const Matrix<double> near = fitted(
      *map, X, Y, {.method = OperatorMethod::gradients, .lambdas = {1e-2}, .most_iterations = 400},
      &fit);
  CHECK(mean_square(field_of(*map, X.view(), near).view(), field_of(*map, X.view(), exact).view()) <
        1e-3);
}

TEST_CASE("operator fits: a learnt field has no divergence, resp. no curl", "[model]") {
  const Matrix<double> X = random_matrix(300, 2, 3), T = random_matrix(50, 2, 4);
  const Matrix<double> Y = vortex(X);
  OperatorFit fit;
  const auto free = field("divergence_free", 2, 100);
  const Matrix<double> theta =
      fitted(*free, X, Y, {.lambdas = {1.0, 1e-2, 1e-4, 1e-6}, .most_iterations = 4000}, &fit);
  CHECK((fit.method == OperatorMethod::conjugate_gradient && fit.chosen == 3));
  CHECK(fit.error < 1e-5);
  CHECK(mean_square(field_of(*free, T.view(), theta).view(), vortex(T).view()) < 1e-5);
  const Matrix<double> J = field_of(*free, T.view(), theta, FieldKind::jacobian);
  const Matrix<double> divergence = field_of(*free, T.view(), theta, FieldKind::divergence);
  const Matrix<double> curl = field_of(*free, T.view(), theta, FieldKind::curl);
  CHECK(largest(divergence.view()) < 1e-10 * largest(J.view()));
  CHECK(largest(curl.view()) > 1);
  // Gradients cannot turn: no more of the vortex than its mean.
  const auto gradients = field("curl_free", 2, 100);
  const Matrix<double> wrong = fitted(*gradients, X, Y, {.lambdas = {1e-4}}, &fit);
  CHECK(mean_square(field_of(*gradients, T.view(), wrong).view(), vortex(T).view()) > 0.05);
}

TEST_CASE("operator fits: lambda by rows left out, with gaps too", "[model]") {
  const Matrix<double> X = random_matrix(80, 2, 5), noise = random_matrix(80, 2, 6);
  Matrix<double> Y = filled(80, 2, [&](int64_t i, int64_t k) {
    return std::sin(3 * X(i, 0)) + static_cast<double>(k) * X(i, 1) + noise(i, k);
  });
  const auto map = decomposable(60);
  const std::vector<double> lambdas = {10, 0.1, 1e-3, 1e-9};
  OperatorFit fit;
  fitted(*map, X, Y, {.lambdas = lambdas}, &fit);
  CHECK((fit.method == OperatorMethod::stein && fit.chosen > 0 && fit.chosen < 3));
  // By the leave-one-out error: a refit without a row, N lambda kept.
  const int64_t gone = 17;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  double error = 0;
  for (int64_t row = 0; row < 80; ++row) {
    if (row % 8 != gone % 8) continue;
    Matrix<double> gap = copy(MatrixView<const double>(Y.view()));
    gap(row, 0) = gap(row, 1) = nan;
    const double chosen = lambdas[static_cast<size_t>(fit.chosen)];
    const Matrix<double> theta = fitted(*map, X, gap, {.lambdas = {chosen}, .tolerance = 1e-12});
    error += mean_square(field_of(*map, X.view().block_rows(row, row + 1), theta).view(),
                         Y.view().block_rows(row, row + 1)) /
             10;
  }
  CHECK((error > 0.3 * fit.error && error < 3 * fit.error));  // ten of 80 rows
  for (int64_t i = 0; i < 80; ++i) Y(i, i % 2) = nan;         // one task observed per row
  fitted(*map, X, Y, {.lambdas = lambdas}, &fit);
  CHECK((fit.method == OperatorMethod::conjugate_gradient && fit.chosen > 0 && fit.error > 0));
  OperatorFit again;
  fitted(*map, X, Y, {.lambdas = lambdas}, &again);
  CHECK((again.error == fit.error && again.chosen == fit.chosen));
}

TEST_CASE("operator fits: refusals", "[model]") {
  const Matrix<double> X = random_matrix(12, 2, 7), Y = random_matrix(12, 2, 8);
  Matrix<double> gap = copy(MatrixView<const double>(Y.view()));
  gap(0, 0) = std::numeric_limits<double>::quiet_NaN();
  const auto map = decomposable(8), free = field("divergence_free", 2, 8);
  const auto with = [&](const feature::FieldMap& of, const Matrix<double>& targets,
                        const OperatorFitOptions& options) {
    return [&, targets = targets.view(), options] {
      Context context;
      Matrix<double> theta(of.features(), 1);
      fit_operator(of, X.view(), targets, options, context,
                   {theta.data(), static_cast<size_t>(theta.rows())});
    };
  };
  CHECK(refusal_fault(MERCER_INVALID_ARGUMENT, with(*map, Y, {.lambdas = {}}), "lambdas") == "");
  CHECK(refusal_fault(MERCER_UNSUPPORTED, with(*free, Y, {.method = OperatorMethod::stein}),
                      "decomposable") == "");
  CHECK(refusal_fault(MERCER_UNSUPPORTED, with(*map, gap, {.method = OperatorMethod::stein}),
                      "gaps") == "");
  OperatorFitOptions huber{.method = OperatorMethod::lsqr};
  huber.loss.loss = solver::find_loss("huber");
  CHECK(refusal_fault(MERCER_UNSUPPORTED, with(*map, Y, huber), "huber") == "");
  CHECK(refusal_fault(MERCER_NOT_CONVERGED,
                      with(*free, Y, {.lambdas = {1e-8}, .tolerance = 1e-15, .most_iterations = 2}),
                      "2 iterations") == "");
}

TEST_CASE("operator fits: lambda is chosen by rows in which something was observed", "[model]") {
  const Matrix<double> X = random_matrix(10, 2, 9);
  Matrix<double> Y(10, 2);
  Y.fill(std::numeric_limits<double>::quiet_NaN());
  for (const int64_t i : {2, 5, 8}) Y(i, i % 2) = X(i, 0);
  const auto map = decomposable(8);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    OperatorFit fit;
    fitted(*map, X, Y, {.lambdas = {1, 1e-2}, .seed = seed}, &fit);
    CHECK((std::isfinite(fit.error) && fit.error > 0));
  }
  for (const int64_t i : {5, 8}) Y(i, i % 2) = Y(0, 0);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] {
              fitted(*map, X, Y, {.lambdas = {1, 1e-2}});
            },
            "1 rows with an observed target") == "");
}

TEST_CASE("operator fits: gradients refuse a tolerance that they would not read", "[model]") {
  const Matrix<double> X = random_matrix(40, 2, 14), Y = random_matrix(40, 2, 15);
  const auto map = decomposable(10);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] {
              fitted(*map, X, Y,
                     {.method = OperatorMethod::gradients, .lambdas = {1e-2}, .tolerance = 1e-6});
            },
            "fit->tolerance = 1e-06", "1e-08", "gradients") == "");
}

TEST_CASE("operator fits: stein asks for its room before it reads a row", "[model]") {
  constexpr int64_t kFeatures = 400;
  const Matrix<double> X = random_matrix(30, 2, 16), Y = random_matrix(30, 2, 17);
  const auto map = decomposable(kFeatures);
  std::vector<double> theta(static_cast<size_t>(map->features()));
  for (const int64_t folds : {0, 3})
    for (const bool intercept : {false, true}) {
      CAPTURE(folds, intercept);
      const OperatorFitOptions options{.lambdas = {1e-2}, .folds = folds, .intercept = intercept};
      const auto run = [&](int64_t cap) {
        Context context;
        context.memory_cap = cap;
        model::fit_operator(*map, X.view(), Y.view(), options, context, theta);
      };
      // Folds, all rows, rows without a fold and the eigenvectors; else rows and eigenvectors.
      // Later it would be the eigendecomposition that is refused.
      const int64_t gram = 8 * kFeatures * kFeatures, matrices = folds > 0 ? folds + 3 : 2;
      CHECK(refusal_fault(
                MERCER_OUT_OF_MEMORY, [&] { run(matrices * gram); },
                folds > 0 ? "folds of an operator-valued fit" : "the sums over rows") == "");
      run(matrices * gram + gram / 2);
    }
}

TEST_CASE("operator fits: no error of a list of lambdas is no choice", "[model]") {
  const Matrix<double> X = random_matrix(40, 2, 10), Y = random_matrix(40, 2, 11);
  const auto free = field("divergence_free", 2, 60);
  CHECK(refusal_fault(
            MERCER_NOT_CONVERGED,
            [&] {
              fitted(*free, X, Y,
                     {.lambdas = {1e-8, 1e-9}, .tolerance = 1e-14, .most_iterations = 2});
            },
            "no lambda of 2 has a finite error") == "");
}

TEST_CASE("operator fits: an input that is not finite is named, whatever the method", "[model]") {
  const auto map = decomposable(10);
  Matrix<double> X = random_matrix(40, 2, 12);
  const Matrix<double> Y = random_matrix(40, 2, 13);
  X(33, 1) = std::numeric_limits<double>::quiet_NaN();
  for (const OperatorMethod method :
       {OperatorMethod::stein, OperatorMethod::conjugate_gradient, OperatorMethod::lsqr,
        OperatorMethod::lbfgs, OperatorMethod::gradients})
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT,
              [&] { fitted(*map, X, Y, {.method = method, .lambdas = {1e-3}}); }, "X: row 33",
              "column 1", "nan") == "");
}

TEST_CASE("operator fits: where no step falls, far from the minimum, there is no fit", "[model]") {
  // Two rows that 20 coefficients interpolate: residuals come to rest on corners sharper than their
  // digits, where the gradient is as large as at the start. Where rounding lets a descent end
  // depends on the machine; that it is no fit does not.
  const auto map = decomposable(10);
  for (const double tolerance : {1e-14, 1e-8}) {
    OperatorFitOptions corner{
        .method = OperatorMethod::lbfgs, .lambdas = {1e-9}, .tolerance = tolerance};
    corner.loss = {solver::find_loss("quantile"), {{.delta = 1e-40}}};
    int refused = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const Matrix<double> X = random_matrix(2, 2, seed), Y = random_matrix(2, 2, seed + 1);
      OperatorFit fit;
      fit.residual = 0;
      refused +=
          refusal_fault(
              MERCER_NOT_CONVERGED, [&] { fitted(*map, X, Y, corner, &fit); }, "residual") == "";
      CHECK(fit.residual < 100 * std::sqrt(tolerance));
    }
    CHECK(refused > 0);
  }
}
