// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/baselines.h"

#include <algorithm>
#include <cmath>

#include "model/assess/assessment.h"
#include "model/estimator/class_weights.h"
#include "model/prepare/row_coding.h"
#include "model/rows/copied_rows.h"
#include "model/rows/input_rows.h"
#include "model/rows/row_sets.h"
#include "model/rows/scored_rows.h"
#include "model/select/selection.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostLinearRows = 20000;
constexpr const char* kBaselines = "predictions to compare with";

std::vector<double> mean_codes(const Coding& coding, const Preparation& by,
                               MatrixView<const double> Y, const std::vector<int64_t>& rows,
                               std::span<const double> weights) {
  const auto outputs = static_cast<size_t>(coded_outputs(coding, Y.cols));
  const std::vector<double> own = solver::taken_weights(weights, rows);
  std::vector<double> sum(outputs, 0.0), code(outputs), total(outputs, 0.0);
  for (size_t k = 0; k < rows.size(); ++k) {
    const double weight = own.empty() ? 1.0 : own[k];
    code_target(coding, by, Y.cols, Y.row(rows[k]), code.data());
    for (size_t o = 0; o < outputs; ++o) {
      if (std::isnan(code[o]) || weight == 0) continue;
      total[o] += weight;
      sum[o] += (code[o] - sum[o]) * weight / total[o];
    }
  }
  return sum;
}

/// The best constants by the loss, instead of means.
std::vector<double> constants_of(const Measuring& by, MatrixView<const double> Y,
                                 const std::vector<int64_t>& rows, std::span<const double> weights,
                                 Context& context) {
  const Matrix<double> targets = copied_targets(Y, rows, context);
  const std::vector<double> own = solver::taken_weights(weights, rows);
  std::vector<double> constants;
  for (int64_t o = 0; o < Y.cols; ++o)
    constants.push_back(by.loss.best_constant(targets.view(), o, own));
  return constants;
}

}  // namespace

Baselines baselines(const Model& model, const Rows& X, MatrixView<const double> Y,
                    const std::vector<int64_t>& train, const std::vector<int64_t>& test,
                    Context& context, std::span<const double> weights) {
  const Coding& coding = model.fit.coding;
  Preparation plain = model.preparation;
  plain.targets.clear();  // baselines predict untransformed targets
  const Measuring by(coding.task, model.fit.estimate);
  const std::vector<double> mean = by.of_loss() ? constants_of(by, Y, train, weights, context)
                                                : mean_codes(coding, plain, Y, train, weights);
  const int64_t n = std::ssize(test), outputs = std::ssize(mean);
  Baselines result{Matrix<double>(n, outputs, context, kBaselines), {}};
  for (int64_t i = 0; i < n; ++i) std::ranges::copy(mean, result.constant.view().row(i));
  if (by.of_loss() || X.cols() > kMostLinearInputs) return result;

  Selecting how = model.fit.select;
  how.selection = Selection::loo;
  const std::vector<double> learnt = class_weighted(
      Y, weights, class_factors(model.fit.estimate.parameters, coding.classes, Y, weights, train));
  const InputRows rows(plain, coding, {X, Y, learnt});
  const std::vector<int64_t> sample = sample_rows(train, kMostLinearRows, how.seed);
  const Selected selected = select(*rows.subset(sample), how, coding.task, {}, context);
  result.linear = Matrix<double>(n, outputs, context, kBaselines);
  const CopiedRows given(X, test, context);
  const Matrix<double> targets = copied_targets(Y, test, context);
  const auto score = [&](const Rows& inputs) {
    for_each_scored(InputRows(plain, coding, {inputs, targets.view()}), {&selected.weights, 1},
                    context, [&](int64_t i, const double*, double, const double* scores) {
                      std::copy_n(scores, outputs, result.linear.view().row(i));
                    });
  };
  if (foreseen_as(model.fit.extrapolation) == Extrapolation::clip) {
    score(ClippedRows(model.ranges.inputs, given.rows(), context).rows());
  } else {
    score(given.rows());
  }
  return result;
}

}  // namespace mercer::model
