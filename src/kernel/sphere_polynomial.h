// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frequencies of uniform direction and of finitely many norms: omega = s z with z uniform on the
// sphere of radius sqrt(m) in R^m, or normal, and s one of some numbers. Their characteristic
// function at distance t is sum_i w_i Lambda(s_i t), Lambda(u) = E cos(u z_1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "random/distributions.h"

namespace mercer::kernel {

/// A dimension that stands for infinity: z is normal, Lambda(u) = exp(-u^2/2).
inline constexpr int64_t kNormalWaves = 0;

/// Lambda in an even dimension m >= 2 or kNormalWaves, by deterministic arithmetic (+ - x / sqrt and
/// random/scalar_math.h), to rounding for |u| <= largest.
class RadialWave {
 public:
  RadialWave(int64_t m, double largest);
  double operator()(double u) const noexcept;

 private:
  std::vector<double> turns_, weights_;  // of cosines; none: normal
};

struct WaveMixture {
  int64_t m;
  std::vector<double> scales;
  std::vector<double> weights;  // of sum 1
};

/// The law in every dimension up to m; it is isotropic. A draw in d < m coordinates is the first d
/// coordinates of a draw in m.
class WaveLaw final : public random::Law {
 public:
  explicit WaveLaw(const WaveMixture& mixture);
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override;
  bool isotropic() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override;
  bool is_product() const noexcept override { return false; }
  bool is_mixture() const noexcept override { return false; }

 private:
  double draw_scale(random::Cursor& cursor) const noexcept;
  /// The norm of all of z over that of its first d coordinates, of which `squares` is the square.
  double stretch(random::Cursor& cursor, int64_t d, double squares) const noexcept;

  int64_t m_;
  std::vector<double> scales_, ends_;  // ends of the scales' parts of the unit interval
};

// Radial distributions of frequencies fitted to a function of the distance.

/// Distances between points of the unit sphere.
inline constexpr double kMostDistance = 2;

struct RadialFit {
  WaveMixture mixture;
  double largest_error;  // over distances in [0, 2]
  double rms_error;
};

/// The mixture in dimension m, or kNormalWaves, that is closest to k(t) = (1 - t^2/a^2)^degree in the
/// mean square over t in [0, 2] among those of scales on a grid. The same bits on every machine;
/// some milliseconds.
RadialFit fit_sphere_polynomial(int64_t degree, double a, int64_t m);

}  // namespace mercer::kernel
