// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Leave-one-out residuals in closed form, (y - yhat)_i / (1 - H_ii) (Allen 1974), exact for ridge
// regression with n lambda kept. In the eigenbasis U = (Z - mean) V:
//   H_ii = sum_j u_ij^2/(s_j + n lambda) (+ 1/n for the unpenalised intercept),   yhat = U
//   diag(1/(s + n lambda)) c + ybar.
// A row of weight w has w H_ii instead of H_ii.
// U does not depend on lambda, so a path costs one rows x D x D product and two thin ones.
#include <algorithm>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/ridge_state.h"
#include "solver/row_weights.h"

namespace mercer::solver {
namespace {

constexpr int64_t kRowBlock = 1024;
using linalg::kPlain;
constexpr const char* kLeftOut = "leave-one-out";

void square(MatrixView<double> U) {
  for (int64_t i = 0; i < U.rows; ++i)
    for (int64_t j = 0; j < U.cols; ++j) U(i, j) *= U(i, j);
}

void require_training_block(const RidgePath& path, MatrixView<const double> Z,
                            MatrixView<const double> Y) {
  require(Z.cols == path.features(), MERCER_DIMENSION_MISMATCH,
          "Z has %ld columns, expected features = %ld", Z.cols, path.features());
  require(Y.cols == path.outputs() && Y.rows == Z.rows, MERCER_DIMENSION_MISMATCH,
          "Y is %ld x %ld, expected %ld rows as in Z and outputs = %ld", Y.rows, Y.cols, Z.rows,
          path.outputs());
}

}  // namespace

/// Factors of the columns of residuals in the eigenbasis.
struct RidgePath::State::LeftOut {
  Matrix<double> inverses;      // 1/(s + n lambda): D x lambdas
  Matrix<double> coefficients;  // inverses times c: D x columns
  int64_t each;                 // adjacent columns that share a lambda
};

RidgePath::State::LeftOut RidgePath::State::prepare_left_out(std::span<const double> lambdas,
                                                             Context& context) const {
  const int64_t D = features(), m = outputs(), L = static_cast<int64_t>(lambdas.size());
  LeftOut factors{Matrix<double>(D, L, context, kLeftOut),
                  Matrix<double>(D, checked_multiply(L, m, kLeftOut), context, kLeftOut), m};
  for (int64_t l = 0; l < L; ++l) {
    const double shift = checked_shift(lambdas[l], statistics.weight());
    for (int64_t i = 0; i < D; ++i) {
      factors.inverses(i, l) = inverse(static_cast<std::size_t>(i), shift);
      for (int64_t j = 0; j < m; ++j)
        factors.coefficients(i, l * m + j) = factors.inverses(i, l) * projected(i, j);
    }
  }
  return factors;
}

/// targets: (row, column) -> the centred target.
template <class Targets>
Matrix<double> RidgePath::State::left_out(const LeftOut& factors, MatrixView<const double> Z,
                                          const Targets& targets, std::span<const double> weights,
                                          Context& context) const {
  require_weights(weights, Z.rows);
  const int64_t D = features(), L = factors.inverses.cols(), columns = factors.coefficients.cols();
  const int64_t block = std::min(kRowBlock, Z.rows);
  Matrix<double> residuals(Z.rows, columns, context, kLeftOut);
  const Matrix<double> centred_rows(block, D, context, kLeftOut),
      basis(block, D, context, kLeftOut);
  const Matrix<double> fitted(block, columns, context, kLeftOut),
      leverage(block, L, context, kLeftOut);
  const double of_intercept = static_cast<double>(centered) / statistics.weight();
  Stage stage(context, Z.rows);
  for (int64_t first = 0; first < Z.rows; first += block) {
    const MatrixView<const double> rows = Z.block_rows(first, std::min(first + block, Z.rows));
    const MatrixView<double> U = basis.view().block_rows(0, rows.rows);
    const MatrixView<double> centred = centred_rows.view().block_rows(0, rows.rows);
    for (int64_t i = 0; i < rows.rows; ++i) std::copy_n(rows.row(i), D, centred.row(i));
    linalg::subtract_from_rows(means.row.features, centred);
    linalg::multiply(1.0, kPlain, centred, linalg::Transpose::yes, vectors(), 0.0, U);
    linalg::multiply(1.0, kPlain, U, kPlain, factors.coefficients.view(), 0.0,
                     fitted.view().block_rows(0, rows.rows));
    square(U);
    linalg::multiply(1.0, kPlain, U, kPlain, factors.inverses.view(), 0.0,
                     leverage.view().block_rows(0, rows.rows));
    for (int64_t i = 0; i < rows.rows; ++i) {
      const double weight = weights.empty() ? 1.0 : weights[first + i];
      for (int64_t j = 0; j < columns; ++j) {
        const double left = 1 - weight * of_intercept - weight * leverage(i, j / factors.each);
        residuals(first + i, j) =
            left > kInterpolates ? (targets(first + i, j) - fitted(i, j)) / left : kInfinity;
      }
    }
    stage.advance(rows.rows);
    context.checkpoint();
  }
  return residuals;
}

Matrix<double> RidgePath::leave_one_out(double lambda, MatrixView<const double> Z,
                                        MatrixView<const double> Y, Context& context,
                                        std::span<const double> weights) const {
  return leave_one_out(std::span(&lambda, 1), Z, Y, context, weights);
}

Matrix<double> RidgePath::leave_one_out(std::span<const double> lambdas, MatrixView<const double> Z,
                                        MatrixView<const double> Y, Context& context,
                                        std::span<const double> weights) const {
  require_training_block(*this, Z, Y);
  const std::vector<double>& mean = state_->means.row.outputs;
  const auto target = [&, m = outputs()](int64_t i, int64_t j) {
    return Y(i, j % m) - mean[j % m];
  };
  return state_->left_out(state_->prepare_left_out(lambdas, context), Z, target, weights, context);
}

Matrix<double> RidgePath::leave_one_out(const Combination& of, MatrixView<const double> Z,
                                        MatrixView<const double> Y, Context& context,
                                        std::span<const double> weights) const {
  require_training_block(*this, Z, Y);
  State::LeftOut factors{state_->inverses(of, context), state_->filtered(of, context), 1};
  const Matrix<double> T(Y.rows, of.M.cols, context, kLeftOut);
  const std::vector<double> mean = combined(state_->means.row.outputs, of.M);
  linalg::multiply(1.0, kPlain, Y, kPlain, of.M, 0.0, T.view());
  const auto target = [&](int64_t i, int64_t j) { return T(i, j) - mean[j]; };
  return state_->left_out(factors, Z, target, weights, context);
}

}  // namespace mercer::solver
