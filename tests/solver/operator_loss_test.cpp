// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Losses of several outputs: gradients by differences, squares as ridge has them, joint quantiles,
// tasks with gaps.
#include "solver/operator_loss.h"

#include <cstring>

#include "operator_problem.h"
#include "solver/operator_descent.h"
#include "solver/operator_ridge.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

namespace {

std::string gradient_fault(const OperatorObjective& objective) {
  Context context;
  const auto r = static_cast<size_t>(objective.rows().coefficients());
  const Matrix<double> start = random_matrix(static_cast<int64_t>(r), 1, 77);
  Vector theta(start.data(), start.data() + r), gradient(r), scratch(r);
  objective(theta, gradient, context);
  for (size_t j = 0; j < r; ++j) {
    const double at = theta[j], h = 1e-6;
    theta[j] = at + h;
    const double above = objective(theta, scratch, context);
    theta[j] = at - h;
    const double below = objective(theta, scratch, context);
    theta[j] = at;
    const double slope = (above - below) / (2 * h);
    if (!(std::abs(slope - gradient[j]) < 1e-6 * (1 + std::abs(slope))))
      return "coefficient " + std::to_string(j) + ": " + std::to_string(gradient[j]) + ", not " +
             std::to_string(slope);
  }
  return "";
}

}  // namespace

TEST_CASE("operator losses: gradients by differences, with gaps", "[solver]") {
  const Task task(40, 3, 8, 801);
  CHECK(gradient_fault({task.rows, task.gaps.view(), {}, 0.1}) == "");
  CHECK(gradient_fault(
            {task.rows, task.gaps.view(), {find_loss("huber"), {{.delta = 0.4}}}, 0.1}) == "");
  const Vector taus = {0.1, 0.5, 0.9};
  std::vector<LossParameters> joint;
  for (const double tau : taus) joint.push_back({.delta = 0.3, .tau = tau});
  CHECK(gradient_fault({task.rows, task.gaps.view(), {find_loss("quantile"), joint}, 0.1}) == "");
  for (const char* name : {"logistic", "squared_hinge"})
    for (const bool separate : {false, true}) {
      const Matrix<double> Y = task.classes(separate, true);
      CAPTURE(name, separate);
      CHECK(gradient_fault({task.rows, Y.view(), {find_loss(name), {}, separate}, 0.1}) == "");
    }
  const Matrix<double> counts = filled(40, 3, [&](int64_t i, int64_t k) {
    return std::isnan(task.gaps(i, k)) ? kMissing : std::floor(std::abs(task.Y(i, k)));
  });
  CHECK(gradient_fault({task.rows, counts.view(), {find_loss("poisson")}, 0.1}) == "");
}

TEST_CASE("operator losses: squares are ridge, and a Huber loss that is nowhere absolute",
          "[solver]") {
  const Task task(50, 3, 10, 811);
  const Matrix<double> expected =
      reference_operator_ridge(task.Phi.view(), task.gaps.view(), 50 * 0.02);
  const Vector squares = minimum({task.rows, task.gaps.view(), {}, 0.02});
  CHECK(difference(shaped(squares.data(), 10, 1).view(), expected.view(), 1e-7) == "");
  const Vector huber =
      minimum({task.rows, task.gaps.view(), {find_loss("huber"), {{.delta = 1e6}}}, 0.02});
  CHECK(difference(shaped(huber.data(), 10, 1).view(), expected.view(), 1e-7) == "");
}

TEST_CASE("joint quantiles: each output has its share of the targets below", "[solver]") {
  // One noise, three quantiles: outputs are constants, so that theta holds the quantiles.
  const int64_t N = 401;
  const Matrix<double> noise = random_matrix(N, 1, 821);
  const Matrix<double> Phi =
      filled(N * 3, 3, [](int64_t row, int64_t j) { return row % 3 == j ? 1.0 : 0.0; });
  const Matrix<double> Y = filled(N, 3, [&](int64_t i, int64_t) { return noise(i, 0); });
  const double taus[] = {0.1, 0.5, 0.8};
  std::vector<LossParameters> joint;
  for (const double tau : taus) joint.push_back({.delta = 1e-3, .tau = tau});
  const ExplicitRows rows(Phi.view(), 3);
  const Vector theta = minimum({rows, Y.view(), {find_loss("quantile"), joint}, 1e-9});
  for (size_t k = 0; k < 3; ++k) {
    double below = 0;
    for (int64_t i = 0; i < N; ++i) below += noise(i, 0) < theta[k];
    CHECK(std::abs(below / static_cast<double>(N) - taus[k]) < 2e-2);
  }
}

TEST_CASE("operator losses: refusals", "[solver]") {
  const Task task(20, 3, 5, 841);
  const auto made = [&](MatrixView<const double> Y, const OperatorLoss& loss) {
    OperatorObjective(task.rows, Y, loss, 0.1);
  };
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { made(task.Y.view(), {find_loss("logistic")}); },
            "0 or 1", "logistic") == "");
  const Matrix<double> classes = task.classes(true, true);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { made(classes.view(), {find_loss("logistic")}); },
            "all or none") == "");
  // Two classes or none are no class, but each output by itself may be anything.
  for (const double value : {0.0, 1.0}) {
    Matrix<double> wrong = task.classes(false, true);
    for (int64_t k = 0; k < 3; ++k) wrong(7, k) = value;
    for (const char* name : {"logistic", "squared_hinge"}) {
      CHECK(refusal_fault(
                MERCER_INVALID_ARGUMENT, [&] { made(wrong.view(), {find_loss(name)}); }, "row 7",
                "expected one") == "");
      made(wrong.view(), {find_loss(name), {}, true});
    }
  }
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { made(task.Y.view(), {find_loss("poisson")}); },
            "count") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] {
              made(task.Y.view(), {find_loss("quantile"), {{.tau = 1}}});
            },
            "tau") == "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH,
            [&] {
              made(task.Y.view(), {find_loss("quantile"), {{}, {}}});
            },
            "2 parameters") == "");
  Context context;
  Vector theta(5, 0.0);
  // A row that is not finite is seen by the rule for steps, whichever block it is in.
  Matrix<double> broken = copy(MatrixView<const double>(task.Phi.view()));
  broken(0, 0) = NAN;
  const ExplicitRows broken_rows(broken.view(), 3);
  const OperatorObjective nowhere(broken_rows, task.Y.view(), {}, 0.1);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { averaged_descent(nowhere, {.block_rows = 5}, context, theta); },
            "eigenvalue of a block of rows is") == "");
  const Matrix<double> counts =
      filled(20, 3, [](int64_t i, int64_t k) { return static_cast<double>((i + k) % 3); });
  const OperatorObjective poisson(task.rows, counts.view(), {find_loss("poisson")}, 0.1);
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED, [&] { averaged_descent(poisson, {}, context, theta); },
            "poisson") == "");
  const OperatorObjective squares(task.rows, task.Y.view(), {}, 1e-9);
  CHECK(refusal_fault(
            MERCER_NOT_CONVERGED,
            [&] {
              averaged_descent(squares, {.epochs = 400, .block_rows = 1, .first_step = 1e3},
                               context, theta);
            },
            "too long") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { averaged_descent(squares, {.epochs = 0}, context, theta); }, "epochs") == "");
  CHECK(refusal_fault(MERCER_DIMENSION_MISMATCH, [&] {
          averaged_descent(squares, {}, context, std::span(theta).first(3));
        }) == "");
}
