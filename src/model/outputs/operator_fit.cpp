// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which solver a fit takes, and how lambda is chosen: stein.h in closed form, the others by rows
// that were held out.
#include "model/outputs/operator_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/finite.h"
#include "linalg/blas.h"
#include "model/outputs/observed_gram.h"
#include "model/outputs/operator_folds.h"
#include "model/outputs/operator_halves.h"
#include "model/outputs/operator_means.h"
#include "model/outputs/output_units.h"
#include "model/prepare/input_domain.h"
#include "solver/block_source.h"
#include "solver/operator_descent.h"
#include "solver/operator_ridge.h"
#include "solver/stein.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

using solver::OperatorSolver;

constexpr const char* kWhat = "an operator-valued fit";

void take_least(MatrixView<const double> errors, OperatorFit& fit) {
  const solver::SteinChoice choice = solver::least_error(errors);
  fit.chosen = choice.lambda;
  fit.error = choice.error;
}

OperatorFit by_stein(const feature::FieldMap& map, MatrixView<const double> X,
                     MatrixView<const double> Y, const OperatorFitOptions& options,
                     Context& context, std::span<double> theta) {
  const Matrix<double> more = options.intercept ? with_ones(Y, context) : Matrix<double>();
  const ScalarRows rows(map.scalar(), X, options.intercept ? more.view() : Y);
  const bool folds = options.folds > 0, leaves_out = !folds && options.lambdas.size() > 1;
  const int64_t of_folds = folds ? X.rows + options.folds * solver::eigen_rows(rows.features()) : 0;
  const int64_t of_path = scalar_path_units(rows), left_out = leaves_out ? 2 * X.rows : 0;
  Stage stage(context, of_folds + of_path + left_out);
  const solver::OutputBasis basis(map.shared_root(), context);
  OperatorFit fit;
  fit.method = OperatorMethod::stein;
  // Before there is a path, which takes room.
  stage.share(of_folds);
  if (folds)
    take_least(fold_errors(map.scalar(), X, Y, basis, options.lambdas,
                           {options.folds, options.seed, options.intercept}, context)
                   .view(),
               fit);
  stage.advance(of_folds);
  const solver::RidgePath path = stage.part(of_path, [&] { return scalar_path(rows, context); });
  stage.share(left_out);
  if (leaves_out) {
    const solver::OutputBasis* const bases[] = {&basis};
    const auto errors =
        options.intercept
            ? leave_one_out_error(path, basis, options.lambdas, rows, context)
            : solver::stein_leave_one_out_error(path, {bases, options.lambdas}, rows, context);
    take_least(errors.view(), fit);
  }
  const auto solution = solver::stein_solution(
      path, basis, options.lambdas[static_cast<std::size_t>(fit.chosen)], context);
  std::copy_n(solution.theta.data(), theta.size(), theta.begin());
  return fit;
}

/// Moves theta to the minimum for a lambda by one of the methods that take steps; whether it got
/// there.
bool descend(const MapRows& rows, MatrixView<const double> Y, double lambda,
             const OperatorFitOptions& options, Context& context, std::span<double> theta,
             OperatorFit& fit, std::optional<solver::NystroemPreconditioner>* sketch) {
  if (fit.method == OperatorMethod::conjugate_gradient || fit.method == OperatorMethod::lsqr) {
    const auto kind = fit.method == OperatorMethod::lsqr ? OperatorSolver::lsqr
                                                         : OperatorSolver::conjugate_gradient;
    const auto solved = solver::operator_ridge(
        rows, Y, lambda, {kind, options.tolerance, options.most_iterations, sketch}, context,
        theta);
    fit.iterations += solved.iterations;
    fit.residual = solved.residual;
    return solved.converged;
  }
  const solver::OperatorObjective objective(rows, Y, options.loss, lambda);
  if (fit.method == OperatorMethod::lbfgs) {
    const auto end =
        solver::minimize(objective, {options.tolerance, options.most_iterations}, context, theta);
    fit.iterations += end.iterations;
    fit.residual = end.largest_gradient;
    return end.converged;
  }
  const auto end = solver::averaged_descent(
      objective, {.epochs = options.most_iterations, .seed = options.seed}, context, theta);
  std::vector<double> gradient(theta.size());
  objective(theta, gradient, context);
  fit.iterations += end.steps;
  fit.residual = 0;
  for (const double g : gradient)
    if (!(std::abs(g) <= fit.residual) && !std::isnan(fit.residual)) fit.residual = std::abs(g);
  return true;  // as many passes as were asked for
}

