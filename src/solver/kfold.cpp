// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// K-fold error of a path of lambdas: the total's statistics minus a fold's are those of the other
// folds' rows (Stone 1974 for the criterion), so no row is visited twice and each fold costs one
// eigendecomposition.
#include "base/error.h"
#include "base/size.h"
#include "solver/centering.h"

namespace mercer::solver {
namespace {

int64_t require_folds(std::span<const RowStatistics* const> folds) {
  int64_t with_rows = 0;
  for (const RowStatistics* fold : folds) with_rows += fold->weight() > 0;
  require(with_rows >= 2, MERCER_INVALID_ARGUMENT,
          "folds: %lld of %zu hold rows of positive weight, expected at least 2",
          static_cast<long long>(with_rows), folds.size());
  return with_rows;
}

}  // namespace

Matrix<double> kfold_error(std::span<const RowStatistics* const> folds, bool center,
                           std::span<const double> lambdas, Context& context) {
  const int64_t with_rows = require_folds(folds);
  for (const double lambda : lambdas) checked_shift(lambda, 1.0);
  const int64_t D = folds[0]->features(), m = folds[0]->outputs();
  const int64_t words = checked_multiply(2 * D, D, "K-fold statistics");
  context.require_memory(checked_multiply(8, words, "K-fold statistics"), "K-fold statistics");
  RowStatistics total(D, m, context);
  for (const RowStatistics* fold : folds) total.merge(*fold);
  total.require_finite();

  const auto count = static_cast<int64_t>(lambdas.size());
  Matrix<double> error(count, m);
  error.fill(0);
  Stage stage(context, with_rows);
  for (const RowStatistics* fold : folds) {
    if (!(fold->weight() > 0)) continue;
    stage.share(1);
    RowStatistics others = total.clone(context);
    others.subtract(*fold);
    const RidgePath path(std::move(others), center, context);
    const double share = fold->weight() / total.weight();
    for (int64_t i = 0; i < count; ++i) {
      const std::vector<double> of_fold =
          path.held_out_error(lambdas[static_cast<std::size_t>(i)], *fold);
      for (int64_t j = 0; j < m; ++j) error(i, j) += share * of_fold[static_cast<std::size_t>(j)];
      context.checkpoint();
    }
    stage.advance(1);
  }
  context.checkpoint();
  return error;
}

Matrix<double> kfold_error(std::span<const RowStatistics> folds, bool center,
                           std::span<const double> lambdas, Context& context) {
  std::vector<const RowStatistics*> pointers;
  for (const RowStatistics& fold : folds) pointers.push_back(&fold);
  return kfold_error(pointers, center, lambdas, context);
}

}  // namespace mercer::solver
