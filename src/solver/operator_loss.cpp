// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of a block by the rows' operator, slopes entry by entry, the gradient by the adjoint
// (Brault, Heinonen, d'Alche-Buc 2016, eq. 26).
#include "solver/operator_loss.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "linalg/blas.h"
#include "linalg/lbfgs.h"
#include "solver/centering.h"

namespace mercer::solver {
namespace {

using Long = long long;

bool whole_rows(const OperatorLoss& loss) {
  return loss.loss != nullptr && loss.loss->classes && !loss.separate;
}

const LossParameters& parameters_of(const OperatorLoss& loss, int64_t output) {
  static const LossParameters usual;
  if (loss.parameters.empty()) return usual;
  return loss.parameters[loss.parameters.size() == 1 ? 0 : static_cast<std::size_t>(output)];
}

/// Of one entry; s becomes the slope.
double entry_loss(const OperatorLoss& loss, int64_t output, double y, double& s) {
  if (loss.loss == nullptr) {
    s -= y;
    return s * s / 2;
  }
  return loss.loss->at({&s, 1}, {&y, 1}, parameters_of(loss, output), {&s, 1}).value;
}

void check_parameters(const OperatorLoss& loss, int64_t outputs) {
  const auto count = static_cast<int64_t>(loss.parameters.size());
  require(count <= 1 || count == outputs, MERCER_DIMENSION_MISMATCH,
          "%lld parameters of the loss, expected none, 1 or outputs = %lld",
          static_cast<Long>(count), static_cast<Long>(outputs));
  for (const LossParameters& of : loss.parameters) {
    require(of.delta > 0, MERCER_INVALID_ARGUMENT, "delta = %g, expected a positive number",
            of.delta);
    require(of.tau > 0 && of.tau < 1, MERCER_INVALID_ARGUMENT,
            "tau = %g, expected a number in (0, 1)", of.tau);
  }
}

/// A code has a single 1; of one output 0 and 1 are two classes.
void check_one_class(const OperatorLoss& loss, MatrixView<const double> Y, int64_t i) {
  double ones = 0;
  for (int64_t k = 0; k < Y.cols; ++k) ones += Y(i, k);
  require(Y.cols == 1 || ones == 1, MERCER_INVALID_ARGUMENT,
          "row %lld has %g targets of 1, expected one: %s has one class per row",
          static_cast<Long>(i), ones, loss.loss->name);
}

void check_targets(const OperatorLoss& loss, MatrixView<const double> Y) {
  if (loss.loss == nullptr) return;
  const bool classes = loss.loss->classes;
  for (int64_t i = 0; i < Y.rows; ++i) {
    int64_t missing = 0;
    for (int64_t k = 0; k < Y.cols; ++k) {
      const double y = Y(i, k);
      missing += std::isnan(y);
      const bool fits = std::isnan(y) || (!classes || y == 0 || y == 1);
      require(fits && !(loss.loss->counts && y < 0), MERCER_INVALID_ARGUMENT,
              "target (%lld, %lld) = %g, expected %s for %s", static_cast<Long>(i),
              static_cast<Long>(k), y, classes ? "0 or 1" : "a count >= 0", loss.loss->name);
    }
    require(!whole_rows(loss) || missing == 0 || missing == Y.cols, MERCER_INVALID_ARGUMENT,
            "row %lld has %lld of %lld targets, expected all or none: %s has one class per row",
            static_cast<Long>(i), static_cast<Long>(Y.cols - missing), static_cast<Long>(Y.cols),
            loss.loss->name);
    if (whole_rows(loss) && missing == 0) check_one_class(loss, Y, i);
  }
}

std::string bounded_losses() {
  std::string names = kSquares;
  for (const Loss& one : loss_table())
    if (one.curvature != nullptr) names += std::string(", ") + one.name;
  return names;
}

}  // namespace

double OperatorLoss::largest_curvature() const {
  if (loss == nullptr) return 1;
  require(loss->curvature != nullptr, MERCER_UNSUPPORTED,
          "loss %s has no bound of its curvature, expected one of %s", loss->name,
          bounded_losses().c_str());
  double most = parameters.empty() ? loss->curvature({}, separate) : 0;
  for (const LossParameters& of : parameters) most = std::max(most, loss->curvature(of, separate));
  return most;
}

double take_slopes(const OperatorLoss& loss, MatrixView<const double> Y, MatrixView<double> S) {
  double sum = 0;
  const auto columns = static_cast<std::size_t>(S.cols);
  for (int64_t i = 0; i < S.rows; ++i) {
    if (whole_rows(loss) && !std::isnan(Y(i, 0))) {
      const std::span<double> s(S.row(i), columns);
      sum += loss.loss->at(s, {Y.row(i), columns}, parameters_of(loss, 0), s).value;
      continue;
    }
    for (int64_t k = 0; k < S.cols; ++k) {
      if (std::isnan(Y(i, k))) {
        S(i, k) = 0;
      } else {
        sum += entry_loss(loss, k, Y(i, k), S(i, k));
      }
    }
  }
  return sum;
}

OperatorObjective::OperatorObjective(const OperatorRows& rows, MatrixView<const double> Y,
                                     OperatorLoss loss, double lambda)
    : rows_(rows), Y_(Y), loss_(std::move(loss)), lambda_(lambda) {
  checked_shift(lambda, static_cast<double>(rows.rows()));
  const ObservedRows checked(rows, Y);
  check_parameters(loss_, Y.cols);
  check_targets(loss_, Y);
}

double OperatorObjective::operator()(std::span<const double> theta, std::span<double> gradient,
                                     Context& context) const {
  const int64_t most = std::min(kOperatorRows, rows_.rows());
  const Matrix<double> scores(most, Y_.cols, context, "a block of scores");
  std::ranges::fill(gradient, 0.0);
  double sum = 0;
  for (int64_t first = 0; first < rows_.rows(); first += most) {
    const int64_t last = std::min(first + most, rows_.rows());
    const MatrixView<double> S = scores.view().block_rows(0, last - first);
    rows_.values(first, as_column(theta), context, S);
    sum += take_slopes(loss_, Y_.block_rows(first, last), S);
    rows_.add_adjoint(first, S, context, as_column(gradient));
    context.checkpoint();
  }
  const auto N = static_cast<double>(rows_.rows());
  for (std::size_t j = 0; j < gradient.size(); ++j)
    gradient[j] = gradient[j] / N + lambda_ * theta[j];
  return sum / N + lambda_ / 2 * linalg::dot(theta, theta);
}

OperatorDescent minimize(const OperatorObjective& objective, const OperatorFitOptions& options,
                         Context& context, std::span<double> theta) {
  require(static_cast<int64_t>(theta.size()) == objective.rows().coefficients(),
          MERCER_DIMENSION_MISMATCH, "theta has %zu entries, expected coefficients = %lld",
          theta.size(), static_cast<Long>(objective.rows().coefficients()));
  const linalg::SmoothFunction f = [&](std::span<const double> x, std::span<double> gradient) {
    return objective(x, gradient, context);
  };
  const linalg::LbfgsOptions descent{.memory = 20,
                                     .most_iterations = options.most_iterations,
                                     .gradient_tolerance = 0,
                                     .decrement_tolerance = options.tolerance};
  const linalg::LbfgsResult end = linalg::minimize_lbfgs(f, theta, descent, context);
  return {end.iterations, end.largest_gradient, linalg::is_flat(end, f, theta.size(), descent)};
}

}  // namespace mercer::solver
