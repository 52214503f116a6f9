// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrices given by their products with vectors, as iterative solvers need them. Blocks of k
// vectors are the columns of a matrix.
#pragma once

#include <span>

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

/// A matrix in memory, held by reference.
class DenseOperator final : public LinearOperator {
 public:
  explicit DenseOperator(MatrixView<const double> A) : A_(A) {}
  int64_t rows() const override { return A_.rows; }
  int64_t cols() const override { return A_.cols; }

 private:
  void multiply(Transpose transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override;
  MatrixView<const double> A_;
};

/// A + diag(diagonal) for a square A; both are held by reference.
class DiagonalSum final : public LinearOperator {
 public:
  /// DIMENSION_MISMATCH unless A is square and of the diagonal's size.
  DiagonalSum(const LinearOperator& A, std::span<const double> diagonal);
  int64_t rows() const override { return A_.rows(); }
  int64_t cols() const override { return A_.cols(); }

 private:
  void multiply(Transpose transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override;
  const LinearOperator& A_;
  std::span<const double> diagonal_;
};

}  // namespace mercer::linalg
