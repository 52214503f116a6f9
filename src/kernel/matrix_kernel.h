// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of several outputs: curl-free and divergence-free ones and their mixtures, of p = d
// outputs, and k Gamma.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"
#include "kernel/entry.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

// Matrix moments of the spectral law of a smooth shift-invariant kernel, as derivatives of the
// kernel: what operator-valued kernels and their variances are made of.

/// A(omega) = curl omega omega' + divergence (||omega||^2 I - omega omega'): (1, 0) is curl-free,
/// (0, 1) divergence-free.
struct FieldParts {
  double curl;
  double divergence;
  FieldParts squared() const noexcept { return {curl * curl, divergence * divergence}; }
};

/// S := (curl - divergence) S + divergence tr(S) I: from S = E omega omega' g(omega) to
/// E A(omega) g(omega).
void to_field(const FieldParts& parts, MatrixView<double> S) noexcept;

/// UNSUPPORTED unless the kernel is the Gaussian, the only one for operator-valued kernels.
void require_smooth(const Kernel& kernel);

/// tau = x - y; amplitude included. The kernel is referred to.
class SpectralMoments {
 public:
  /// Errors: those of require_smooth and Kernel::check_dimension. Memory: d^2 multi-indices.
  SpectralMoments(const Kernel& kernel, int64_t d);

  int64_t inputs() const noexcept { return d_; }
  /// E omega_i omega_j cos(omega'tau) = -d_i d_j k(tau).
  double second(int64_t i, int64_t j, const double* x, const double* y) const noexcept;
  /// O(d^2) for gaussian, else O(d^3).
  void second(const double* x, const double* y, MatrixView<double> S) const noexcept;
  /// S = E ||omega||^2 omega omega' cos(omega'tau) = sum_l d_l^2 d_i d_j k(tau). O(d^2) for
  /// gaussian, else O(d^4).
  void fourth(const double* x, const double* y, MatrixView<double> S) const;

 private:
  void gaussian_fourth(const double* x, const double* y, MatrixView<double> S) const noexcept;
  const Kernel& kernel_;
  int64_t d_;
  double slope(int64_t i, const double* x, const double* y) const noexcept {
    return (x[i] - y[i]) * precision_[i];
  }

  std::vector<MultiIndex> pairs_;  // d_i d_j, i <= j, row by row
  std::vector<double> precision_;  // gaussian: 1/l^2
  double trace_ = 0;               // the sum of precision_
};

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

// Gamma, the p x p matrix of a decomposable kernel k Gamma, and a root of it.

/// The p with p p numbers. INVALID_ARGUMENT if there is none.
int64_t outputs_of(std::span<const double> gamma);

/// Gamma = B B' + what was left out.
struct OutputRoot {
  Matrix<double> B;    // p x rank
  double dropped = 0;  // trace of what was left out, over the trace of Gamma
};

/// B by Cholesky factorisation with pivoting: the first column, and those whose pivots exceed
/// `cutoff` times the largest diagonal entry of Gamma. Errors: INVALID_ARGUMENT for a Gamma that is
/// not symmetric (to 1e-12 of its largest entry), has entries that are not finite, or is 0 or as
/// good as that (halves of its entries underflow to 0);
/// NOT_POSITIVE_DEFINITE for one that is not positive semi-definite.
OutputRoot output_root(MatrixView<const double> gamma, double cutoff);

}  // namespace mercer::kernel
