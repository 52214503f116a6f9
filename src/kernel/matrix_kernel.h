// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of several outputs: curl-free and divergence-free ones and their mixtures, of p = d
// outputs, and k Gamma.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

/// UNSUPPORTED unless the kernel depends on x - y alone and has spectral moments of this order, 2
/// or 4: as many derivatives everywhere.
void require_moments(const Kernel& kernel, int64_t order);

class RadialSlopes;

/// A kernel of a Euclidean norm, k = f(s), s = ||tau||^2 over lengthscales l: v = L tau,
/// L = diag(1/l^2). The kernel is referred to.
class RadialPairs {
 public:
  /// For a kernel that it serves.
  RadialPairs(const Kernel& kernel, int64_t d);
  static bool serves(const Kernel& kernel) noexcept;

  int64_t inputs() const noexcept { return std::ssize(precision_); }
  double precision(int64_t i) const noexcept { return precision_[i]; }
  double trace() const noexcept { return trace_; }
  double v(int64_t i, const double* x, const double* y) const noexcept {
    return (x[i] - y[i]) * precision_[i];
  }
  /// v'v.
  double square(const double* x, const double* y) const noexcept;
  /// f[n] = d^n f/ds^n. False: all from n = 1 on are 0, far out, where v may be infinite.
  bool slopes(const double* x, const double* y, std::span<double> f) const noexcept;

 private:
  const RadialSlopes& kernel_;
  std::vector<double> precision_;  // 1/l^2
  double trace_ = 0;               // its sum
};

/// tau = x - y; amplitude included. The kernel is referred to.
class SpectralMoments {
 public:
  /// Errors: those of require_moments and Kernel::check_dimension. Memory: d^2 derivatives, for
  /// kernels of a Euclidean norm d numbers.
  SpectralMoments(const Kernel& kernel, int64_t d);

  int64_t inputs() const noexcept { return d_; }
  /// S = E omega omega' cos(omega'tau) = -d_i d_j k(tau). O(d^2) for kernels of a Euclidean norm,
  /// else d^2 derivatives.
  void second(const double* x, const double* y, MatrixView<double> S) const noexcept;
  /// S = E ||omega||^2 omega omega' cos(omega'tau) = sum_l d_l^2 d_i d_j k(tau), of a kernel with
  /// moments of order 4. O(d^2) for kernels of a Euclidean norm; else d^3 derivatives, made anew.
  void fourth(const double* x, const double* y, MatrixView<double> S) const;

 private:
  const Kernel& kernel_;
  int64_t d_;
  std::optional<RadialPairs> radial_;
  std::vector<std::unique_ptr<const Differential>> pairs_;  // d_i d_j k, i <= j, row by row
};

/// K(x, y) for rows of a fixed width, as products with vectors.
class PairAction {
 public:
  virtual ~PairAction() = default;
  /// out_k += K(x, y) u_k for k < count vectors of p numbers, one after the other.
  virtual void add(const double* x, const double* y, int64_t count, const double* u,
                   double* out) const noexcept = 0;
};

/// K = curl (-grad grad' k) + divergence (grad grad' - Laplacian) k of a shift-invariant k with
/// second spectral moments: of k = f(s) as of RadialPairs
///   S = -2 f' L - 4 f'' v v' curl-free, tr(S) I - S divergence-free,
/// with gaussian, f' = -k/2 and f'' = k/4. An action costs O(d) then, d^2 derivatives for others.
class FieldKernel final : public MatrixKernel {
 public:
  FieldKernel(Parameters canonical, const FieldParts& parts);
  /// d; at least 2 with a divergence-free part, which is 0 for one input.
  int64_t outputs(int64_t d) const override;
  /// Refers to the kernel. Errors: those of outputs.
  std::unique_ptr<const PairAction> action(int64_t d) const;
  const FieldParts* field_parts() const noexcept override { return &parts_; }
  /// One pair of rows after the other; rows of X in parallel.
  void gram_rows(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> K) const override;
  void multiply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                     MatrixView<const double> U, Context& context,
                     MatrixView<double> out) const override;

 private:
  FieldParts parts_;
};

/// The action by the kernel's second derivatives alone, whatever smooth kernel it is.
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
