// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The dual form: alpha = (Z Z' + n lambda I)^{-1} Y, w = Z' alpha. Saunders, Gammerman, Vovk 1998.
// Centring subtracts means from strips of Z's columns before they are multiplied; subtracting from
// the product would cancel digits. alpha is then orthogonal to 1 up to rounding, which is removed.
#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "base/views.h"
#include "linalg/blas.h"
#include "solver/centering.h"
#include "solver/jittered_cholesky.h"
#include "solver/kernel_ridge.h"
#include "solver/work.h"

namespace mercer::solver {
namespace {

constexpr int64_t kCentredColumns = 512;  // columns of Z that are centred at a time

/// Calls body(first column, columns of Z less their means) for strips of columns; Z is not copied
/// as a whole.
template <class Body>
void for_each_strip(MatrixView<const double> Z, std::span<const double> mean, Context& context,
                    const Body& body) {
  const int64_t width = std::min(kCentredColumns, Z.cols);
  const int64_t words = checked_multiply(Z.rows, width, "dual ridge");
  const AlignedBuffer<double> storage(words, context, "a strip of the dual form");
  for (int64_t first = 0; first < Z.cols; first += width) {
    const int64_t last = std::min(first + width, Z.cols);
    const MatrixView<double> strip{storage.data(), Z.rows, last - first};
    for (int64_t i = 0; i < Z.rows; ++i) std::copy(Z.row(i) + first, Z.row(i) + last, strip.row(i));
    linalg::subtract_from_rows(mean.subspan(first), strip);
    body(first, MatrixView<const double>(strip));
    context.checkpoint();
  }
}

/// alpha := (K + shift I)^{-1} alpha. K is destroyed.
void solve_system(MatrixView<double> K, double shift, double null_level, MatrixView<double> alpha,
                  Context& context) {
  if (shift <= null_level) {
    solve_pseudo_inverse(K, alpha, context);
    return;
  }
  for (int64_t i = 0; i < K.rows; ++i) K(i, i) += shift;
  jittered_cholesky(K, context);
  linalg::cholesky_solve(K, alpha);
}

double trace(MatrixView<const double> K) {
  double sum = 0;
  for (int64_t i = 0; i < K.rows; ++i) sum += K(i, i);
  return sum;
}

}  // namespace

Weights ridge_dual(MatrixView<const double> Z, MatrixView<const double> Y, bool center,
                   double lambda, Context& context) {
  const int64_t n = Z.rows;
  require(Y.rows == n, MERCER_DIMENSION_MISMATCH, "Y has %ld rows, expected %ld as in Z", Y.rows,
          n);
  require_rows(n, "ridge_dual");
  require_summable("Z", Z);
  require_summable("Y", Y);
  const double shift = checked_shift(lambda, static_cast<double>(n));
  const Matrix<double> K(n, n, context, "the dual form's n x n matrix");

  MeanRow mean{std::vector<double>(Z.cols, 0.0), std::vector<double>(Y.cols, 0.0)};
  const Matrix<double> alpha(n, Y.cols, context, "coefficients of the dual form");
  for (int64_t i = 0; i < n; ++i) std::copy_n(Y.row(i), Y.cols, alpha.view().row(i));
  if (center) {
    mean = {linalg::column_means(Z), linalg::column_means(Y)};
    linalg::subtract_from_rows(mean.outputs, alpha.view());
  }
  K.fill(0);
  // Progress in n^2 products: sums over all columns, then a factor or eigenvectors.
  Stage stage(context, Z.cols + cholesky_rows(n));
  for_each_strip(Z, mean.features, context, [&](int64_t, MatrixView<const double> strip) {
    linalg::rank_update_rows(1.0, strip, K.view());
    stage.advance(strip.cols);
  });
  const double null_level = kEpsilon * static_cast<double>(n) * trace(K.view());
  stage.share(cholesky_rows(n));
  solve_system(K.view(), shift, null_level, alpha.view(), context);
  if (center) linalg::subtract_from_rows(linalg::column_means(alpha.view()), alpha.view());

  Weights weights{Matrix<double>(Z.cols, Y.cols, context, "weights"), {}};
  for_each_strip(Z, mean.features, context, [&](int64_t first, MatrixView<const double> strip) {
    linalg::multiply(1.0, linalg::Transpose::yes, strip, linalg::Transpose::no, alpha.view(), 0.0,
                     weights.w.view().block_rows(first, first + strip.cols));
  });
  weights.intercept = intercepts(mean, weights.w.view());
  return weights;
}

}  // namespace mercer::solver
