// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "linalg/linear_operator.h"

#include "base/error.h"

namespace mercer::linalg {
namespace {

void require_product(const char* name, int64_t rows, int64_t cols, MatrixView<const double> X,
                     MatrixView<double> Y) {
  require(X.rows == cols && Y.rows == rows && X.cols == Y.cols, MERCER_DIMENSION_MISMATCH,
          "Y is %ld x %ld and X %ld x %ld, expected as many columns and %ld and %ld rows for "
          "Y = %s X",
          Y.rows, Y.cols, X.rows, X.cols, rows, cols, name);
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
