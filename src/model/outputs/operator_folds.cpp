// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/operator_folds.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "model/outputs/operator_fit.h"
#include "model/outputs/operator_means.h"
#include "random/distributions.h"
#include "random/stream.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

constexpr const char* kWhat = "folds of an operator-valued fit";

/// Sums of about as many rows each, drawn by seed.
std::vector<solver::RowStatistics> fold_sums(const feature::FeatureMap& map,
                                             MatrixView<const double> X, MatrixView<const double> Y,
                                             const Folds& folds, Context& context) {
  std::vector<int64_t> order(static_cast<std::size_t>(X.rows));
  random::Cursor cursor({folds.seed, random::Tag::split, static_cast<uint64_t>(folds.count)});
  random::permutation(cursor, order);
  std::vector<solver::RowStatistics> sums;
  Stage stage(context, X.rows);
  for (int64_t fold = 0; fold < folds.count; ++fold) {
    const int64_t begin = fold * X.rows / folds.count, end = (fold + 1) * X.rows / folds.count;
    const Matrix<double> rows(end - begin, X.cols, context, kWhat),
        targets(end - begin, Y.cols, context, kWhat);
    for (int64_t place = begin; place < end; ++place) {
      const int64_t i = order[static_cast<std::size_t>(place)];
      std::copy_n(X.row(i), X.cols, rows.view().row(place - begin));
      std::copy_n(Y.row(i), Y.cols, targets.view().row(place - begin));
    }
    sums.emplace_back(map.features(), Y.cols, context);
    const ScalarRows of_fold(map, rows.view(), targets.view());
    stage.part(end - begin, [&] {
      solver::for_each_wide(of_fold, context, [&](const solver::WideBlock& block) {
        sums.back().add(block.Z, block.Y, context);
      });
    });
    sums.back().release_scratch();
  }
  return sums;
}

Matrix<double> errors_about_means(const std::vector<solver::RowStatistics>& sums, int64_t n,
                                  const solver::OutputBasis& basis, std::span<const double> lambdas,
                                  Context& context) {
  solver::RowStatistics total = sums[0].clone(context);
  for (std::size_t fold = 1; fold < sums.size(); ++fold) total.merge(sums[fold]);
  Matrix<double> errors(1, std::ssize(lambdas));
  errors.fill(0);
  Stage stage(context, std::ssize(sums));
  for (const solver::RowStatistics& fold : sums) {
    stage.share(1);
    solver::RowStatistics others = total.clone(context);
    others.subtract(fold);
    const Matrix<double> of_fold = held_out_error(std::move(others), fold, basis, lambdas, context);
    for (int64_t l = 0; l < errors.cols(); ++l)
      errors(0, l) += of_fold(0, l) * fold.weight() / static_cast<double>(n);
    stage.advance(1);
  }
  return errors;
}

}  // namespace

Matrix<double> fold_errors(const feature::FeatureMap& map, MatrixView<const double> X,
                           MatrixView<const double> Y, const solver::OutputBasis& basis,
                           std::span<const double> lambdas, const Folds& folds, Context& context) {
  require(folds.count <= X.rows, MERCER_INVALID_ARGUMENT,
          "folds = %lld, expected at most the %lld rows", static_cast<long long>(folds.count),
          static_cast<long long>(X.rows));
  const Matrix<double> more = folds.about_means ? with_ones(Y, context) : Matrix<double>();
  const MatrixView<const double> targets = folds.about_means ? more.view() : Y;
  // Of the folds, of all rows, and of those without a fold.
  const int64_t held = checked_add(folds.count, 2, kWhat);
  context.require_room(solver::RidgePath::least_bytes(map.features(), targets.cols, held), kWhat);
  const int64_t eigen = folds.count * solver::eigen_rows(map.features());
  Stage stage(context, X.rows + eigen);
  const std::vector<solver::RowStatistics> sums =
      stage.part(X.rows, [&] { return fold_sums(map, X, targets, folds, context); });
  stage.share(eigen);
  if (folds.about_means) return errors_about_means(sums, X.rows, basis, lambdas, context);
  std::vector<const solver::RowStatistics*> parts;
  for (const auto& sum : sums) parts.push_back(&sum);
  const solver::OutputBasis* const bases[] = {&basis};
  return solver::stein_kfold_error(parts, false, {bases, lambdas}, context);
}

}  // namespace mercer::model
