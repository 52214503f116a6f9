// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One lambda: (Z'Z + n lambda I) w = Z'Y by Cholesky in the statistics' own storage.
#include "solver/ridge_factor.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/stream.h"

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

// LAPACK does not touch the other triangle, which keeps a copy of the matrix between attempts.

namespace {

constexpr double kFirstJitter = 1e-15;
constexpr int kAttempts = 7;   // 1e-15 ... 1e-9
constexpr int64_t kTile = 64;  // two 32 KiB tiles fit the caches of a core

/// A(j, i) = A(i, j) for j < i (save), or A(i, j) = A(j, i) (restore), by square tiles.
void copy_triangle(MatrixView<double> A, bool save, Context& context) {
  const int64_t tiles = ceil_divide(A.rows, kTile);
  parallel_for(context, tiles, [=](int64_t tile, int) noexcept {
    const int64_t first = tile * kTile, last = std::min(first + kTile, A.rows);
    for (int64_t column = 0; column < last; column += kTile) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t end = std::min(column + kTile, i);
        for (int64_t j = column; j < end; ++j) {
          if (save) {
            A(j, i) = A(i, j);
          } else {
            A(i, j) = A(j, i);
          }
        }
      }
    }
  });
}

}  // namespace

void jittered_cholesky(MatrixView<double> A, Context& context) {
  const int64_t n = A.rows;
  Stage stage(context, 1);  // ignores further attempts, which are rare
  std::vector<double> diagonal(n);
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    diagonal[i] = A(i, i);
    mean += A(i, i) / static_cast<double>(n);
  }
  copy_triangle(A, true, context);
  int64_t pivot = linalg::cholesky(A);
  require(std::isfinite(mean), MERCER_NOT_POSITIVE_DEFINITE,
          "pivot %ld of %ld is not finite: the matrix holds NaN or Inf", pivot, n);
  double jitter = kFirstJitter * mean;
  for (int attempt = 0; pivot != 0 && attempt < kAttempts; ++attempt, jitter *= 10) {
    context.checkpoint();
    copy_triangle(A, false, context);
    for (int64_t i = 0; i < n; ++i) A(i, i) = diagonal[i] + jitter;
    pivot = linalg::cholesky(A);
  }
  stage.advance(1);
  context.checkpoint();
  require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "pivot %ld of %ld is not positive, not even with 1e-9 of the mean diagonal, %g, added",
          pivot, n, mean);
}

namespace {

constexpr int64_t kProbes = 16;
constexpr int64_t kExact = 256;  // up to here the exact trace costs no more than the factor

}  // namespace

// |L^{-1}|^2 by columns; those from j0 on are zero above row j0.
double exact_inverse_trace(MatrixView<const double> L, Context& context) {
  double sum = 0;
  for (int64_t j0 = 0; j0 < L.rows; j0 += kExact) {
    context.checkpoint();
    const int64_t rows = L.rows - j0, columns = std::min(kExact, rows);
    const Matrix<double> V(rows, columns, context, "columns of an inverse");
    V.fill(0);
    for (int64_t j = 0; j < columns; ++j) V(j, j) = 1;
    linalg::triangular_solve(L.block_rows(j0, L.rows).block_cols(j0, L.rows), V.view());
    for (int64_t k = 0; k < rows * columns; ++k) sum += V.data()[k] * V.data()[k];
  }
  return sum;
}

double inverse_trace(MatrixView<const double> L, Context& context) {
  if (L.rows <= kExact) return exact_inverse_trace(L, context);
  const Matrix<double> V(L.rows, kProbes, context, "the probes of a trace");
  const random::Stream stream(0, random::Tag::probe, 0);
  random::fill_rademacher(stream, 0, {V.data(), static_cast<std::size_t>(L.rows * kProbes)});
  linalg::triangular_solve(L, V.view());
  double sum = 0;
  for (int64_t i = 0; i < L.rows * kProbes; ++i) sum += V.data()[i] * V.data()[i];
  return sum / kProbes;
}

}  // namespace mercer::solver
