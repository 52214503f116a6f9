// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrices given by their products with vectors, as iterative solvers need them. Blocks of k
// vectors are the columns of a matrix.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "linalg/blas.h"

namespace mercer::linalg {

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual int64_t rows() const = 0;
  virtual int64_t cols() const = 0;

  /// Y = A X, with X cols x k and Y rows x k; Y must not overlap X. DIMENSION_MISMATCH.
  void apply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const;
  /// Y = A'X, with X rows x k and Y cols x k.
  void apply_transpose(MatrixView<const double> X, Context& context, MatrixView<double> Y) const;

 private:
  /// Y = op(A) X; shapes are already checked.
  virtual void multiply(Transpose transpose, MatrixView<const double> X, Context& context,
                        MatrixView<double> Y) const = 0;
};

}  // namespace mercer::linalg
