// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/operator_trial.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "model/operator_fit.h"
#include "model/operator_path.h"
#include "model/row_sets.h"
#include "solver/stein.h"

namespace mercer::model {
namespace {

using MapPointer = std::shared_ptr<const operators::OperatorMap>;

constexpr int64_t kMostSize = 1300;    // of a path: its cube is seconds
constexpr int64_t kJudgedRows = 2000;  // whose residuals are had one by one
constexpr double kTolerance = 1e-4;    // of trials by steps, whose errors are of few rows
constexpr int64_t kMostSteps = 2000;

double mean_square(MatrixView<const double> Y) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) {
      if (std::isnan(Y(i, k))) continue;
      sum += Y(i, k) * Y(i, k);
      ++count;
    }
  return count == 0 || sum == 0 ? 1 : sum / static_cast<double>(count);
}

void take_better(OperatorCandidate& best, double shape, double lambda, double error) {
  if (!(error < best.error)) return;
  best.shape = shape;
  best.lambda = lambda;
  best.error = error;
}

/// All shapes share the eigenvectors of the scalar features.
void by_stein(const std::vector<MapPointer>& maps, const OperatorRowsView& rows,
              std::span<const double> shapes, std::span<const double> lambdas, uint64_t seed,
              Context& context, OperatorCandidate& best) {
  const ScalarRows source(maps[0]->scalar(), rows.X, rows.Y);
  const solver::RidgePath path = scalar_path(source, context);
  std::vector<std::unique_ptr<const solver::OutputBasis>> bases;
  std::vector<const solver::OutputBasis*> listed;
  for (const MapPointer& map : maps) {
    bases.push_back(std::make_unique<const solver::OutputBasis>(map->shared_root(), context));
    listed.push_back(bases.back().get());
  }
  const auto judged = sample_rows(all_rows(rows.X.rows), kJudgedRows, seed);
  const Matrix<double> X(std::ssize(judged), rows.X.cols, context, "rows left out");
  const Matrix<double> Y(std::ssize(judged), rows.Y.cols, context, "rows left out");
  for (int64_t i = 0; i < X.rows(); ++i) {
    std::copy_n(rows.X.row(judged[static_cast<size_t>(i)]), X.cols(), X.view().row(i));
    std::copy_n(rows.Y.row(judged[static_cast<size_t>(i)]), Y.cols(), Y.view().row(i));
  }
  const ScalarRows some(maps[0]->scalar(), X.view(), Y.view());
  const Matrix<double> errors =
      solver::stein_leave_one_out_error(path, listed, lambdas, some, context);
  for (int64_t b = 0; b < errors.rows(); ++b)
    for (int64_t l = 0; l < errors.cols(); ++l)
      take_better(best, shapes[static_cast<size_t>(b)], lambdas[static_cast<size_t>(l)],
                  errors(b, l));
}

void by_path(const operators::OperatorMap& map, const OperatorRowsView& rows, double shape,
             std::span<const double> lambdas, uint64_t seed, Context& context,
             OperatorCandidate& best) {
  const OperatorPath path(map, rows.X, rows.Y, context);
  const auto judged = sample_rows(all_rows(rows.X.rows), kJudgedRows, seed);
  const std::vector<double> errors = path.leave_one_out(lambdas, judged, context);
  for (size_t l = 0; l < errors.size(); ++l) take_better(best, shape, lambdas[l], errors[l]);
}

/// Fewer lambdas, each of which costs steps.
void by_steps(const operators::OperatorMap& map, const OperatorRowsView& rows, double shape,
              std::span<const double> lambdas, uint64_t seed, Context& context,
              OperatorCandidate& best) {
  OperatorFitOptions options;
  options.method = OperatorMethod::conjugate_gradient;
  options.tolerance = kTolerance;
  options.most_iterations = kMostSteps;
  options.seed = seed;
  options.lambdas.clear();
  const size_t stride = lambdas.size() > 4 ? 2 : 1;
  for (size_t l = 0; l < lambdas.size(); l += stride) options.lambdas.push_back(lambdas[l]);
  std::vector<double> theta(static_cast<size_t>(map.coefficients()));
  const OperatorFit fit = choose_operator_lambda(map, rows.X, rows.Y, options, context, theta);
  take_better(best, shape, options.lambdas[static_cast<size_t>(fit.chosen)], fit.error);
}

/// Of few rows: a path for each shape against one eigendecomposition of D columns.
bool path_is_cheaper(const operators::OperatorMap& map, MatrixView<const double> Y,
                     int64_t shapes) {
  const auto m = static_cast<double>(Y.rows * Y.cols), D = static_cast<double>(map.features()),
             r = static_cast<double>(map.coefficients());
  constexpr double kEigen = 20;  // its cube against that of a product
  return m < r && static_cast<double>(shapes) * m * m * (r + kEigen * m) < kEigen * D * D * D;
}

}  // namespace

OperatorSolution solution_for(const operators::OperatorMap& map, MatrixView<const double> Y,
                              Context& context) {
  const bool gaps =
      std::any_of(Y.row(0), Y.row(0) + Y.rows * Y.cols, [](double y) { return std::isnan(y); });
  if (map.shared_root().rows > 0 && !gaps) return OperatorSolution::stein;
  const int64_t size = OperatorPath::size(map, Y);
  const bool room =
      size <= kMostSize && context.has_room(8 * size * (3 * size + map.coefficients()));
  return room ? OperatorSolution::path : OperatorSolution::steps;
}

OperatorCandidate try_out(const OperatorMaker& maker, const OperatorRowsView& rows,
                          double lengthscale, std::span<const double> shapes,
                          std::span<const double> lambdas, int64_t features, uint64_t seed,
                          Context& context) {
  std::vector<MapPointer> maps;
  for (const double shape : shapes) maps.push_back(maker.make(lengthscale, shape, features));
  OperatorSolution how = solution_for(*maps[0], rows.Y, context);
  if (how == OperatorSolution::stein && path_is_cheaper(*maps[0], rows.Y, std::ssize(maps)))
    how = OperatorSolution::path;
  OperatorCandidate best;
  if (how == OperatorSolution::stein) by_stein(maps, rows, shapes, lambdas, seed, context, best);
  for (size_t s = 0; how != OperatorSolution::stein && s < maps.size(); ++s)
    (how == OperatorSolution::path ? by_path : by_steps)(*maps[s], rows, shapes[s], lambdas, seed,
                                                         context, best);
  best.lengthscale = maker.searches_lengthscale() ? lengthscale : 0;
  best.error /= mean_square(rows.Y);
  best.left_out = how != OperatorSolution::steps;
  best.features = maps[0]->features();
  best.rows = rows.X.rows;
  return best;
}

std::vector<double> fit_candidate(const operators::OperatorMap& map, const OperatorRowsView& rows,
                                  double lambda, Context& context) {
  std::vector<double> theta(static_cast<size_t>(map.coefficients()));
  if (solution_for(map, rows.Y, context) == OperatorSolution::path && lambda > 0) {
    OperatorPath(map, rows.X, rows.Y, context).solve(lambda, context, theta);
    return theta;
  }
  OperatorFitOptions options;
  options.lambdas = {lambda};
  options.tolerance = 1e-7;
  options.most_iterations = 10 * kMostSteps;
  fit_operator(map, rows.X, rows.Y, options, context, theta);
  return theta;
}

}  // namespace mercer::model
