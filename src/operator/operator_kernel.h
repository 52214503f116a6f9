// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact operator-valued kernels: K(x, y) is a p x p matrix (SPEC section 8). Immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/matrix_view.h"
#include "base/parameters.h"
#include "kernel/kernel.h"

namespace mercer::operators {

/// K(x, y) for rows of a fixed width, by what it does to vectors.
class PairAction {
 public:
  virtual ~PairAction() = default;
  /// out_k += K(x, y) u_k for k < count vectors of p numbers, one after the other.
  virtual void add(const double* x, const double* y, int64_t count, const double* u,
                   double* out) const noexcept = 0;
};

class OperatorKernel {
 public:
  virtual ~OperatorKernel() = default;

  std::string_view name() const noexcept { return name_; }
  /// The canonical spec: "operator", "kernel", then the entry's fields.
  const Parameters& parameters() const noexcept { return parameters_; }
  /// The scalar kernel it is built on.
  const kernel::Kernel& scalar() const noexcept { return *scalar_; }
  /// p for rows of d inputs. Errors: DIMENSION_MISMATCH for a d that does not do, UNSUPPORTED.
  virtual int64_t outputs(int64_t d) const = 0;
  /// Gamma where K = k Gamma for the scalar k, else no rows.
  virtual MatrixView<const double> gamma() const noexcept { return {}; }
  /// Refers to the kernel. Errors: those of outputs.
  virtual std::unique_ptr<const PairAction> action(int64_t d) const = 0;

  /// out_i = sum_j K(X_i, Y_j) U_j without K: U m x (p count), out n x (p count), a row holding
  /// count vectors one after the other. n m times the cost of an action. Errors:
  /// DIMENSION_MISMATCH, CANCELLED.
  void gram_apply(MatrixView<const double> X, MatrixView<const double> Y,
                  MatrixView<const double> U, Context& context, MatrixView<double> out) const;
  /// K (n p x m p), block (i, j) = K(X_i, Y_j). Errors as above.
  void gram(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
            MatrixView<double> K) const;

 protected:
  /// `canonical` has passed the entry's fields.
  explicit OperatorKernel(Parameters canonical);

 private:
  /// gram_apply of shapes that were checked; pair by pair.
  virtual void apply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                          MatrixView<const double> U, Context& context,
                          MatrixView<double> out) const;

  /// gram of shapes that were checked; pair by pair.
  virtual void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                         MatrixView<double> K) const;

  Parameters parameters_;
  std::string name_;
  std::unique_ptr<const kernel::Kernel> scalar_;
};

}  // namespace mercer::operators
