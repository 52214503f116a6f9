// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/normal_operator.h"

#include "base/aligned.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

void clear(MatrixView<double> Y) {
  for (int64_t i = 0; i < Y.rows; ++i) std::fill_n(Y.row(i), Y.cols, 0.0);
}

void reduce_rows(const BlockSource& source, MatrixView<double> Y) {
  for (int64_t i = 0; i < Y.rows && source.reduction() != nullptr; ++i)
    reduce(source, {Y.row(i), static_cast<std::size_t>(Y.cols)});
}

}  // namespace

NormalOperator::NormalOperator(const BlockSource& source, bool center, Context& context)
    : source_(source), mean_(source.features(), 0.0) {
  for_each_wide(source, context, [&](const WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      weight_ += block.weight(i);
      for (std::size_t j = 0; center && j < mean_.size(); ++j)
        mean_[j] += block.weight(i) * block.Z(i, static_cast<int64_t>(j));
    }
  });
  reduce(source, {&weight_, 1});
  reduce(source, mean_);
  for (double& value : mean_) value = weight_ > 0 ? value / weight_ : 0.0;
}

void NormalOperator::multiply(Transpose, MatrixView<const double> X, Context& context,
                              MatrixView<double> Y) const {
  const MatrixView<const double> mean(mean_.data(), 1, rows());
  const Matrix<double> products(source_.block_rows(), X.cols, context, "a block of products");
  const Matrix<double> of_mean(1, X.cols), sums(1, X.cols);
  linalg::multiply(1.0, Transpose::no, mean, Transpose::no, X, 0.0, of_mean.view());
  sums.fill(0);
  clear(Y);
  for_each_wide(source_, context, [&](const WideBlock& block) {
    const MatrixView<double> U = products.view().block_rows(0, block.Z.rows);
    linalg::multiply(1.0, Transpose::no, block.Z, Transpose::no, X, 0.0, U);
    for (int64_t i = 0; i < U.rows; ++i)
      for (int64_t j = 0; j < U.cols; ++j) {
        U(i, j) = block.weight(i) * (U(i, j) - of_mean(0, j));
        sums(0, j) += U(i, j);
      }
    linalg::multiply(1.0, Transpose::yes, block.Z, Transpose::no, U, 1.0, Y);
  });
  linalg::multiply(-1.0, Transpose::yes, mean, Transpose::no, sums.view(), 1.0, Y);
  reduce_rows(source_, Y);
}

}  // namespace mercer::solver
