// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Law: the distribution of a column omega of a random matrix, from which every projection draws:
// the spectral distribution of a shift-invariant kernel at lengthscale 1 (k(tau) = E cos(omega'
// tau), Bochner; defined beside the kernels), the standard normal distribution, or random signs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "random/stream.h"

namespace mercer::random {

/// Immutable; any number of threads may call its members. A law may be isotropic or a product,
/// which fast projections exploit, or both, or neither; it may also be a mixture of products.
class Law {
 public:
  virtual ~Law() = default;

  /// Draws one omega in dimension omega.size(), from the start of its own stream.
  virtual void draw(const Stream& stream, std::span<double> omega) const noexcept = 0;

  /// True if the direction is uniform, radius() draws the norm, and the first d coordinates of such
  /// a vector in a padded dimension have the distribution of dimension d. Most are omega = s z, z ~
  /// N(0, I), where the distribution of s >= 0 does not depend on the dimension.
  virtual bool isotropic() const noexcept = 0;
  /// True if the direction is uniform and there is a radius(), be it in one dimension alone.
  virtual bool has_uniform_direction() const noexcept { return isotropic(); }
  /// Norm of omega in dimension d, from the start of the stream; laws of uniform direction only (else
  /// NaN).
  virtual double radius(const Stream& stream, int64_t d) const noexcept;
  /// A constant that may replace drawn norms: the square root of the mean square, for isotropic
  /// laws whose norm divided by it tends to 1 as d grows; NaN for all others.
  virtual double fixed_radius(int64_t d) const noexcept;
  /// Quantile function of s, u in (0, 1); isotropic laws of that form only (else NaN).
  virtual double scale_quantile(double u) const noexcept;

  /// True if the coordinates are independent and symmetric about 0; quantile() is then their
  /// quantile function.
  virtual bool is_product() const noexcept = 0;
  /// Quantile function of one coordinate, u in (0, 1); product laws only (else NaN).
  virtual double quantile(double u) const noexcept;

  /// True if the coordinates are independent given one more number m: for isotropic laws that are
  /// no product, m = s.
  virtual bool is_mixture() const noexcept { return isotropic() && !is_product(); }
  /// Quantile function of m; mixtures only (else NaN).
  virtual double mixing(double u) const noexcept { return scale_quantile(u); }
  /// Quantile function of coordinate k given m; mixtures only.
  virtual double quantile_given(double m, int64_t k, double u) const noexcept;

  /// The density at omega, the same bits on every machine; NaN where there is none in closed form
  /// that falls as any |omega_k| grows. It sees magnitudes alone.
  virtual double density(std::span<const double> omega) const noexcept;
};

/// N(0, I): isotropic and a product.
std::shared_ptr<const Law> normal_law();
/// Independent signs, +1 and -1 with equal probability: a product.
std::shared_ptr<const Law> sign_law();

}  // namespace mercer::random
