// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Curl-free and divergence-free kernels and their mixtures, of p = d outputs.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernel/entry.h"
#include "kernel/matrix_kernel.h"
#include "kernel/spectral_moments.h"

namespace mercer::kernel {

/// K(x, y) for rows of a fixed width, as products with vectors.
class PairAction {
 public:
  virtual ~PairAction() = default;
  /// out_k += K(x, y) u_k for k < count vectors of p numbers, one after the other.
  virtual void add(const double* x, const double* y, int64_t count, const double* u,
                   double* out) const noexcept = 0;
};

/// K = curl (-grad grad' k) + divergence (grad grad' - Laplacian) k of a smooth shift-invariant k:
/// with gaussian of lengthscales l, L = diag(1/l^2), v = L tau,
///   curl-free k (L - v v'), divergence-free k ((tr L - ||v||^2) I - L + v v').
/// An action costs O(d) for gaussian, O(d^3) for others.
class FieldKernel final : public MatrixKernel {
 public:
  FieldKernel(Parameters canonical, const FieldParts& parts);
  /// d; at least 2 with a divergence-free part, which is 0 for one input.
  int64_t outputs(int64_t d) const override;
  /// Refers to the kernel. Errors: those of outputs.
  std::unique_ptr<const PairAction> action(int64_t d) const;
  const FieldParts* field_parts() const noexcept override { return &parts_; }
  /// Pair by pair, row of X by row of X.
  void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> K) const override;
  void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                     MatrixView<const double> U, Context& context,
                     MatrixView<double> out) const override;

 private:
  FieldParts parts_;
};

/// The action by the kernel's second derivatives alone, whatever smooth kernel it is: O(d^3),
/// d^2 derivatives of O(d).
std::unique_ptr<const PairAction> smooth_action(const Kernel& kernel, const FieldParts& parts,
                                                int64_t d);

/// The entry of a field kernel: kParts(canonical) are its FieldParts, `own` its fields beside
/// "scalar".
template <auto kParts>
KernelEntry field_entry(const char* name, const char* help, std::vector<Field> own = {}) {
  own.insert(own.begin(), scalar_field());
  return {.name = name,
          .help = help,
          .fields = std::move(own),
          .make = [](const Parameters& canonical) -> std::unique_ptr<Kernel> {
            return std::make_unique<FieldKernel>(canonical, kParts(canonical));
          },
          .default_map = "fourier",
          .outputs = OutputCount::inputs};
}

}  // namespace mercer::kernel
