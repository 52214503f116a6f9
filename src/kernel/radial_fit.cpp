// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The fit of Pennington, Yu, Kumar ("Spherical random features for polynomial kernels", NIPS 2015)
// minimises the same error over densities that are sums of some ten Gaussians, by a search over
// their widths and factors, a problem with local minima. Over all distributions of the norm it is
// convex: non-negative least squares with the weights of many norms as unknowns. The best
// distribution has few norms, and no density does better.
#include "kernel/radial_fit.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "linalg/non_negative.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kDistances = 129;  // odd, for Simpson's rule
constexpr int64_t kScales = 100;
constexpr double kLeastGradient = 1e-14;

double distance_at(int64_t j) noexcept {
  return kMostDistance * static_cast<double>(j) / static_cast<double>(kDistances - 1);
}

double simpson_weight(int64_t j) noexcept {
  const double step = kMostDistance / static_cast<double>(kDistances - 1);
  if (j == 0 || j == kDistances - 1) return step / 3;
  return (j % 2 == 1 ? 4 : 2) * step / 3;
}

std::vector<double> target(int64_t degree, double a) {
  std::vector<double> k(kDistances, 1.0);
  for (int64_t j = 0; j < kDistances; ++j) {
    const double t = distance_at(j) / a, base = 1 - t * t;
    for (int64_t n = 0; n < degree; ++n) k[j] *= base;
  }
  return k;
}

// Near t = 0, k is exp(-degree t^2/a^2), of the one scale sqrt(2 degree)/a; beyond twice that no
// fit had weight that mattered.
double scale_at(int64_t i, int64_t degree, double a) noexcept {
  return 2 * std::sqrt(2 * static_cast<double>(degree)) / a * static_cast<double>(i) /
         static_cast<double>(kScales - 1);
}

// The least ||sum_i w_i (Lambda_i - k)||^2 with sum_i w_i = 1, w >= 0: that of the least
// ||sum_i w_i (Lambda_i - k)||^2 + (1 - sum_i w_i)^2, divided by its sum. For w = c v of sum c the
// latter is at best ||v||^2/(1 + ||v||^2), which grows with ||v||.
std::vector<double> weights_of(MatrixView<const double> waves, std::span<const double> k) {
  const Matrix<double> G(kScales, kScales);
  const std::vector<double> b(kScales, 1.0);
  G.fill(1);
  for (int64_t j = 0; j < kDistances; ++j) {
    const double* const wave = waves.row(j);
    for (int64_t i = 0; i < kScales; ++i) {
      const double weighted = simpson_weight(j) * (wave[i] - k[j]);
      for (int64_t l = 0; l < kScales; ++l) G(i, l) += weighted * (wave[l] - k[j]);
    }
  }
  return linalg::non_negative_least_squares(G.view(), b, kLeastGradient);
}

}  // namespace

RadialFit fit_sphere_polynomial(int64_t degree, double a, int64_t m) {
  const RadialWave wave(m, kMostDistance * scale_at(kScales - 1, degree, a));
  const Matrix<double> waves(kDistances, kScales);
  for (int64_t j = 0; j < kDistances; ++j)
    for (int64_t i = 0; i < kScales; ++i)
      waves(j, i) = wave(scale_at(i, degree, a) * distance_at(j));
  const std::vector<double> k = target(degree, a), weights = weights_of(waves.view(), k);
  double sum = 0;
  for (const double weight : weights) sum += weight;
  RadialFit fit{{m, {}, {}}, 0, 0};
  for (int64_t i = 0; i < kScales; ++i) {
    if (weights[i] == 0) continue;
    fit.mixture.scales.push_back(scale_at(i, degree, a));
    fit.mixture.weights.push_back(weights[i] / sum);
  }
  double squares = 0;
  for (int64_t j = 0; j < kDistances; ++j) {
    double error = -k[j];
    for (int64_t i = 0; i < kScales; ++i) error += weights[i] / sum * waves(j, i);
    fit.largest_error = std::max(fit.largest_error, std::fabs(error));
    squares += simpson_weight(j) * error * error;
  }
  fit.rms_error = std::sqrt(squares / kMostDistance);
  return fit;
}

}  // namespace mercer::kernel
