// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What can be computed of f(x) = sum_j K(x, x_j) u_j, a function of kernel values, beside its values:
// derivatives and antiderivatives, from derivatives of the scalar kernel that K is made of.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/views.h"
#include "feature/feature_operator.h"
#include "kernel/kernel.h"

namespace mercer::feature {

/// A map that may have kernel values with rows that it keeps as columns: a capability, called where
/// has_kernel_columns(). The kernel is the map's own but for maps at A x, of which it and the rows
/// are those of the map inside.
class KernelColumns {
 public:
  virtual ~KernelColumns() = default;
  virtual Rows kept() const = 0;
  virtual const kernel::Kernel& of_kept() const = 0;
};
/// Null for a map that has none.
const KernelColumns* kernel_columns_of(const FeatureMap& map);

/// K of p outputs, k I of a kernel k of one.
struct OutputKernel {
  const kernel::Kernel& kernel;
  int64_t outputs;
};
/// UNSUPPORTED, naming kernel and orders, unless multiply_kernel_field serves this kind.
void require_kernel_field(const OutputKernel& of, FieldKind kind, int64_t d);

/// multiply() of feature_operator.h for theta_j = u_j, p rows for each kept row, and kinds other
/// than value; checks nothing but the kernel. Curl-free fields have potentials and divergence-free
/// ones stream functions; those of k Gamma have no closed form. Cost: n times the kept rows times
/// as many derivatives as there are different ones, d (d + 1) (d + 2)/6 of a field's Jacobian.
/// Errors: those above; OUT_OF_MEMORY, CANCELLED.
void multiply_kernel_field(const OutputKernel& of, const Rows& kept, const Rows& X,
                           MatrixView<const double> theta, FieldKind kind, Context& context,
                           const ResultView& out);

}  // namespace mercer::feature
