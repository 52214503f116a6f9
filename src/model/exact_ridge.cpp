// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernel ridge regression, alpha = (K + n lambda I)^{-1} (Y - mean): what random features
// approximate. With weights W alpha = W^{1/2} (W^{1/2} K W^{1/2} + n lambda I)^{-1} W^{1/2} (Y -
// mean), which stays symmetric and takes weights of 0. Classification is least squares on one-hot
// codes, as in fit.
#include "model/exact_ridge.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/finite.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/column_means.h"
#include "model/fit_checks.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/prepare/row_summary.h"
#include "solver/kernel_ridge.h"
#include "solver/row_weights.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

using Long = long long;

constexpr int64_t kBlockBytes = int64_t{32}
                                << 20;  // of a block of kernel values or inputs in prediction

Matrix<double> coded_targets(const Coding& coding, const Preparation& by,
                             MatrixView<const double> Y, Context& context) {
  Matrix<double> codes(Y.rows, coded_outputs(coding, Y.cols), context, "the targets' codes");
  for (int64_t i = 0; i < Y.rows; ++i)
    code_target(coding, by, Y.cols, Y.row(i), codes.view().row(i));
  return codes;
}

std::vector<double> column_means(MatrixView<const double> Y, std::span<const double> weights,
                                 double n) {
  if (weights.empty()) return linalg::column_means(Y);
  std::vector<double> means(static_cast<size_t>(Y.cols), 0.0);
  for (int64_t i = 0; i < Y.rows; ++i)
    for (size_t o = 0; o < means.size(); ++o)
      means[o] += weights[static_cast<size_t>(i)] / n * Y(i, static_cast<int64_t>(o));
  return means;
}

std::vector<double> roots_of(std::span<const double> weights) {
  std::vector<double> roots(weights.begin(), weights.end());
  for (double& one : roots) one = std::sqrt(one);
  return roots;
}

/// Row i times factors[i]; no factors: as they are.
void scale_rows(const std::vector<double>& factors, MatrixView<double> A) {
  for (int64_t i = 0; i < A.rows && !factors.empty(); ++i)
    for (int64_t j = 0; j < A.cols; ++j) A(i, j) *= factors[static_cast<size_t>(i)];
}
void scale_columns(const std::vector<double>& factors, MatrixView<double> A) {
  for (int64_t i = 0; i < A.rows && !factors.empty(); ++i)
    for (int64_t j = 0; j < A.cols; ++j) A(i, j) *= factors[static_cast<size_t>(j)];
}

}  // namespace

ExactModel fit_exact(std::shared_ptr<const kernel::Kernel> kernel, const Fitting& asked,
                     const Rows& X, MatrixView<const double> Y, Context& context,
                     std::span<const double> given_weights) {
  check(asked.coding);
  check(asked.prepare, asked.coding);
  check(Selecting{.selection = Selection::fixed, .lambda = asked.select.lambda});
  check_shapes(asked.coding, X.rows(), X.cols(), Y);
  solver::require_weights(given_weights, X.rows());
  check_rows("X", X.rows(), solver::total_weight(given_weights, X.rows()));
  const std::vector<double> weights = solver::relative_weights(given_weights);
  const double n = solver::total_weight(weights, X.rows());
  const int64_t inputs = prepared_inputs(asked.prepare, {}, X, weights);
  kernel->check_dimension(inputs);
  check_numbers(asked.prepare.missing, X);
  check_targets(asked.coding, Y);
  const Found found = within(domain_of(*kernel), asked.prepare, X);
  const Matrix<double> K(X.rows(), X.rows(), context, "the n x n Gram matrix");

  ExactModel model;
  model.kernel = std::move(kernel);
  const RowSummary summary(asked.prepare, found, asked.select.seed, X,
                           ranged_targets(asked.coding, Y), weights, context);
  summary.require_numbers();
  model.preparation = summary.preparation();
  model.inputs = X.cols();
  model.rows = PreparedRows(model.preparation, X, context, "the rows that the model keeps");
  const Matrix<double> codes = coded_targets(asked.coding, model.preparation, Y, context);
  model.mean.assign(static_cast<size_t>(codes.cols()), 0.0);
  if (asked.estimate.center) {
    model.mean = column_means(codes.view(), weights, n);
    linalg::subtract_from_rows(model.mean, codes.view());
  }
  const int64_t gram_units = solver::kernel_rows(inputs), factor = solver::cholesky_rows(K.rows());
  Stage stage(context, gram_units + factor);
  stage.part(gram_units, [&] {
    kernel::gram(*model.kernel, model.rows.view(), model.rows.view(), context, K.view());
  });
  const std::vector<double> roots = roots_of(weights);
  scale_rows(roots, codes.view());
  scale_rows(roots, K.view());
  scale_columns(roots, K.view());
  stage.share(factor);
  model.alpha = solver::kernel_ridge(K.view(), codes.view(), asked.select.lambda, n, context);
  scale_rows(roots, model.alpha.view());
  for (int64_t i = 0; i < model.alpha.rows(); ++i)
    require(
        std::all_of(model.alpha.view().row(i), model.alpha.view().row(i) + model.alpha.cols(),
                    [](double a) { return std::isfinite(a); }),
        MERCER_NOT_CONVERGED,
        "alpha = (K + n lambda I)^-1 (Y - mean) is not finite, expected a larger lambda = %g, or "
        "targets of smaller size",
        asked.select.lambda);
  return model;
}

void predict_exact(const ExactModel& model, const Rows& X, Context& context,
                   MatrixView<double> scores) {
  require(X.cols() == model.inputs, MERCER_DIMENSION_MISMATCH,
          "X has %lld columns, the model expects %lld inputs", static_cast<Long>(X.cols()),
          static_cast<Long>(model.inputs));
  require(scores.rows == X.rows() && scores.cols == model.alpha.cols(), MERCER_DIMENSION_MISMATCH,
          "scores is %lld x %lld, expected %lld rows and %lld outputs",
          static_cast<Long>(scores.rows), static_cast<Long>(scores.cols),
          static_cast<Long>(X.rows()), static_cast<Long>(model.alpha.cols()));
  check_prepared(*model.kernel, model.preparation, X, "leave the row out");
  const Rows training = model.rows.view();
  const int64_t n = training.rows();
  const int64_t widest = X.sparse() ? n : std::max(n, training.cols());
  const int64_t size =
      std::clamp<int64_t>(kBlockBytes / (8 * widest), 1, std::max<int64_t>(X.rows(), 1));
  const Matrix<double> K(size, n, context, "a block of kernel values");
  Stage stage(context, X.rows());
  for (int64_t first = 0; first < X.rows(); first += size) {
    const int64_t end = std::min(X.rows(), first + size);
    const PreparedRows rows(model.preparation, X.block_rows(first, end), context,
                            "a block of inputs");
    const auto values = K.view().block_rows(0, end - first);
    const auto out = scores.block_rows(first, end);
    stage.share(end - first);
    kernel::gram(*model.kernel, rows.view(), training, context, values);
    for (int64_t i = 0; i < out.rows; ++i) {
      std::copy_n(model.mean.data(), out.cols, out.row(i));
    }
    linalg::multiply(1.0, linalg::Transpose::no, values, linalg::Transpose::no, model.alpha.view(),
                     1.0, out);
    model.preparation.restore_targets(out);
    stage.advance(end - first);
  }
}

}  // namespace mercer::model
