// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Choice of lambda (SPEC section 9). Held-out rows and K folds are predicted by rows, so that
// classification can count errors; the statistics of the other rows are the total with the fold's
// rows removed, and added back afterwards: one Gram matrix serves every fold. GCV and leave-one-out
// come from one eigendecomposition of all rows; leave-one-out, which has a loss for every row, takes
// lambda by the paired rule of paired_choice.h, the others the least score.
#include "model/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/size.h"
#include "model/held_out_score.h"
#include "model/left_out_rows.h"
#include "model/paired_choice.h"
#include "model/row_loss.h"
#include "model/row_sets.h"
#include "solver/block_statistics.h"
#include "solver/lambda_path.h"

namespace mercer::model {
namespace {

using solver::BlockSource;
using solver::RowsDone;

/// Largest D for which a path over held-out rows decomposes; above it a Cholesky factor per lambda
/// takes less memory.
constexpr int64_t kMostEigenFeatures = 4096;

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The score of every lambda on rows that were not fitted on.
std::vector<HeldOutScore> score_fold(const BlockSource& fold, const FitOptions& options,
                                     const solver::LambdaPath& solver, Context& context) {
  std::vector<solver::Weights> weights;
  for (const PathPoint& point : empty_path(options)) {
    context.checkpoint();
    weights.push_back(solver.solve(point.lambda, context));
  }
  return score_rows(fold, options.task, weights, context);
}

/// Means over the folds' rows.
std::vector<PathPoint> scored_path(const FitOptions& options,
                                   const std::vector<std::vector<HeldOutScore>>& folds) {
  double all = 0;
  for (const auto& fold : folds) all += fold[0].weight;
  require(all > 0, MERCER_INVALID_ARGUMENT,
          "the weights of the rows held out sum to %g, expected a positive number", all);
  std::vector<PathPoint> path = empty_path(options);
  for (const auto& fold : folds) {
    const double share = fold[0].weight / all;
    for (size_t k = 0; share > 0 && k < path.size(); ++k)
      path[k].score += share * fold[k].criterion(options.task);
  }
  return path;
}

/// Every process holds out rows of its own. Where one has too few all of them refuse, so that none
/// waits for its sums.
void require_rows_to_hold_out(const BlockSource& rows, const FitOptions& options) {
  const int64_t least = options.selection == Selection::kfold ? options.folds : 2;
  double with_few = rows.rows() < least ? 1 : 0;
  solver::reduce(rows, {&with_few, 1});
  require(with_few == 0, MERCER_INVALID_ARGUMENT,
          "%g processes hold fewer than %lld rows, of which each holds some out, expected none; "
          "this one holds %lld",
          with_few, static_cast<long long>(least), static_cast<long long>(rows.rows()));
}

/// The row sets to be predicted: one for held_out, K for kfold.
std::vector<std::vector<int64_t>> validation_sets(const FitOptions& options,
                                                  const BlockSource& rows) {
  require_rows_to_hold_out(rows, options);
  const int64_t n = rows.rows();
  if (options.selection == Selection::kfold) return fold_rows(n, options.folds, options.seed);
  return {split_rows(n, options.held_out_fraction, n, options.seed).held_out};
}

int64_t size_of(const std::vector<int64_t>& fold) { return static_cast<int64_t>(fold.size()); }

/// Lambdas by statistics of one fold's training rows; they are referred to where D is large.
std::unique_ptr<solver::LambdaPath> path_of(const solver::RowStatistics& statistics, bool center,
                                            Context& context) {
  if (statistics.features() > kMostEigenFeatures)
    return solver::make_cholesky_path(statistics, center);
  return solver::make_eigen_path(statistics.clone(context), center, context);
}

Selected validate_primal(const BlockSource& rows, const FitOptions& options, Context& context) {
  const auto folds = validation_sets(options, rows);
  // All but the first fold; then every fold is added and every one but the first removed before.
  int64_t rows_read = rows.rows() - 2 * size_of(folds[0]);
  for (const auto& fold : folds) rows_read += 2 * size_of(fold);
  Stage stage(context, rows_read);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  solver::RowStatistics statistics(rows.features(), rows.outputs(), context);
  const auto first_train = rows_without(rows.rows(), folds[0]);
  solver::add_blocks(*rows.subset(first_train), statistics, context, done);
  std::vector<std::vector<HeldOutScore>> scores;
  for (const auto& numbers : folds) {
    const auto fold = rows.subset(numbers);
    if (!scores.empty()) solver::remove_blocks(*fold, statistics, context, done);
    if (rows.reduction() == nullptr) {
      const auto path = path_of(statistics, options.center, context);
      scores.push_back(score_fold(*fold, options, *path, context));
    } else {
      const auto all = solver::take_reduced(rows, statistics.clone(context));
      const auto path = path_of(all, options.center, context);
      scores.push_back(score_fold(*fold, options, *path, context));
    }
    solver::add_blocks(*fold, statistics, context, done);
  }
  Selected result{{}, 0, scored_path(options, scores)};
  result.lambda = best_point(result.path).lambda;
  result.weights = solver::ridge_cholesky(solver::take_reduced(rows, std::move(statistics)),
                                          options.center, result.lambda, context);
  return result;
}

Selected validate_dual(const BlockSource& rows, const FitOptions& options, Context& context) {
  const auto folds = validation_sets(options, rows);
  int64_t rows_read = rows.rows();
  for (const auto& fold : folds) rows_read += rows.rows() - size_of(fold);
  Stage stage(context, rows_read);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  std::vector<std::vector<HeldOutScore>> scores;
  for (const auto& fold : folds) {
    const auto train = rows_without(rows.rows(), fold);
    const auto path = solver::make_dual_path(
        solver::make_dual_system(*rows.subset(train), options.center, context, done));
    scores.push_back(score_fold(*rows.subset(fold), options, *path, context));
  }
  Selected result{{}, 0, scored_path(options, scores)};
  result.lambda = best_point(result.path).lambda;
  result.weights =
      solver::make_dual_system(rows, options.center, context, done).solve(result.lambda, context);
  return result;
}

std::vector<double> lambdas_of(const std::vector<PathPoint>& path) {
  std::vector<double> lambdas;
  for (const PathPoint& point : path) lambdas.push_back(point.lambda);
  return lambdas;
}

/// Adds up a path's losses on rows that were left out.
LeftOutRow adding_to(PairedLosses& sums, const FitOptions& options, int64_t outputs) {
  return [&sums, loss = plain_loss(options.task, outputs),
          losses = std::vector<double>(static_cast<size_t>(sums.candidates())),
          scores = std::vector<double>(static_cast<size_t>(outputs)),
          outputs](int64_t, const double* code, double weight, const double* residuals) mutable {
    for (size_t k = 0; k < losses.size(); ++k) {
      const double* r = residuals + static_cast<int64_t>(k) * outputs;
      for (int64_t o = 0; o < outputs; ++o) scores[static_cast<size_t>(o)] = code[o] - r[o];
      losses[k] = loss(scores.data(), code);
    }
    sums.add(losses.data(), weight);
  };
}

/// The lambda of the paired rule; the path's scores are the mean losses. dimension(lambda): Tr H.
template <class Dimension>
double choose_left_out(const PairedLosses& losses, const Dimension& dimension,
                       std::vector<PathPoint>& path) {
  std::vector<double> dimensions;
  for (size_t k = 0; k < path.size(); ++k) {
    path[k].score = losses.mean(static_cast<int64_t>(k));
    dimensions.push_back(dimension(path[k].lambda));
  }
  return path[static_cast<size_t>(paired_choice(losses, dimensions))].lambda;
}

Selected decompose_primal(const BlockSource& rows, const FitOptions& options,
                          solver::RowStatistics statistics, const RowsDone& done,
                          Context& context) {
  const solver::RidgePath solver(std::move(statistics), options.center, context);
  Selected result{{}, 0, empty_path(options)};
  if (options.selection == Selection::gcv) {
    for (PathPoint& point : result.path) point.score = total(solver.gcv(point.lambda));
    result.lambda = best_point(result.path).lambda;
  } else {
    PairedLosses losses(std::ssize(result.path));
    for_each_left_out(rows, solver, lambdas_of(result.path), context,
                      adding_to(losses, options, rows.outputs()), done);
    losses.reduce(rows);
    result.lambda = choose_left_out(
        losses, [&](double lambda) { return solver.effective_dimension(lambda); }, result.path);
  }
  result.weights = solver.solve(result.lambda);
  return result;
}

Selected decompose_dual(const FitOptions& options, solver::DualSystem system, Context& context) {
  system.decompose(context);
  context.checkpoint();
  Selected result{{}, 0, empty_path(options)};
  if (options.selection == Selection::gcv) {
    for (PathPoint& point : result.path) point.score = total(system.gcv(point.lambda));
    result.lambda = best_point(result.path).lambda;
  } else {
    PairedLosses losses(std::ssize(result.path));
    for_each_left_out(system, lambdas_of(result.path), context,
                      adding_to(losses, options, system.outputs()));
    result.lambda = choose_left_out(
        losses, [&](double lambda) { return system.effective_dimension(lambda); }, result.path);
  }
  result.weights = system.solve(result.lambda, context);
  return result;
}

bool validates(Selection selection) {
  return selection == Selection::held_out || selection == Selection::kfold;
}

Selected select_primal(const BlockSource& rows, const FitOptions& options, Context& context) {
  if (validates(options.selection)) return validate_primal(rows, options, context);
  Stage stage(context, options.selection == Selection::loo ? 2 * rows.rows() : rows.rows());
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  solver::RowStatistics statistics(rows.features(), rows.outputs(), context);
  solver::add_blocks(rows, statistics, context, done);
  statistics = solver::take_reduced(rows, std::move(statistics));
  if (options.selection != Selection::fixed) {
    return decompose_primal(rows, options, std::move(statistics), done, context);
  }
  return {solver::ridge_cholesky(std::move(statistics), options.center, options.lambda, context),
          options.lambda,
          {}};
}

Selected select_dual(const BlockSource& rows, const FitOptions& options, Context& context) {
  if (validates(options.selection)) return validate_dual(rows, options, context);
  Stage stage(context, rows.rows());
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  solver::DualSystem system = solver::make_dual_system(rows, options.center, context, done);
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

}  // namespace

std::vector<PathPoint> empty_path(const FitOptions& options) {
  std::vector<PathPoint> path;
  for (const double lambda :
       solver::lambda_grid(options.lambda_largest, options.lambda_smallest, options.lambda_count)) {
    path.push_back({lambda, 0.0});
  }
  return path;
}

const PathPoint& best_point(const std::vector<PathPoint>& path) {
  size_t best = 0;
  for (size_t k = 1; k < path.size(); ++k) {
    if (path[k].score < path[best].score || std::isnan(path[best].score)) best = k;
  }
  return path[best];
}

Selected select(const solver::BlockSource& rows, const FitOptions& options, Context& context) {
  const bool dual = rows.rows() < rows.features() && rows.reduction() == nullptr;
  return dual ? select_dual(rows, options, context) : select_primal(rows, options, context);
}

int64_t selection_bytes(const FitOptions& options, int64_t rows, int64_t features) {
  return rows < features ? solver::dual_bytes(rows, features) : primal_bytes(options, features);
}

}  // namespace mercer::model
