// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Choice of lambda (SPEC section 9). Held-out rows and K folds are predicted by rows, so that
// classification can count errors; the statistics of the other rows are the total with the fold's
// rows removed, and added back afterwards: one Gram matrix serves every fold. GCV and leave-one-out
// come from one eigendecomposition of all rows.
#include "model/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/size.h"
#include "model/held_out_score.h"
#include "model/lambda_path.h"

namespace mercer::model {
namespace {

/// Largest D for which a path over held-out rows decomposes; above it a Cholesky factor per lambda
/// takes less memory.
constexpr int64_t kMostEigenFeatures = 4096;

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Adds the share of one fold to the score of every lambda.
void add_fold(const FeatureRows& rows, const std::vector<int64_t>& fold, double share,
              const LambdaPath& solver, std::vector<PathPoint>& path, Context& context) {
  std::vector<solver::Weights> weights;
  for (const PathPoint& point : path) {
    context.checkpoint();
    weights.push_back(solver.solve(point.lambda, context));
  }
  const auto scores = score_rows(rows, fold, weights, context);
  for (size_t k = 0; k < path.size(); ++k) {
    path[k].score += share * scores[k].criterion(rows.options().task);
  }
}

/// The row sets to be predicted: one for held_out, K for kfold.
std::vector<std::vector<int64_t>> validation_sets(const FitOptions& options, int64_t n) {
  if (options.selection == Selection::kfold) return fold_rows(n, options.folds, options.seed);
  return {split_rows(n, options.held_out_fraction, n, options.seed).held_out};
}

double share_of(const std::vector<int64_t>& fold, const std::vector<std::vector<int64_t>>& folds) {
  size_t all = 0;
  for (const auto& one : folds) all += one.size();
  return static_cast<double>(fold.size()) / static_cast<double>(all);
}

int64_t size_of(const std::vector<int64_t>& fold) { return static_cast<int64_t>(fold.size()); }

Selected validate_primal(const FeatureRows& rows, Context& context) {
  const FitOptions& options = rows.options();
  const auto folds = validation_sets(options, rows.rows());
  // All but the first fold; then every fold is added and every one but the first removed before.
  int64_t rows_read = rows.rows() - 2 * size_of(folds[0]);
  for (const auto& fold : folds) rows_read += 2 * size_of(fold);
  Stage stage(context, rows_read);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  solver::RowStatistics statistics(rows.features(), rows.outputs());
  rows.add_to(statistics, rows_without(rows.rows(), folds[0]), context, done);
  Selected result{{}, 0, empty_path(options)};
  for (size_t f = 0; f < folds.size(); ++f) {
    if (f > 0) rows.remove_from(statistics, folds[f], context, done);
    const auto solver = rows.features() <= kMostEigenFeatures
                            ? make_eigen_path(statistics.clone(), options.center, context)
                            : make_cholesky_path(statistics, options.center);
    add_fold(rows, folds[f], share_of(folds[f], folds), *solver, result.path, context);
    rows.add_to(statistics, folds[f], context, done);
  }
  result.lambda = best_point(result.path).lambda;
  result.weights =
      solver::ridge_cholesky(std::move(statistics), options.center, result.lambda, context);
  return result;
}

Selected validate_dual(const FeatureRows& rows, Context& context) {
  const FitOptions& options = rows.options();
  const auto folds = validation_sets(options, rows.rows());
  int64_t rows_read = rows.rows();
  for (const auto& fold : folds) rows_read += rows.rows() - size_of(fold);
  Stage stage(context, rows_read);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  Selected result{{}, 0, empty_path(options)};
  for (const auto& fold : folds) {
    const auto train = rows_without(rows.rows(), fold);
    const auto solver = make_dual_path(make_dual_system(rows, train, context, done));
    add_fold(rows, fold, share_of(fold, folds), *solver, result.path, context);
  }
  result.lambda = best_point(result.path).lambda;
  result.weights =
      make_dual_system(rows, RowSet(rows.rows()), context, done).solve(result.lambda, context);
  return result;
}

/// Leave-one-out: the eigenvectors meet the rows once more.
void score_left_out(const FeatureRows& rows, const solver::RidgePath& solver, const RowsDone& done,
                    std::vector<PathPoint>& path, Context& context) {
  const auto n = static_cast<double>(rows.rows());
  std::vector<double> lambdas;
  for (const PathPoint& point : path) lambdas.push_back(point.lambda);
  rows.for_each_wide(RowSet(rows.rows()), context, [&](const WideBlock& block) {
    const Matrix<double> squares = solver.leave_one_out_squares(lambdas, block.Z, block.Y, context);
    for (int64_t k = 0; k < squares.rows(); ++k) {
      for (int64_t o = 0; o < squares.cols(); ++o) {
        path[static_cast<size_t>(k)].score += squares(k, o) / n;
      }
    }
    done(block.Z.rows);
  });
}

Selected decompose_primal(const FeatureRows& rows, solver::RowStatistics statistics,
                          const RowsDone& done, Context& context) {
  const FitOptions& options = rows.options();
  const solver::RidgePath solver(std::move(statistics), options.center, context);
  Selected result{{}, 0, empty_path(options)};
  if (options.selection == Selection::gcv) {
    for (PathPoint& point : result.path) point.score = total_gcv(solver, point.lambda);
  } else {
    score_left_out(rows, solver, done, result.path, context);
  }
  result.lambda = best_point(result.path).lambda;
  result.weights = solver.solve(result.lambda);
  return result;
}

Selected decompose_dual(const FitOptions& options, DualSystem system, Context& context) {
  system.decompose(context);
  context.checkpoint();
  Selected result{{}, 0, empty_path(options)};
  for (PathPoint& point : result.path) {
    point.score = total(options.selection == Selection::gcv ? system.gcv(point.lambda)
                                                            : system.leave_one_out(point.lambda));
  }
  result.lambda = best_point(result.path).lambda;
  result.weights = system.solve(result.lambda, context);
  return result;
}

bool validates(Selection selection) {
  return selection == Selection::held_out || selection == Selection::kfold;
}

}  // namespace

std::vector<PathPoint> empty_path(const FitOptions& options) {
  std::vector<PathPoint> path;
  for (const double lambda :
       solver::lambda_grid(options.lambda_largest, options.lambda_smallest, options.lambda_count)) {
    path.push_back({lambda, 0.0});
  }
  return path;
}

double total_gcv(const solver::RidgePath& path, double lambda) { return total(path.gcv(lambda)); }

const PathPoint& best_point(const std::vector<PathPoint>& path) {
  size_t best = 0;
  for (size_t k = 1; k < path.size(); ++k) {
    if (path[k].score < path[best].score || std::isnan(path[best].score)) best = k;
  }
  return path[best];
}

Selected select_primal(const FeatureRows& rows, Context& context) {
  const FitOptions& options = rows.options();
  if (validates(options.selection)) return validate_primal(rows, context);
  Stage stage(context, options.selection == Selection::loo ? 2 * rows.rows() : rows.rows());
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  solver::RowStatistics statistics(rows.features(), rows.outputs());
  rows.add_to(statistics, RowSet(rows.rows()), context, done);
  if (options.selection != Selection::fixed) {
    return decompose_primal(rows, std::move(statistics), done, context);
  }
  return {solver::ridge_cholesky(std::move(statistics), options.center, options.lambda, context),
          options.lambda,
          {}};
}

Selected select_dual(const FeatureRows& rows, Context& context) {
  const FitOptions& options = rows.options();
  if (validates(options.selection)) return validate_dual(rows, context);
  Stage stage(context, rows.rows());
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  DualSystem system = make_dual_system(rows, RowSet(rows.rows()), context, done);
  if (options.selection != Selection::fixed) {
    return decompose_dual(options, std::move(system), context);
  }
  return {system.solve(options.lambda, context), options.lambda, {}};
}

int64_t primal_bytes(const FitOptions& options, int64_t features) {
  // Numbers per D^2, doubled: the statistics, 1.5 more while they are decomposed, a copy of them.
  const bool cholesky = validates(options.selection) && features > kMostEigenFeatures;
  const int64_t halves = options.selection == Selection::fixed ? 2
                         : cholesky                            ? 4
                         : validates(options.selection)        ? 7
                                                               : 5;
  return checked_multiply(4 * halves, checked_multiply(features, features, "statistics"),
                          "statistics");
}

}  // namespace mercer::model
