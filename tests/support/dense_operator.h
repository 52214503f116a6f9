// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A symmetric matrix in memory as the operator that iterative solvers ask for.
#pragma once

#include "linalg/conjugate_gradient.h"

namespace mercer::test {

class DenseOperator final : public linalg::LinearOperator {
 public:
  explicit DenseOperator(MatrixView<const double> A) : A_(A) {}
  int64_t rows() const override { return A_.rows; }

 private:
  void multiply(MatrixView<const double> X, Context&, MatrixView<double> Y) const override {
    linalg::multiply(1.0, linalg::kPlain, A_, linalg::kPlain, X, 0.0, Y);
  }
  MatrixView<const double> A_;
};

}  // namespace mercer::test
