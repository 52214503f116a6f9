// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Functions f(x) = Phi(x)'theta with p outputs at rows x_1, ..., x_N, as what takes theta to their
// values and back. Phi(x), r x p, is never formed. Targets are N x p; NaN: not observed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "linalg/linear_operator.h"

namespace mercer::solver {

class OperatorRows {
 public:
  virtual ~OperatorRows() = default;
  virtual int64_t rows() const = 0;          // N
  virtual int64_t outputs() const = 0;       // p
  virtual int64_t coefficients() const = 0;  // r
  /// S (count x (p m)) = f at rows [first, first + S.rows) for each column of theta (r x m), one
  /// after the other.
  virtual void values(int64_t first, MatrixView<const double> theta, Context& context,
                      MatrixView<double> S) const = 0;
  /// Column k of theta (r x m) += sum_i Phi(x_{first + i}) S_i, S_i vector k of a row of S.
  virtual void add_adjoint(int64_t first, MatrixView<const double> S, Context& context,
                           MatrixView<double> theta) const = 0;
};

/// A vector as a matrix of one column.
inline MatrixView<double> as_column(std::span<double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}
inline MatrixView<const double> as_column(std::span<const double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}

/// Blocks of at most this many rows are asked for at once.
inline constexpr int64_t kOperatorRows = 1024;

/// Phi given whole: rows i p ... i p + p - 1 are Phi(x_i)', (N p) x r. Referred to.
class ExplicitRows final : public OperatorRows {
 public:
  /// DIMENSION_MISMATCH unless p divides Phi's rows.
  ExplicitRows(MatrixView<const double> Phi, int64_t outputs);
  int64_t rows() const override { return Phi_.rows / outputs_; }
  int64_t outputs() const override { return outputs_; }
  int64_t coefficients() const override { return Phi_.cols; }
  void values(int64_t first, MatrixView<const double> theta, Context& context,
              MatrixView<double> S) const override;
  void add_adjoint(int64_t first, MatrixView<const double> S, Context& context,
                   MatrixView<double> theta) const override;

 private:
  MatrixView<const double> Phi_;
  int64_t outputs_;
};

/// How many targets were observed. INVALID_ARGUMENT for infinite ones, or if none was.
int64_t count_observed(MatrixView<const double> Y);

/// M Phi', (N p) x r, with M = 1 where a target was observed and 0 elsewhere. Both are referred to.
class ObservedRows final : public linalg::LinearOperator {
 public:
  /// DIMENSION_MISMATCH unless Y is N x p; INVALID_ARGUMENT for infinite targets, or if none is
  /// observed.
  ObservedRows(const OperatorRows& of, MatrixView<const double> Y);
  int64_t rows() const override { return Y_.rows * Y_.cols; }
  int64_t cols() const override { return of_.coefficients(); }
  int64_t observed() const noexcept { return observed_; }
  /// M y.
  std::vector<double> targets() const;

 private:
  void multiply(linalg::Transpose transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override;
  const OperatorRows& of_;
  MatrixView<const double> Y_;
  int64_t observed_ = 0;
};

}  // namespace mercer::solver
