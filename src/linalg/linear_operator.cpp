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

}  // namespace mercer::linalg
