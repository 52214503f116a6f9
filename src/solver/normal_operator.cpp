// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/normal_operator.h"

#include "base/aligned.h"
#include "solver/row_tiles.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kNormal = "vectors of a product with Z'Z";
constexpr int64_t kFew = 16;  // columns; with more, BLAS is faster

void clear(MatrixView<double> Y) {
  for (int64_t i = 0; i < Y.rows; ++i) std::fill_n(Y.row(i), Y.cols, 0.0);
}

void reduce_rows(const BlockSource& source, MatrixView<double> Y) {
  for (int64_t i = 0; i < Y.rows && source.reduction() != nullptr; ++i)
    reduce(source, {Y.row(i), static_cast<std::size_t>(Y.cols)});
}

}  // namespace

NormalOperator::NormalOperator(const BlockSource& source, bool center, Context& context,
                               std::optional<FeatureEntries> entries)
    : source_(source), mean_(source.features(), 0.0), entries_(std::move(entries)) {
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

/// Rows are widened tile by tile: from memory each is read once, in its own precision.
void NormalOperator::multiply_few(MatrixView<const double> X, const double* of_mean,
                                  Context& context, MatrixView<double> Y, double* sums) const {
  const Matrix<double> vectors(X.cols, X.rows, context, kNormal),
      of_rows(X.cols, X.rows, context, kNormal);
  for (int64_t j = 0; j < X.rows; ++j)
    for (int64_t k = 0; k < X.cols; ++k) vectors(k, j) = X(j, k);
  of_rows.fill(0);
  RowTiles tiles(source_.block_rows(), rows(), X.cols, context);
  source_.for_each(context, [&](const FeatureBlock& block) {
    const auto factors = [&](int64_t first, MatrixView<const double> tile,
                             MatrixView<double> u) noexcept {
      transform::row_products(transform::RowProducts<double>{tile, vectors.view(), u});
      for (int64_t i = 0; i < u.rows; ++i)
        for (int64_t k = 0; k < u.cols; ++k)
          u(i, k) = block.weight(first + i) * (u(i, k) - of_mean[k]);
    };
    block.visit([&](auto Z) { tiles.add(Z, nullptr, context, factors, of_rows.view()); });
    for (int64_t i = 0; i < block.rows(); ++i)
      for (int64_t k = 0; k < X.cols; ++k) sums[k] += tiles.factors()(i, k);
  });
  for (int64_t j = 0; j < X.rows; ++j)
    for (int64_t k = 0; k < X.cols; ++k) Y(j, k) = of_rows(k, j);
}

void NormalOperator::multiply_many(MatrixView<const double> X, const double* of_mean,
                                   Context& context, MatrixView<double> Y, double* sums) const {
  const Matrix<double> products(source_.block_rows(), X.cols, context, "a block of products");
  clear(Y);
  for_each_wide(source_, context, [&](const WideBlock& block) {
    const MatrixView<double> U = products.view().block_rows(0, block.Z.rows);
    linalg::multiply(1.0, Transpose::no, block.Z, Transpose::no, X, 0.0, U);
    for (int64_t i = 0; i < U.rows; ++i)
      for (int64_t k = 0; k < U.cols; ++k) {
        U(i, k) = block.weight(i) * (U(i, k) - of_mean[k]);
        sums[k] += U(i, k);
      }
    linalg::multiply(1.0, Transpose::yes, block.Z, Transpose::no, U, 1.0, Y);
  });
}

void NormalOperator::multiply_entries(MatrixView<const double> X, const double* of_mean,
                                      Context& context, MatrixView<double> Y, double* sums) const {
  const Matrix<double> U(source_.rows(), X.cols, context, "products of rows");
  entries_->multiply(X, context, U.view());
  for (int64_t i = 0; i < U.rows(); ++i)
    for (int64_t k = 0; k < X.cols; ++k) {
      const double weight = entries_->weights.empty() ? 1.0 : entries_->weights[i];
      U(i, k) = weight * (U(i, k) - of_mean[k]);
      sums[k] += U(i, k);
    }
  entries_->multiply_transposed(U.view(), context, Y);
}

void NormalOperator::multiply(Transpose, MatrixView<const double> X, Context& context,
                              MatrixView<double> Y) const {
  const MatrixView<const double> mean(mean_.data(), 1, rows());
  const Matrix<double> of_mean(1, X.cols), sums(1, X.cols);
  linalg::multiply(1.0, Transpose::no, mean, Transpose::no, X, 0.0, of_mean.view());
  sums.fill(0);
  if (entries_) {
    multiply_entries(X, of_mean.data(), context, Y, sums.data());
  } else if (X.cols <= kFew) {
    multiply_few(X, of_mean.data(), context, Y, sums.data());
  } else {
    multiply_many(X, of_mean.data(), context, Y, sums.data());
  }
  linalg::multiply(-1.0, Transpose::yes, mean, Transpose::no, sums.view(), 1.0, Y);
  reduce_rows(source_, Y);
}

}  // namespace mercer::solver
