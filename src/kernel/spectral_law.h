// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The law of the frequencies omega of a shift-invariant kernel at lengthscale 1 and variance 1:
// k(tau) = E cos(omega' tau) (Bochner). Whoever uses a column divides coordinate j by lengthscale
// j.
#pragma once

#include <cstdint>
#include <span>

#include "random/stream.h"

namespace mercer::kernel {

class SpectralLaw {
 public:
  virtual ~SpectralLaw() = default;

  /// One frequency in dimension omega.size(), from the start of its own stream.
  virtual void draw(const random::Stream& stream, std::span<double> omega) const noexcept = 0;

  /// True if omega's law is invariant under rotations: the direction is uniform and radius() is the
  /// law of its norm.
  virtual bool isotropic() const noexcept = 0;
  /// Norm of omega in dimension d, drawn from the stream; isotropic laws only (else NaN).
  virtual double radius(const random::Stream& stream, int64_t d) const noexcept;

  /// True if the coordinates are independent with common quantile(): what quasi-Monte-Carlo points
  /// go through.
  virtual bool is_product() const noexcept = 0;
  /// Inverse distribution function of one coordinate, u in (0,1); product laws only (else NaN).
  virtual double quantile(double u) const noexcept;
};

}  // namespace mercer::kernel
