// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "linalg/linear_operator.h"

#include "base/error.h"

namespace mercer::linalg {
namespace {

using Long = long long;

void require_product(const char* name, int64_t rows, int64_t cols, MatrixView<const double> X,
                     MatrixView<double> Y) {
  require(X.rows == cols && Y.rows == rows && X.cols == Y.cols, MERCER_DIMENSION_MISMATCH,
          "Y is %lld x %lld and X %lld x %lld, expected as many columns and %lld and %lld rows for "
          "Y = %s X",
          static_cast<Long>(Y.rows), static_cast<Long>(Y.cols), static_cast<Long>(X.rows),
          static_cast<Long>(X.cols), static_cast<Long>(rows), static_cast<Long>(cols), name);
}

}  // namespace

void LinearOperator::apply(MatrixView<const double> X, Context& context,
                           MatrixView<double> Y) const {
  require_product("A", rows(), cols(), X, Y);
  multiply(Transpose::no, X, context, Y);
}

void LinearOperator::apply_transpose(MatrixView<const double> X, Context& context,
                                     MatrixView<double> Y) const {
  require_product("A'", cols(), rows(), X, Y);
  multiply(Transpose::yes, X, context, Y);
}

void DenseOperator::multiply(Transpose transpose, MatrixView<const double> X, Context&,
                             MatrixView<double> Y) const {
  linalg::multiply(1.0, transpose, A_, Transpose::no, X, 0.0, Y);
}

DiagonalSum::DiagonalSum(const LinearOperator& A, std::span<const double> diagonal)
    : A_(A), diagonal_(diagonal) {
  const auto size = static_cast<int64_t>(diagonal.size());
  require(A.rows() == A.cols() && A.rows() == size, MERCER_DIMENSION_MISMATCH,
          "A is %lld x %lld and the diagonal has %lld entries, expected a square A of that size",
          static_cast<Long>(A.rows()), static_cast<Long>(A.cols()), static_cast<Long>(size));
}

void DiagonalSum::multiply(Transpose transpose, MatrixView<const double> X, Context& context,
                           MatrixView<double> Y) const {
  if (transpose == Transpose::no) {
    A_.apply(X, context, Y);
  } else {
    A_.apply_transpose(X, context, Y);
  }
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t j = 0; j < Y.cols; ++j)
      Y(i, j) += diagonal_[static_cast<std::size_t>(i)] * X(i, j);
}

}  // namespace mercer::linalg
