// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The law of a column omega of a random matrix, what every projection draws from: the spectral law
// of a shift-invariant kernel at lengthscale 1 (k(tau) = E cos(omega' tau), Bochner; those laws
// stand beside their kernels), the standard normal law, random signs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "random/stream.h"

namespace mercer::random {

/// Immutable; all members may be called by several threads at once. A law may have one of two
/// shapes that fast projections build on, both, or neither; and it may be a mixture of products.
class Law {
 public:
  virtual ~Law() = default;

  /// One omega in dimension omega.size(), from the start of its own stream.
  virtual void draw(const Stream& stream, std::span<double> omega) const noexcept = 0;

  /// True if omega = s z, z ~ N(0, I), with s >= 0 of a law that does not know the dimension: the
  /// direction is uniform, radius() has the law of the norm, and the first d coordinates of such a
  /// vector in a padded dimension have the law in dimension d.
  virtual bool isotropic() const noexcept = 0;
  /// Norm of omega in dimension d, from the start of the stream; isotropic laws only (else NaN).
  virtual double radius(const Stream& stream, int64_t d) const noexcept;
  /// The norm that may stand for every drawn one: the square root of the mean square, of isotropic
  /// laws whose norm over it tends to 1 as d grows; NaN for all others.
  virtual double fixed_radius(int64_t d) const noexcept;
  /// Inverse distribution function of that s, u in (0, 1); isotropic laws only (else NaN).
  virtual double scale_quantile(double u) const noexcept;

  /// True if the coordinates are independent, with the distribution function that quantile()
  /// inverts, symmetric about 0.
  virtual bool is_product() const noexcept = 0;
  /// Inverse distribution function of one coordinate, u in (0, 1); product laws only (else NaN).
  virtual double quantile(double u) const noexcept;

  /// True if the coordinates are independent given one more number, m: of isotropic laws that are
  /// no product, s.
  virtual bool is_mixture() const noexcept { return isotropic() && !is_product(); }
  /// m as a function of u, uniform on (0, 1); mixtures only (else NaN).
  virtual double mixing(double u) const noexcept { return scale_quantile(u); }
  /// Coordinate k given m, as a function of another u; mixtures only.
  virtual double quantile_given(double m, int64_t k, double u) const noexcept;
};

/// N(0, I): isotropic and a product.
std::shared_ptr<const Law> normal_law();
/// Independent signs, +1 and -1 with equal probability: a product.
std::shared_ptr<const Law> sign_law();

}  // namespace mercer::random
