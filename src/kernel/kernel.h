// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernels: value, Gram matrix, spectral law (SPEC section 3), parameters for specs. Immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/matrix_view.h"
#include "base/parameters.h"
#include "kernel/spectral_law.h"

namespace mercer::kernel {

/// Applied to every coordinate before a Fourier map projects it: x -> log(x + shift) for the skewed chi^2, else nothing.
struct InputWarp {
  bool log_shift = false;
  double shift = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual std::string_view name() const noexcept = 0;
  /// The canonical spec: "kernel" first, then the table's fields, every default filled in, "variance" last.
  virtual Parameters parameters() const = 0;

  /// k(x, y), amplitude included; x and y have d entries. A kernel has no dimension of its own, but see check_dimension.
  virtual double value(int64_t d, const double* x, const double* y) const noexcept = 0;

  /// Shift-invariant kernels (spectral_law() != nullptr): the kernel at `multiple` times the difference (after the warp):
  /// k(0) at multiple 0, k(tau) at 1, k(2 tau) at 2. Others: NaN.
  virtual double value_at_multiple(double multiple, int64_t d, const double* x, const double* y) const noexcept;

  /// Null: no random Fourier features.
  virtual const SpectralLaw* spectral_law() const noexcept { return nullptr; }
  virtual InputWarp warp() const noexcept { return {}; }

  /// Empty (no lengthscale), one (isotropic) or d (ARD) positive numbers.
  std::span<const double> lengthscale() const noexcept { return lengthscale_; }
  /// Amplitude sigma^2 = the factor in front of the kernel.
  double variance() const noexcept { return variance_; }

  /// Throws DIMENSION_MISMATCH if an ARD lengthscale has another count than d.
  void check_dimension(int64_t d) const;

  /// A copy with another lengthscale (one or several numbers); UNSUPPORTED for kernels that have none.
  std::unique_ptr<Kernel> with_lengthscale(std::vector<double> lengthscale) const;

 protected:
  Kernel(double variance, std::vector<double> lengthscale);
  double lengthscale_at(int64_t j) const noexcept {
    return lengthscale_.size() == 1 ? lengthscale_[0] : lengthscale_[static_cast<size_t>(j)];
  }
  double variance_;
  std::vector<double> lengthscale_;
};

/// K(i, j) = k(X_i, Y_j), parallel over rows of X.
void gram(const Kernel& kernel, MatrixView<const double> X, MatrixView<const double> Y, Context& context,
          MatrixView<double> K);

/// What exists: one row per kernel. `fields` excludes "kernel" and includes "variance".
struct KernelEntry {
  const char* name;
  const char* help;  // formula, one line
  std::vector<Field> fields;
  std::unique_ptr<Kernel> (*make)(const Parameters& canonical);  // parameters already checked against fields
};
std::span<const KernelEntry> kernel_table();

/// Typed makers, one per kernel, each defined in the file of that name. They check their domains (INVALID_ARGUMENT).
std::unique_ptr<Kernel> make_gaussian(std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_laplacian(std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_cauchy(std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_matern(double nu, std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_rational_quadratic(double alpha, std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_generalized_gaussian_spectrum(int64_t order, std::vector<double> lengthscale,
                                                           double variance);
std::unique_ptr<Kernel> make_skewed_chi2(double c, double variance);

}  // namespace mercer::kernel
