// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Held-out rows are predicted row by row, so that classification can count errors. One Gram matrix
// serves every fold: the fold's rows are removed from the total and added back afterwards.
#include "model/select/validation.h"

#include "base/error.h"
#include "model/rows/row_sets.h"
#include "model/select/held_out_score.h"
#include "solver/block_statistics.h"
#include "solver/lambda_path.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

using solver::BlockSource;
using solver::RowsDone;

/// The score of every lambda on held-out rows.
std::vector<HeldOutScore> score_fold(const BlockSource& fold, const Selecting& how, Task task,
                                     const solver::LambdaPath& solver, Context& context) {
  std::vector<solver::Weights> weights;
  const std::vector<PathPoint> path = empty_path(how);
  Stage stage(context, std::ssize(path));
  for (const PathPoint& point : path) {
    context.checkpoint();
    stage.share(1);
    weights.push_back(solver.solve(point.lambda, context));
    stage.advance(1);
  }
  return score_rows(fold, task, weights, context);
}

/// Means over the folds' rows.
std::vector<PathPoint> scored_path(const Selecting& how, Task task,
                                   const std::vector<std::vector<HeldOutScore>>& folds) {
  double all = 0;
  for (const auto& fold : folds) all += fold[0].weight;
  require(all > 0, MERCER_INVALID_ARGUMENT,
          "the weights of the rows held out sum to %g, expected a positive number", all);
  std::vector<PathPoint> path = empty_path(how);
  for (const auto& fold : folds) {
    const double share = fold[0].weight / all;
    for (size_t k = 0; share > 0 && k < path.size(); ++k)
      path[k].score += share * fold[k].criterion(task);
  }
  return path;
}

/// Every process holds out its own rows. If one has too few, all refuse, so that none waits for its
/// sums.
void require_rows_to_hold_out(const BlockSource& rows, const Selecting& how) {
  const int64_t least = how.selection == Selection::kfold ? how.folds : 2;
  double with_few = rows.rows() < least ? 1 : 0;
  solver::reduce(rows, {&with_few, 1});
  require(with_few == 0, MERCER_INVALID_ARGUMENT,
          "%g processes hold fewer than %ld rows, of which each holds some "
          "out, expected none; "
          "this one holds %ld",
          with_few, least, rows.rows());
}

/// One split for held_out, K splits for kfold.
std::vector<Split> validation_splits(const Selecting& how, const BlockSource& rows) {
  require_rows_to_hold_out(rows, how);
  const int64_t n = rows.rows();
  const SplitRule rule{rows.classes(), rows.groups(), how.ordered};
  if (how.selection == Selection::kfold) return fold_splits(all_rows(n), how.folds, how.seed, rule);
  return {split_rows(all_rows(n), how.held_out_fraction, n, how.seed, Purpose::choice, rule)};
}

int64_t size_of(const Split& fold) { return std::ssize(fold.held_out); }

/// A path from the statistics of a fold's training rows, which are referred to if D is large.
std::unique_ptr<solver::LambdaPath> path_of(const solver::RowStatistics& statistics, bool center,
                                            Context& context) {
  if (statistics.features() > kMostEigenFeatures)
    return solver::make_cholesky_path(statistics, center);
  return solver::make_eigen_path(statistics.clone(context), center, context);
}

/// The work of a fold: one decomposition, or a factor for each lambda.
int64_t path_units(const Selecting& how, int64_t features) {
  return features > kMostEigenFeatures ? how.lambda_count * solver::cholesky_rows(features)
                                       : solver::eigen_rows(features);
}

}  // namespace

Selected validate_primal(const BlockSource& rows, const Selecting& how, Task task, bool center,
                         Context& context, LeftOutScores* left_out) {
  const auto folds = validation_splits(how, rows);
  // The training rows of the first fold; then each next fold is removed (unless rows are ordered)
  // and the last one added.
  int64_t rows_read = std::ssize(folds[0].train) - (how.ordered ? 0 : size_of(folds[0]));
  for (const auto& fold : folds) rows_read += (how.ordered ? 1 : 2) * size_of(fold);
  const int64_t of_fold = path_units(how, rows.features());
  Stage stage(context, rows_read + std::ssize(folds) * of_fold + primal_units(rows, left_out));
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  solver::RowStatistics statistics(rows.features(), rows.outputs(), context);
  solver::add_blocks(*rows.subset(folds[0].train), statistics, context, done);
  std::vector<std::vector<HeldOutScore>> scores;
  for (const Split& split : folds) {
    const auto fold = rows.subset(split.held_out);
    if (!scores.empty() && !how.ordered) solver::remove_blocks(*fold, statistics, context, done);
    stage.share(of_fold);
    if (rows.reduction() == nullptr) {
      const auto path = path_of(statistics, center, context);
      scores.push_back(score_fold(*fold, how, task, *path, context));
    } else {
      const auto all = solver::take_reduced(rows, statistics.clone(context));
      const auto path = path_of(all, center, context);
      scores.push_back(score_fold(*fold, how, task, *path, context));
    }
    stage.advance(of_fold);
    solver::add_blocks(*fold, statistics, context, done);
  }
  Selected result{{}, 0, scored_path(how, task, scores)};
  result.lambda = best_point(result.path).lambda;
  stage.share(primal_units(rows, left_out));
  result.weights = solve_primal(rows, solver::take_reduced(rows, std::move(statistics)), center,
                                result.lambda, context, left_out);
  stage.advance(primal_units(rows, left_out));
  return result;
}

std::vector<PathPoint> validated_path(const BlockSource& rows, const Selecting& how, Task task,
                                      int64_t of_fold, const PathMaker& make, Context& context) {
  const auto folds = validation_splits(how, rows);
  int64_t rows_read = 0;
  for (const auto& fold : folds) rows_read += std::ssize(fold.train);
  Stage stage(context, rows_read + std::ssize(folds) * of_fold);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  std::vector<std::vector<HeldOutScore>> scores;
  for (const Split& fold : folds) {
    const auto part = rows.subset(fold.train);
    const auto path = make(*part, done);
    stage.share(of_fold);
    scores.push_back(score_fold(*rows.subset(fold.held_out), how, task, *path, context));
    stage.advance(of_fold);
  }
  return scored_path(how, task, scores);
}

Selected validate_dual(const BlockSource& rows, const Selecting& how, Task task, bool center,
                       Context& context, LeftOutScores* left_out) {
  const int64_t factor = dual_units(rows, solver::cholesky_rows(rows.rows()));
  const int64_t of_fold = dual_units(rows, solver::eigen_rows(rows.rows()));
  const int64_t choosing = how.folds * (rows.rows() + of_fold);
  Stage stage(context, choosing + rows.rows() + factor);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  const auto make = [&](const BlockSource& some, const RowsDone& read) {
    return solver::make_dual_eigen_path(solver::make_dual_system(some, center, context, read),
                                        context);
  };
  stage.share(choosing);
  Selected result{{}, 0, validated_path(rows, how, task, of_fold, make, context)};
  stage.advance(choosing);
  result.lambda = best_point(result.path).lambda;
  solver::DualSystem system = solver::make_dual_system(rows, center, context, done);
  stage.share(factor);
  result.weights = solve_dual(system, result.lambda, context, left_out);
  stage.advance(factor);
  return result;
}

}  // namespace mercer::model