double loss_at(const MapRows& rows, MatrixView<const double> Y, const solver::OperatorLoss& loss,
               Context& context, std::span<const double> theta) {
  const solver::ObservedRows observed(rows, Y);
  const Matrix<double> S(Y.rows, Y.cols, context, kWhat);
  rows.values(0, solver::as_column(theta), context, S.view());
  // Squares without their half: the mean squared error.
  const double unit = loss.loss == nullptr ? 2 : 1;
  return unit * solver::take_slopes(loss, Y, S.view()) / static_cast<double>(observed.observed());
}

void choose_lambda(const MapRows& rows, MatrixView<const double> Y,
                   const OperatorFitOptions& options, Context& context, std::span<double> theta,
                   OperatorFit& fit) {
  const OperatorHalves halves(Y, options.seed, options.intercept, context);
  std::vector<int64_t> order(options.lambdas.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return options.lambdas[static_cast<std::size_t>(a)] >
           options.lambdas[static_cast<std::size_t>(b)];
  });
  std::vector<double> best(theta.begin(), theta.end());
  fit.error = std::numeric_limits<double>::infinity();
  std::optional<solver::NystroemPreconditioner> sketch;  // the rows kept are the same
  Stage stage(context, std::ssize(order));
  for (const int64_t l : order) {
    stage.share(1);
    // Smaller ones would converge even later.
    if (!descend(rows, halves.kept.view(), options.lambdas[static_cast<std::size_t>(l)], options,
                 context, theta, fit, &sketch))
      break;
    stage.advance(1);
    const double error = loss_at(rows, halves.held_out.view(), options.loss, context, theta);
    if (!(error < fit.error)) continue;
    fit.error = error;
    fit.chosen = l;
    best.assign(theta.begin(), theta.end());
  }
  require(std::isfinite(fit.error), MERCER_NOT_CONVERGED,
          "no lambda of %zu has a finite error on the rows held out: residual %g after %lld "
          "iterations in all, expected tolerance = %g",
          options.lambdas.size(), fit.residual, static_cast<long long>(fit.iterations),
          options.tolerance);
  std::ranges::copy(best, theta.begin());
}

OperatorMethod method_for(const feature::FieldMap& map, MatrixView<const double> Y,
                          const OperatorFitOptions& options) {
  const bool squares = options.loss.loss == nullptr, shared = map.shared_root().rows > 0;
  if (options.method == OperatorMethod::automatic) {
    if (!squares) return OperatorMethod::lbfgs;
    return shared && is_complete(Y) ? OperatorMethod::stein : OperatorMethod::conjugate_gradient;
  }
  const bool of_squares =
      options.method != OperatorMethod::lbfgs && options.method != OperatorMethod::gradients;
  require(squares || !of_squares, MERCER_UNSUPPORTED,
          "loss %s by a method of squares, expected lbfgs or gradients",
          solver::loss_name(options.loss.loss));
  require(options.method != OperatorMethod::stein || (shared && is_complete(Y)), MERCER_UNSUPPORTED,
          "fit->method = stein, expected another: it takes a decomposable map and targets without "
          "gaps");
  const double unread = OperatorFitOptions().tolerance;
  require(options.method != OperatorMethod::gradients || options.tolerance == unread,
          MERCER_INVALID_ARGUMENT,
          "fit->tolerance = %g, expected %g: the method gradients does not read it, it ends after "
          "most_iterations passes",
          options.tolerance, unread);
  return options.method;
}

}  // namespace

void require_inputs(const feature::FieldMap& map, const char* name, MatrixView<const double> X) {
  require_summable(name, X);
  check_domain(map.scalar().kernel(), name, X);
}

void MapRows::values(int64_t first, MatrixView<const double> theta, Context& context,
                     MatrixView<double> S) const {
  map_.multiply(X_.block_rows(first, first + S.rows), theta, feature::FieldKind::value, context, S);
}

void MapRows::add_adjoint(int64_t first, MatrixView<const double> S, Context& context,
                          MatrixView<double> theta) const {
  const Matrix<double> sums(theta.rows, theta.cols, context, kWhat);
  map_.adjoint(X_.block_rows(first, first + S.rows), S, context, sums.view());
  for (int64_t j = 0; j < theta.rows; ++j)
    for (int64_t k = 0; k < theta.cols; ++k) theta(j, k) += sums(j, k);
}

