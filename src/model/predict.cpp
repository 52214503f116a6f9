// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Prediction: standardise, map, and score by what was learnt, a block of rows at a time.
#include <algorithm>

#include "base/error.h"
#include "base/finite.h"
#include "model/feature_rows.h"
#include "model/model.h"
#include "model/model_entry.h"
#include "statistic/prediction_score.h"

namespace mercer::model {
namespace {

using Long = long long;

void check_columns(const Model& model, int64_t columns) {
  require(columns == model.inputs(), MERCER_DIMENSION_MISMATCH,
          "X has %lld columns, the model expects %lld inputs", static_cast<Long>(columns),
          static_cast<Long>(model.inputs()));
}

/// Calls body(first, scores) for every block of rows.
template <class Body>
void for_each_score(const Model& model, const Rows& X, Context& context, const Body& body) {
  const FeatureRows rows(*model.map, model.standardizer, model.options, X, {});
  const Matrix<double> storage(rows.block_rows(), model.outputs(), context, "a block of scores");
  Stage stage(context, X.rows());
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const auto scores = storage.view().block_rows(0, block.Z.rows);
    model.predictor->predict(block.Z, scores);
    body(block.first, MatrixView<const double>(scores));
    stage.advance(scores.rows);
  });
}

}  // namespace

const solver::Weights& linear_weights(const Model& model) {
  const solver::Weights* weights = model.predictor->linear();
  require(weights != nullptr, MERCER_UNSUPPORTED,
          "a model of kind %s has no weights: it is not linear in the features",
          model.options.model->name);
  return *weights;
}

void predict(const Model& model, const Rows& X, Context& context, MatrixView<double> scores) {
  check_columns(model, X.cols());
  require(scores.rows == X.rows() && scores.cols == model.outputs(), MERCER_DIMENSION_MISMATCH,
          "scores is %lld x %lld, expected %lld rows and %lld outputs",
          static_cast<Long>(scores.rows), static_cast<Long>(scores.cols),
          static_cast<Long>(X.rows()), static_cast<Long>(model.outputs()));
  for_each_score(model, X, context, [&](int64_t first, MatrixView<const double> block) {
    for (int64_t i = 0; i < block.rows; ++i) {
      std::copy_n(block.row(i), block.cols, scores.row(first + i));
    }
  });
}

void classify(const Model& model, const Rows& X, Context& context, std::span<int32_t> classes) {
  require(model.options.task == Task::classification, MERCER_INVALID_ARGUMENT,
          "the model was fitted for regression, expected classification");
  check_columns(model, X.cols());
  require(static_cast<int64_t>(classes.size()) == X.rows(), MERCER_DIMENSION_MISMATCH,
          "classes has %lld entries, X has %lld rows", static_cast<Long>(classes.size()),
          static_cast<Long>(X.rows()));
  require_summable("X", X);
  for_each_score(model, X, context, [&](int64_t first, MatrixView<const double> block) {
    for (int64_t i = 0; i < block.rows; ++i) {
      const int64_t found = statistic::class_of({block.row(i), static_cast<size_t>(block.cols)});
      require(
          found != statistic::kNoClass, MERCER_INVALID_ARGUMENT,
          "X: row %lld (counted from 0) has a score of NaN, which is of no class: it is outside "
          "the kernel's domain or too large",
          static_cast<Long>(first + i));
      classes[static_cast<size_t>(first + i)] = static_cast<int32_t>(found);
    }
  });
}

}  // namespace mercer::model
