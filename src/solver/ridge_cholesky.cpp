// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One lambda: (Z'Z + n lambda I) w = Z'Y by Cholesky in the statistics' own storage.
#include <algorithm>

#include "base/numbers.h"
#include "linalg/blas.h"
#include "solver/inverse_trace.h"
#include "solver/jittered_cholesky.h"
#include "solver/ridge_factor.h"

namespace mercer::solver {
namespace {

constexpr int64_t kCentredRows = 512;
constexpr const char* kDowndates = "leave-one-out";

void transpose(MatrixView<const double> A, MatrixView<double> to) {
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) to(j, i) = A(i, j);
}

}  // namespace

RidgeFactor::RidgeFactor(RowStatistics&& statistics, bool center, double lambda, Context& context)
    : statistics_(std::move(statistics)), center_(center) {
  statistics_.release_scratch();
  require_rows(statistics_, "ridge_cholesky");
  shift_ = checked_shift(lambda, statistics_.weight());
  means_ = center_in_place(statistics_, center);
  const MatrixView<double> gram = statistics_.parts().gram;
  for (int64_t i = 0; i < gram.rows; ++i) gram(i, i) += shift_;
  jittered_cholesky(gram, context);
}

Weights RidgeFactor::weights(Context& context) const {
  const MatrixView<const double> cross = statistics_.cross();
  Weights weights{Matrix<double>(cross.rows, cross.cols, context, "weights"), {}};
  std::copy_n(cross.data, cross.rows * cross.cols, weights.w.data());
  linalg::cholesky_solve(factor(), weights.w.view());
  weights.intercept = intercepts(means_.row, weights.w.view());
  return weights;
}

double RidgeFactor::effective_dimension(Context& context) const {
  const auto D = static_cast<double>(statistics_.features());
  return (D - shift_ * inverse_trace(factor(), context)) /
             static_cast<double>(statistics_.multiplicity()) +
         (center_ ? 1.0 : 0.0);
}

Matrix<double> RidgeFactor::leave_one_out(const Weights& weights, MatrixView<const double> Z,
                                          MatrixView<const double> Y, Context& context,
                                          std::span<const double> row_weights) const {
  Matrix<double> residuals(Z.rows, Y.cols, context, kDowndates);
  for (int64_t i = 0; i < Z.rows; ++i)
    for (int64_t o = 0; o < Y.cols; ++o) residuals(i, o) = Y(i, o) - weights.intercept[o];
  linalg::multiply(-1.0, linalg::Transpose::no, Z, linalg::Transpose::no, weights.w.view(), 1.0,
                   residuals.view());
  const int64_t size = std::min(kCentredRows, Z.rows);
  const Matrix<double> centred(size, Z.cols, context, kDowndates);
  for (int64_t first = 0; first < Z.rows; first += size) {
    const int64_t count = std::min(size, Z.rows - first);
    const MatrixView<double> rows = centred.view().block_rows(0, count);
    for (int64_t i = 0; i < count; ++i) std::copy_n(Z.row(first + i), Z.cols, rows.row(i));
    if (center_) linalg::subtract_from_rows(means_.row.features, rows);
    const Matrix<double> solved(Z.cols, count, context, kDowndates);
    transpose(rows, solved.view());
    linalg::triangular_solve(factor(), solved.view());
    std::vector<double> leverage(count, 0.0);
    for (int64_t j = 0; j < solved.rows(); ++j)
      for (int64_t i = 0; i < count; ++i) leverage[i] += solved(j, i) * solved(j, i);
    for (int64_t i = 0; i < count; ++i) {
      const double w = row_weights.empty() ? 1.0 : row_weights[first + i];
      const double of_intercept = center_ ? 1 / statistics_.weight() : 0.0;
      const double left = 1 - w * (of_intercept + leverage[i]);
      for (int64_t o = 0; o < Y.cols; ++o)
        residuals(first + i, o) = left > kInterpolates ? residuals(first + i, o) / left : kInfinity;
    }
    context.checkpoint();
  }
  return residuals;
}

Weights ridge_cholesky(RowStatistics&& statistics, bool center, double lambda, Context& context) {
  if (lambda == 0) return RidgePath(std::move(statistics), center, context).solve(lambda);
  return RidgeFactor(std::move(statistics), center, lambda, context).weights(context);
}

Solution ridge_cholesky_solution(RowStatistics&& statistics, bool center, double lambda,
                                 Context& context) {
  if (lambda == 0) {
    const RidgePath path(std::move(statistics), center, context);
    return {path.solve(lambda), path.effective_dimension(lambda)};
  }
  const RidgeFactor factor(std::move(statistics), center, lambda, context);
  return {factor.weights(context), factor.effective_dimension(context)};
}

}  // namespace mercer::solver
