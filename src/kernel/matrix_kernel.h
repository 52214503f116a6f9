// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of several outputs: K(x, y) is a p x p matrix (SPEC section 8).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/context.h"
#include "base/matrix_view.h"
#include "base/numbers.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

struct FieldParts;
struct OutputRoot;

class MatrixKernel : public Kernel {
 public:
  int64_t outputs(int64_t d) const override = 0;
  const MatrixKernel* matrix() const noexcept final { return this; }
  double value(int64_t, const double*, const double*) const noexcept final { return kNaN; }
  std::optional<InputBound> input_bound() const noexcept final { return scalar().input_bound(); }

  /// The scalar kernel it is built from, times variance().
  const Kernel& scalar() const noexcept { return *scalar_; }
  /// Gamma where K = k Gamma for the scalar k, else no rows.
  virtual MatrixView<const double> gamma() const noexcept { return {}; }
  /// The root of gamma(), or null.
  virtual const OutputRoot* root() const noexcept { return nullptr; }
  /// A(omega) where it is the kernel's spectral density over the scalar one's, else null.
  virtual const FieldParts* field_parts() const noexcept { return nullptr; }

  /// kernel::gram and gram_multiply for checked shapes, X not empty. Except for BLAS, no byte
  /// depends on the number of threads.
  virtual void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                         MatrixView<double> K) const = 0;
  virtual void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                             MatrixView<const double> U, Context& context,
                             MatrixView<double> out) const = 0;

 protected:
  /// `canonical` has passed the entry's fields, scalar_field() among them.
  explicit MatrixKernel(Parameters canonical);

 private:
  std::unique_ptr<const Kernel> scalar_;
};

}  // namespace mercer::kernel
