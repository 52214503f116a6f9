// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sources: Brault, d'Alche-Buc 2016, section 2; SPEC section 8, and section 12 for the recursion of
// the simplex code, which the paper prints with another u.
#include "model/outputs/output_structure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "linalg/symmetric_eigen.h"

namespace mercer::model {

using Long = long long;

namespace {

void require_finite(MatrixView<const double> Y) {
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k)
      require(std::isfinite(Y(i, k)), MERCER_INVALID_ARGUMENT,
              "output (%lld, %lld) is %g, expected a finite number", Long{i}, Long{k}, Y(i, k));
}

}  // namespace

void output_covariance(MatrixView<const double> Y, Context& context, MatrixView<double> gamma) {
  require(Y.rows >= 1, MERCER_INVALID_ARGUMENT, "Y has no rows, expected at least one");
  require_finite(Y);
  const int64_t p = Y.cols;
  const auto n = static_cast<double>(Y.rows);
  std::vector<double> mean(static_cast<size_t>(p), 0.0);
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < p; ++k) mean[static_cast<size_t>(k)] += Y(i, k) / n;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = 0; l < p; ++l) gamma(k, l) = 0;
  Stage stage(context, Y.rows);
  for (int64_t i = 0; i < Y.rows; ++i) {
    stage.advance(1);
    context.checkpoint();
    for (int64_t k = 0; k < p; ++k)
      for (int64_t l = 0; l <= k; ++l)
        gamma(k, l) +=
            (Y(i, k) - mean[static_cast<size_t>(k)]) * (Y(i, l) - mean[static_cast<size_t>(l)]) / n;
  }
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = 0; l < k; ++l) gamma(l, k) = gamma(k, l);
}

double check_graph(MatrixView<const double> W) {
  double most = 0;
  for (int64_t k = 0; k < W.rows; ++k) {
    for (int64_t l = 0; l < W.cols; ++l) {
      if (k == l) continue;
      require(std::isfinite(W(k, l)) && W(k, l) >= 0 && W(k, l) == W(l, k), MERCER_INVALID_ARGUMENT,
              "weight[%lld, %lld] = %g and [%lld, %lld] = %g, expected equal finite numbers >= 0",
              Long{k}, Long{l}, W(k, l), Long{l}, Long{k}, W(l, k));
      most = std::max(most, W(k, l));
    }
  }
  require(most > 0, MERCER_INVALID_ARGUMENT,
          "the graph of %lld outputs has no edges, expected a weight > 0", Long{W.rows});
  return most;
}

namespace {

/// Of W / unit.
Matrix<double> laplacian_of(MatrixView<const double> W, double unit) {
  const int64_t p = W.rows;
  Matrix<double> L(p, p);
  L.fill(0);
  for (int64_t k = 0; k < p; ++k) {
    for (int64_t l = 0; l < p; ++l) {
      if (k == l) continue;
      L(k, l) -= W(k, l) / unit;
      L(k, k) += W(k, l) / unit;
    }
  }
  return L;
}

}  // namespace

void laplacian_pseudo_inverse(MatrixView<const double> W, Context& context,
                              MatrixView<double> gamma) {
  // Sums and inverses of weights near the ends of the range of double would leave it.
  const double unit = std::ldexp(1.0, std::ilogb(check_graph(W)));
  const Matrix<double> V = laplacian_of(W, unit);
  const int64_t p = W.rows;
  std::vector<double> values(static_cast<size_t>(p));
  linalg::symmetric_eigen(V.view(), values, context);
  for (int64_t k = 0; k < p; ++k) {
    for (int64_t l = 0; l <= k; ++l) {
      double sum = 0;
      for (int64_t e = 0; e < p; ++e) {
        const double value = values[static_cast<size_t>(e)];
        if (value > 1e-12 * values.back()) sum += V(e, k) * V(e, l) / value;
      }
      gamma(k, l) = gamma(l, k) = sum / unit;
    }
  }
}

void task_similarity(MatrixView<const double> Y, double scale, Context& context,
                     MatrixView<double> gamma) {
  require(std::isfinite(scale) && scale > 0, MERCER_INVALID_ARGUMENT,
          "scale = %g, expected a finite number > 0", scale);
  require_finite(Y);
  Stage stage(context, Y.cols * (Y.cols + 1) / 2);
  const double root = std::sqrt(scale);  // of each difference: squares alone could overflow
  for (int64_t k = 0; k < Y.cols; ++k) {
    for (int64_t l = 0; l <= k; ++l) {
      double square = 0;
      stage.advance(1);
      context.checkpoint();
      for (int64_t i = 0; i < Y.rows; ++i) {
        const double apart = root * Y(i, k) - root * Y(i, l);
        square += apart * apart;
      }
      gamma(k, l) = gamma(l, k) = std::exp(-square);
    }
  }
}

// From the code of p classes to that of p + 1: [[1, u'], [0, sqrt(1 - 1/p^2) B]], u = -1/p.
void simplex_code(MatrixView<double> code) {
  require(code.cols >= 2 && code.rows == code.cols - 1, MERCER_DIMENSION_MISMATCH,
          "a simplex code of %lld x %lld, expected (T - 1) x T with T >= 2", Long{code.rows},
          Long{code.cols});
  double scale = 1;
  for (int64_t row = 0; row < code.rows; ++row) {
    const auto p = static_cast<double>(code.cols - 1 - row);
    for (int64_t k = 0; k < code.cols; ++k)
      code(row, k) = k < row ? 0 : scale * (k == row ? 1 : -1 / p);
    scale *= std::sqrt(1 - 1 / (p * p));
  }
}

}  // namespace mercer::model
