// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernel ridge regression, alpha = (K + n lambda I)^{-1} (Y - mean): what random features
// approximate. Classification is least squares on one-hot codes, as in fit.
#include "model/exact_ridge.h"

#include <algorithm>

#include "base/error.h"
#include "base/finite.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/column_means.h"
#include "model/fit_checks.h"
#include "model/row_coding.h"
#include "model/row_summary.h"
#include "solver/kernel_ridge.h"

namespace mercer::model {
namespace {

using Long = long long;

constexpr int64_t kBlockBytes = int64_t{32} << 20;  // of a block of kernel values in prediction

void standardize_into(const Preparation& preparation, const Rows& rows, MatrixView<double> out) {
  rows.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) standardize_row(preparation, X, i, out.row(i));
  });
}

Matrix<double> coded_targets(const FitOptions& options, const Preparation& by,
                             MatrixView<const double> Y) {
  Matrix<double> codes(Y.rows, coded_outputs(options, Y.cols));
  for (int64_t i = 0; i < Y.rows; ++i)
    code_target(options, by, Y.cols, Y.row(i), codes.view().row(i));
  return codes;
}

}  // namespace

ExactModel fit_exact(std::shared_ptr<const kernel::Kernel> kernel, const FitOptions& options,
                     const Rows& X, MatrixView<const double> Y, Context& context) {
  FitOptions fixed = options;
  fixed.selection = Selection::fixed;
  check_options(fixed);
  check_shapes(fixed, X.rows(), X.cols(), Y);
  const int64_t inputs = prepared_inputs(options, X);
  kernel->check_dimension(inputs);
  check_numbers(options, X);
  check_targets(fixed, Y);
  const int64_t gram_bytes =
      checked_multiply(checked_multiply(X.rows(), X.rows(), "Gram matrix"), 8, "Gram matrix");
  context.require_memory(gram_bytes, "the n x n Gram matrix");

  ExactModel model;
  model.kernel = std::move(kernel);
  const RowSummary summary(options, X, Y, {});
  summary.require_numbers();
  model.preparation = summary.preparation();
  model.inputs = X.cols();
  model.rows = Matrix<double>(X.rows(), inputs);
  standardize_into(model.preparation, X, model.rows.view());
  const Matrix<double> codes = coded_targets(options, model.preparation, Y);
  model.mean.assign(static_cast<size_t>(codes.cols()), 0.0);
  if (options.center) {
    model.mean = linalg::column_means(codes.view());
    linalg::subtract_from_rows(model.mean, codes.view());
  }
  const Matrix<double> K(X.rows(), X.rows(), context, "the n x n Gram matrix");
  kernel::gram(*model.kernel, model.rows.view(), model.rows.view(), context, K.view());
  model.alpha = solver::kernel_ridge(K.view(), codes.view(), options.lambda, context);
  model.options = fixed;
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
  const int64_t n = model.rows.rows();
  const int64_t size =
      std::clamp<int64_t>(kBlockBytes / (8 * n), 1, std::max<int64_t>(X.rows(), 1));
  const Matrix<double> inputs(size, model.rows.cols(), context, "a block of inputs");
  const Matrix<double> K(size, n, context, "a block of kernel values");
  Stage stage(context, X.rows());
  for (int64_t first = 0; first < X.rows(); first += size) {
    const int64_t end = std::min(X.rows(), first + size);
    const auto rows = inputs.view().block_rows(0, end - first);
    const auto values = K.view().block_rows(0, end - first);
    const auto out = scores.block_rows(first, end);
    standardize_into(model.preparation, X.block_rows(first, end), rows);
    kernel::gram(*model.kernel, rows, model.rows.view(), context, values);
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
