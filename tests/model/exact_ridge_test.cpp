// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/exact_ridge.h"

#include <cmath>
#include <vector>

#include "model_problem.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

Matrix<double> exact_predictions(const ExactModel& model, MatrixView<const double> X) {
  Matrix<double> scores(X.rows, model.alpha.cols());
  Context context;
  predict_exact(model, X, context, scores.view());
  return scores;
}

double rms_difference(const Matrix<double>& A, const Matrix<double>& B) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows(); ++i) sum += (A(i, 0) - B(i, 0)) * (A(i, 0) - B(i, 0));
  return std::sqrt(sum / static_cast<double>(A.rows()));
}

}  // namespace

TEST_CASE("exact ridge solves its system on standardised rows", "[model]") {
  // alpha = (Y - mean - fitted) / (n lambda): each prediction of a training row leaves n lambda
  // alpha. Predictions are sums of n terms of size |alpha| <= 1/(n lambda) = 10: 120 x 10 x eps,
  // and 1e-10 is far above it.
  const Problem problem = smooth_problem(120, 3, 2, 0.1, 71);
  Fitting options;
  options.select.lambda = 1e-3;
  Context context;
  for (const bool center : {true, false}) {
    options.estimate.center = center;
    const ExactModel model =
        fit_exact(kernel::make_gaussian({0.8}, 1.0), options, problem.x(), problem.y(), context);
    const Matrix<double> fitted = exact_predictions(model, problem.x());
    double worst = 0;
    for (int64_t i = 0; i < 120; ++i) {
      for (int64_t o = 0; o < 2; ++o) {
        const double left = problem.Y(i, o) - fitted(i, o);
        worst = std::max(worst, std::abs(left - 120 * 1e-3 * model.alpha(i, o)));
      }
    }
    CHECK(worst < 1e-10);
    CHECK((model.mean[0] != 0) == center);
  }
}

TEST_CASE("exact ridge refuses an alpha beyond the numbers of a double", "[model]") {
  Problem problem = smooth_problem(20, 3, 1, 0.1, 72);
  for (int64_t i = 0; i < 20; ++i) problem.Y(i, 0) *= 1e140;
  Fitting options;
  options.select.lambda = 1e-300;
  Context context;
  CHECK(refusal_fault(
            MERCER_NOT_CONVERGED,
            [&] {
              fit_exact(kernel::make_gaussian({0.8}, 1e-200), options, problem.x(), problem.y(),
                        context);
            },
            "is not finite") == "");
}

TEST_CASE("exact ridge refuses rows outside the kernel's domain when it predicts", "[model]") {
  const Problem problem = smooth_problem(30, 3, 1, 0.1, 73);
  const auto inside = filled(30, 3, [&](int64_t i, int64_t k) { return 1 + problem.X(i, k) / 9; });
  const auto kernel = kernel::make_kernel({{"kernel", "additive_chi2"}});
  Fitting options;
  options.select.lambda = 1e-3;
  Context context;
  const ExactModel model = fit_exact(kernel->copy(), options, inside.view(), problem.y(), context);
  const auto outside = copy(inside.view());
  outside(7, 2) = -0.5;
  Matrix<double> scores(30, 1);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { predict_exact(model, outside.view(), context, scores.view()); },
            "X: row 7, column 2", "is -0.5", "kernel additive_chi2", "leave the row out") == "");
  outside(7, 2) = 0.25;
  predict_exact(model, outside.view(), context, scores.view());
  for (int64_t i = 0; i < 30; ++i) CHECK(std::isfinite(scores(i, 0)));
}

TEST_CASE("exact classification is one-hot least squares", "[model]") {
  Problem problem = smooth_problem(90, 3, 1, 0.1, 72);
  for (int64_t i = 0; i < 90; ++i) problem.Y(i, 0) = problem.X(i, 0) > 0 ? 1 : 0;
  Fitting options;
  options.coding.task = Task::classification;
  options.coding.classes = 2;
  options.select.lambda = 1e-4;
  Context context;
  const ExactModel model =
      fit_exact(kernel::make_gaussian({1.0}, 1.0), options, problem.x(), problem.y(), context);
  const Matrix<double> scores = exact_predictions(model, problem.x());
  int64_t wrong = 0;
  double worst = 0;
  for (int64_t i = 0; i < 90; ++i) {
    wrong += (scores(i, 1) > scores(i, 0)) != (problem.Y(i, 0) == 1);
    worst = std::max(worst, std::abs(scores(i, 0) + scores(i, 1) - 1));  // codes sum to 1
  }
  CHECK(worst < 1e-10);
  CHECK(wrong <= 2);  // a smooth boundary through 90 points: at most those nearest to it
}

