// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With z_1 = sqrt(m) cos theta, theta of density proportional to sin^{m-2} theta,
//   Lambda(u) = int_0^pi sin^{m-2} theta cos(u sqrt(m) cos theta) dtheta / int_0^pi sin^{m-2} theta
//   dtheta = Gamma(m/2) (2/r)^{m/2-1} J_{m/2-1}(r),  r = u sqrt(m).
// For even m the integrand is periodic and entire: midpoints are exact to rounding once they follow
// its oscillations, m - 2 of the sine and r of the cosine (Trefethen, Weideman 2014). Bessel
// functions of libraries differ in the last places.
#include "kernel/radial_waves.h"

#include <cmath>

#include "base/numbers.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {

RadialWave::RadialWave(int64_t m, double largest) {
  if (m == kNormalWaves) return;
  const double dimension = static_cast<double>(m), root = std::sqrt(dimension);
  // A quarter of the circle: both sine and cosine repeat, up to signs that do not matter.
  const auto points = static_cast<int64_t>((dimension + root * largest) / 4) + 24;
  double sum = 0;
  for (int64_t q = 0; q < points; ++q) {
    const double turns = (static_cast<double>(q) + 0.5) / (4 * static_cast<double>(points));
    const random::SinCos at = random::portable_sincos_turns(turns);
    double weight = 1;
    for (int64_t k = 2; k < m; k += 2) weight *= at.sin * at.sin;
    if (weight < 1e-20) continue;
    turns_.push_back(0.5 * kInversePi * root * at.cos);
    weights_.push_back(weight);
    sum += weight;
  }
  for (double& weight : weights_) weight /= sum;
}

double RadialWave::operator()(double u) const noexcept {
  if (turns_.empty()) return random::portable_exp(-0.5 * u * u);
  double sum = 0;
  for (size_t q = 0; q < turns_.size(); ++q)
    sum += weights_[q] * random::portable_sincos_turns(u * turns_[q]).cos;
  return sum;
}

WaveLaw::WaveLaw(const WaveMixture& mixture) : m_(mixture.m), scales_(mixture.scales) {
  double end = 0;
  for (const double weight : mixture.weights) ends_.push_back(end += weight);
}

double WaveLaw::draw_scale(random::Cursor& cursor) const noexcept {
  const double u = random::uniform(cursor.next());
  size_t i = 0;
  while (i + 1 < ends_.size() && u >= ends_[i]) ++i;
  return scales_[i];
}

double WaveLaw::stretch(random::Cursor& cursor, int64_t d, double squares) const noexcept {
  if (m_ == kNormalWaves) return 1;
  const auto others = static_cast<double>(m_ - d);
  const double rest = others > 0 ? random::chi_squared(cursor, others) : 0;
  return std::sqrt(static_cast<double>(m_) / (squares + rest));
}

void WaveLaw::draw(const random::Stream& stream, std::span<double> omega) const noexcept {
  random::Cursor cursor(stream);
  const double scale = draw_scale(cursor);
  double squares = 0;
  for (double& w : omega) {
    w = random::normal(cursor);
    squares += w * w;
  }
  const double factor = scale * stretch(cursor, std::ssize(omega), squares);
  for (double& w : omega) w *= factor;
}

double WaveLaw::radius(const random::Stream& stream, int64_t d) const noexcept {
  random::Cursor cursor(stream);
  const double scale = draw_scale(cursor);
  const double squares = random::chi_squared(cursor, static_cast<double>(d));
  return scale * std::sqrt(squares) * stretch(cursor, d, squares);
}

}  // namespace mercer::kernel
