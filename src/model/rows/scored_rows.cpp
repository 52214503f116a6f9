// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All sets of coefficients are columns of one matrix, so that a block of features is multiplied
// once.
#include "model/rows/scored_rows.h"

#include <algorithm>

#include "linalg/blas.h"

namespace mercer::model {
namespace {

Matrix<double> side_by_side(std::span<const solver::Weights> weights, Context& context) {
  const int64_t outputs = weights[0].w.cols();
  Matrix<double> all(weights[0].w.rows(), outputs * std::ssize(weights), context,
                     "weights side by side");
  for (int64_t j = 0; j < all.rows(); ++j) {
    double* to = all.view().row(j);
    for (const solver::Weights& one : weights) {
      to = std::copy_n(one.w.view().row(j), outputs, to);
    }
  }
  return all;
}

}  // namespace

void for_each_scored(const solver::BlockSource& rows, std::span<const solver::Weights> weights,
                     Context& context, const ScoredRow& body) {
  const Matrix<double> W = side_by_side(weights, context);
  const Matrix<double> scores(rows.block_rows(), W.cols(), context, "a block of scores");
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const auto S = scores.view().block_rows(0, block.Z.rows);
    for (int64_t i = 0; i < S.rows; ++i) {
      double* to = S.row(i);
      for (const auto& one : weights) to = std::ranges::copy(one.intercept, to).out;
    }
    linalg::multiply(1.0, linalg::Transpose::no, block.Z, linalg::Transpose::no, W.view(), 1.0, S);
    for (int64_t i = 0; i < S.rows; ++i)
      body(block.first + i, block.Y.row(i), block.weight(i), S.row(i));
  });
}

}  // namespace mercer::model
