// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernels: value, Gram matrix, spectral law (SPEC section 3), parameters for specs. Immutable
// once made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/matrix_view.h"
#include "base/parameters.h"
#include "random/law.h"
#include "transform/row_prologue.h"

namespace mercer::kernel {

class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual std::string_view name() const noexcept = 0;
  /// The canonical spec: "kernel" first, then the table's fields, every default filled in,
  /// "variance" last.
  virtual Parameters parameters() const = 0;

  /// k(x, y), amplitude included; x and y have d entries. A kernel has no dimension of its own, but
  /// d has to pass check_dimension.
  virtual double value(int64_t d, const double* x, const double* y) const noexcept = 0;

  /// Shift-invariant kernels (spectral_law() != nullptr): the kernel at `multiple` times the
  /// difference (after the prologue): k(0) at multiple 0, k(tau) at 1, k(2 tau) at 2. Others: NaN.
  virtual double value_at_multiple(double multiple, int64_t d, const double* x,
                                   const double* y) const noexcept;

  /// Null: no random Fourier features.
  virtual const random::Law* spectral_law() const noexcept { return nullptr; }
  /// What happens to rows before a Fourier map projects them; null: nothing.
  virtual std::shared_ptr<const transform::RowPrologue> prologue() const { return nullptr; }

  /// Empty (no lengthscale), one (isotropic) or d (ARD) positive numbers.
  std::span<const double> lengthscale() const noexcept { return lengthscale_; }
  /// Amplitude sigma^2 = the factor in front of the kernel.
  double variance() const noexcept { return variance_; }

  /// Throws DIMENSION_MISMATCH if an ARD lengthscale has another count than d or the kernel splits
  /// a row into parts that d cannot hold, INVALID_ARGUMENT if d < 1.
  virtual void check_dimension(int64_t d) const;

  /// A copy with another lengthscale (one or several numbers); UNSUPPORTED for kernels that have
  /// none.
  std::unique_ptr<Kernel> with_lengthscale(std::vector<double> lengthscale) const;
  /// A copy with another amplitude.
  std::unique_ptr<Kernel> with_variance(double variance) const;

 protected:
  /// Errors (INVALID_ARGUMENT): a variance or lengthscale outside its domain. An empty lengthscale
  /// means the kernel has none; makers of kernels that have one call checked_lengthscale first.
  Kernel(double variance, std::vector<double> lengthscale);
  double variance_;
  std::vector<double> lengthscale_;
};

/// Lengthscales outside are refused: within, 1/lengthscale neither overflows nor loses digits as a
/// subnormal.
inline constexpr double kLeastLengthscale = 1e-300;
inline constexpr double kMostLengthscale = 1e300;
/// Orders of the generalised Gaussian spectrum: its table of values grows with the order.
inline constexpr int64_t kMostSpectrumOrder = 16;
/// Degrees of the polynomial kernel: no sketch of a higher one says anything.
inline constexpr int64_t kMostDegree = 1024;
/// Inputs of the left part of the bilinear kernel: a row has 2^31 - 1 at most, one of them right.
inline constexpr int64_t kMostLeft = 2147483646;

/// K(i, j) = k(X_i, Y_j), parallel over rows of X; each entry is exactly what value() returns. NaN
/// in a row stays in its row or column of K. Errors: DIMENSION_MISMATCH (columns of X, Y, ARD
/// count, shape of K), CANCELLED (K then unspecified).
void gram(const Kernel& kernel, MatrixView<const double> X, MatrixView<const double> Y,
          Context& context, MatrixView<double> K);

/// What exists: one row per kernel. `fields` excludes "kernel" and includes "variance".
struct KernelEntry {
  const char* name;
  const char* help;  // formula, one line
  std::vector<Field> fields;
  std::unique_ptr<Kernel> (*make)(
      const Parameters& canonical);  // parameters already checked against fields
};
std::span<const KernelEntry> kernel_table();

/// Typed makers, one per kernel, each defined in the file of that name. They check their domains
/// (INVALID_ARGUMENT): every number positive and finite, the lengthscale one number or one per
/// input.
std::unique_ptr<Kernel> make_gaussian(std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_laplacian(std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_cauchy(std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_matern(double nu, std::vector<double> lengthscale, double variance);
std::unique_ptr<Kernel> make_rational_quadratic(double alpha, std::vector<double> lengthscale,
                                                double variance);
std::unique_ptr<Kernel> make_generalized_gaussian_spectrum(int64_t order,
                                                           std::vector<double> lengthscale,
                                                           double variance);
std::unique_ptr<Kernel> make_skewed_chi2(double c, double variance);
/// degree in 1, ..., kMostDegree; gamma > 0; offset >= 0.
std::unique_ptr<Kernel> make_polynomial(int64_t degree, double gamma, double offset,
                                        double variance);
/// Rows [x1 | x2], x1 of `left` entries in 1, ..., kMostLeft.
std::unique_ptr<Kernel> make_bilinear(int64_t left, double variance);

}  // namespace mercer::kernel