TEST_CASE("random features approach the exact solution like D^(-1/2)", "[model]") {
  // The mean square distance falls by 16 from D = 64 to 1024, its root by 4. Over 8 maps each root
  // mean square has a relative spread of about (2 x 8)^(-1/2) = 0.25 at most, so a ratio below 2 is
  // a deviation of log 2 over sqrt(2) x 0.25 = 2.0, at n = 200 test rows far less likely still; the
  // seeds are fixed.
  const Problem problem = smooth_problem(300, 3, 1, 0.1, 73),
                test = smooth_problem(200, 3, 1, 0, 74);
  Fitting options;
  options.select.selection = Selection::fixed;
  options.select.lambda = 1e-2;
  options.estimate.center = false;
  Context context;
  const Matrix<double> exact = exact_predictions(
      fit_exact(kernel::make_gaussian({1.5}, 1.0), options, problem.x(), problem.y(), context),
      test.x());
  std::vector<double> distance;
  for (const int64_t D : {64, 256, 1024}) {
    double squares = 0;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      const Model model =
          fit(gaussian_map(3, D, 1.5, seed), options, problem.x(), problem.y(), context);
      squares += std::pow(rms_difference(predictions(model, test.x()), exact), 2) / 8;
    }
    distance.push_back(std::sqrt(squares));
  }
  CHECK(distance[1] < distance[0]);
  CHECK(distance[2] < distance[1]);
  CHECK(distance[2] < distance[0] / 2);
}

TEST_CASE("the exact reference gives the same answer from single precision rows", "[model]") {
  const Problem problem = smooth_problem(60, 3, 1, 0.1, 75);
  Matrix<float> narrow(60, 3);
  for (int64_t i = 0; i < 180; ++i) narrow.data()[i] = static_cast<float>(problem.X.data()[i]);
  Matrix<double> widened = copy(MatrixView<const float>(narrow.view()));
  Fitting options;
  options.select.lambda = 1e-2;
  Context context;
  const auto kernel = [] { return kernel::make_gaussian({1.0}, 1.0); };
  const ExactModel one =
      fit_exact(kernel(), options, MatrixView<const float>(narrow.view()), problem.y(), context);
  const ExactModel two =
      fit_exact(kernel(), options, MatrixView<const double>(widened.view()), problem.y(), context);
  CHECK(largest_difference(one.alpha, two.alpha) == 0);
}

TEST_CASE("weights of exact ridge: the stationary point, and a row of weight 2 is two rows",
          "[model]") {
  const Problem problem = smooth_problem(60, 3, 2, 0.1, 74);
  std::vector<double> weights;
  std::vector<int64_t> copies;
  for (int64_t i = 0; i < 60; ++i) {
    weights.push_back(static_cast<double>((i * 7) % 4));
    for (int64_t k = 0; k < (i * 7) % 4; ++k) copies.push_back(i);
  }
  const auto count = static_cast<int64_t>(copies.size());
  Problem repeated{Matrix<double>(count, 3), Matrix<double>(count, 2)};
  for (int64_t k = 0; k < count; ++k) {
    std::copy_n(problem.x().row(copies[static_cast<size_t>(k)]), 3, repeated.X.view().row(k));
    std::copy_n(problem.y().row(copies[static_cast<size_t>(k)]), 2, repeated.Y.view().row(k));
  }
  Fitting options;
  options.select.lambda = 1e-3;
  Context context;
  const std::shared_ptr<const kernel::Kernel> kernel = kernel::make_gaussian({0.8}, 1.0);
  const ExactModel model = fit_exact(kernel, options, problem.x(), problem.y(), context, weights);
  const ExactModel twice = fit_exact(kernel, options, repeated.x(), repeated.y(), context);
  const Matrix<double> a = exact_predictions(model, problem.x()),
                       b = exact_predictions(twice, problem.x());
  // n lambda alpha_i = w_i (y_i - f(x_i)): sums of 60 terms of size |alpha| <= 3/(n lambda).
  double stationary = 0, apart = 0;
  for (int64_t i = 0; i < 60; ++i) {
    for (int64_t o = 0; o < 2; ++o) {
      const double w = weights[static_cast<size_t>(i)];
      const double force = w * (problem.Y(i, o) - a(i, o));
      stationary = std::max(
          stationary, std::abs(force - static_cast<double>(count) * 1e-3 * model.alpha(i, o)));
      apart = std::max(apart, std::abs(a(i, o) - b(i, o)));
      if (w == 0) CHECK(model.alpha(i, o) == 0);
    }
  }
  CHECK(stationary < 1e-10);
  CHECK(apart < 1e-9);
  weights[3] = -1;
  CHECK_THROWS_AS(fit_exact(kernel, options, problem.x(), problem.y(), context, weights), Error);
}
