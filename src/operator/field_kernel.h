// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Curl-free and divergence-free kernels and their mixtures, of p = d outputs.
#pragma once

#include "kernel/spectral_moments.h"
#include "operator/operator_kernel.h"

namespace mercer::operators {

/// K = curl (-grad grad' k) + divergence (grad grad' - Laplacian) k of a smooth shift-invariant k:
/// with gaussian of lengthscales l, L = diag(1/l^2), v = L tau,
///   curl-free k (L - v v'), divergence-free k ((tr L - ||v||^2) I - L + v v').
/// An action costs O(d) for gaussian, O(d^3) for others.
class FieldKernel final : public OperatorKernel {
 public:
  FieldKernel(Parameters canonical, const kernel::FieldParts& parts);
  /// d; 2 at least where there is a divergence-free part, which is 0 for one input.
  int64_t outputs(int64_t d) const override;
  std::unique_ptr<const PairAction> action(int64_t d) const override;
  const kernel::FieldParts& parts() const noexcept { return parts_; }

 private:
  kernel::FieldParts parts_;
};

/// The action by the kernel's second derivatives alone, whatever smooth kernel it is: O(d^3),
/// d^2 derivatives of O(d).
std::unique_ptr<const PairAction> smooth_action(const kernel::Kernel& kernel,
                                                const kernel::FieldParts& parts, int64_t d);

}  // namespace mercer::operators