void ScalarRows::for_each(Context& context, const Body& body) const {
  const Matrix<double> Z(block_rows(), features(), context, kWhat);
  Stage stage(context, 2 * rows());
  for (int64_t first = 0; first < rows(); first += block_rows()) {
    const int64_t last = std::min(first + block_rows(), rows());
    const MatrixView<double> block = Z.view().block_rows(0, last - first);
    stage.part(last - first, [&] {
      map_.apply(X_.block_rows(first, last), {0, features()}, context, block);
    });
    solver::FeatureBlock part;
    part.first = first;
    part.Z64 = block;
    part.Y = Y_.block_rows(first, last);
    stage.part(last - first, [&] { body(part); });
    context.checkpoint();
  }
}

std::unique_ptr<solver::BlockSource> ScalarRows::subset(solver::RowSet) const {
  fail(MERCER_INTERNAL, "rows of an operator-valued fit have no subsets");
}

solver::RidgePath scalar_path(const ScalarRows& rows, Context& context) {
  context.require_room(solver::RidgePath::least_bytes(rows.features(), rows.outputs()),
                       "the sums over rows and their eigenvectors");
  solver::RowStatistics statistics(rows.features(), rows.outputs(), context);
  Stage stage(context, scalar_path_units(rows));
  stage.part(rows.rows(), [&] {
    solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
      statistics.add(block.Z, block.Y, context);
    });
  });
  stage.share(solver::eigen_rows(rows.features()));
  return solver::RidgePath(std::move(statistics), false, context);
}

int64_t scalar_path_units(const ScalarRows& rows) {
  return rows.rows() + solver::eigen_rows(rows.features());
}

OperatorFit choose_operator_lambda(const feature::FieldMap& map, MatrixView<const double> X,
                                   MatrixView<const double> Y, const OperatorFitOptions& options,
                                   Context& context, std::span<double> theta) {
  OperatorFit fit;
  fit.method = method_for(map, Y, options);
  std::ranges::fill(theta, 0.0);
  choose_lambda(MapRows(map, X), Y, options, context, theta, fit);
  return fit;
}

OperatorFit fit_operator(const feature::FieldMap& map, MatrixView<const double> X,
                         MatrixView<const double> Y, const OperatorFitOptions& options,
                         Context& context, std::span<double> theta) {
  require(!options.lambdas.empty(), MERCER_INVALID_ARGUMENT, "no lambdas, expected at least one");
  require_inputs(map, "X", X);
  require_summable("Y", Y, MissingNumbers::allowed);
  const MapRows rows(map, X);
  const solver::ObservedRows checked(rows, Y);
  std::vector<double> learnt(theta.size(), 0.0);
  OperatorFit fit;
  fit.method = method_for(map, Y, options);
  std::optional<Matrix<double>> centred;
  OutputUnits units{{}, std::vector<double>(static_cast<std::size_t>(Y.cols), 1.0)};
  if (options.intercept) {
    units.mean = output_units(Y, OutputScale::own).mean;
    centred = in_units(Y, units, context);
  }
  const MatrixView<const double> targets = centred ? centred->view() : Y;
  require(options.folds == 0 || fit.method == OperatorMethod::stein, MERCER_UNSUPPORTED,
          "folds = %lld, expected 0: they are of stein alone",
          static_cast<long long>(options.folds));
  if (fit.method == OperatorMethod::stein) {
    fit = by_stein(map, X, targets, options, context, learnt);
  } else {
    const int64_t choosing = options.lambdas.size() > 1 ? std::ssize(options.lambdas) : 0;
    Stage stage(context, choosing + 1);
    stage.share(choosing);
    if (choosing > 0) choose_lambda(rows, Y, options, context, learnt, fit);
    stage.advance(choosing);
    stage.share(1);
    const double lambda = options.lambdas[static_cast<std::size_t>(fit.chosen)];
    const bool converged = descend(rows, targets, lambda, options, context, learnt, fit, nullptr);
    require(converged, MERCER_NOT_CONVERGED,
            "residual %g after %lld iterations in all at lambda = %g, expected tolerance = %g",
            fit.residual, static_cast<long long>(fit.iterations), lambda, options.tolerance);
  }
  fit.squared_norm = linalg::dot(learnt, learnt);
  for (const double found : {fit.squared_norm, fit.error, fit.residual})
    require(std::isfinite(found), MERCER_INVALID_ARGUMENT,
            "the fit has |theta|^2 = %g, error %g and residual %g, expected targets, Gamma and "
            "lambda that leave them finite",
            fit.squared_norm, fit.error, fit.residual);
  fit.offset = std::move(units.mean);
  std::ranges::copy(learnt, theta.begin());
  return fit;
}

}  // namespace mercer::model
