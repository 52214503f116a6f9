// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What {"kernel":"custom"}, {"map":"custom"} and "loss_name":"custom" are in every test: half of the
// squared difference, the Gaussian of lengthscale 1.25
// as a callback, and its random Fourier features, sqrt(2/D) cos(w'x/l + b).
#include "kernel/custom.h"

#include <cmath>
#include <memory>
#include <vector>

#include "random/distributions.h"

namespace mercer::test {
namespace {

constexpr double kLengthscale = 1.25;

int32_t gaussian(void*, int64_t n, int64_t m, int64_t d, const double* X, const double* Y,
                 double* K) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      double square = 0;
      for (int64_t k = 0; k < d; ++k) {
        const double apart = (X[i * d + k] - Y[j * d + k]) / kLengthscale;
        square += apart * apart;
      }
      K[i * m + j] = std::exp(-square / 2);
    }
  return 0;
}

int32_t cosines(void*, int64_t n, int64_t d, const double* X, int64_t D, uint64_t seed, double* Z) {
  constexpr double kTurn = 6.283185307179586;
  std::vector<double> w(static_cast<size_t>(d));
  for (int64_t j = 0; j < D; ++j) {
    const auto index = static_cast<uint64_t>(j);
    double phase = 0;
    random::fill_normal({seed, random::Tag::frequency, index}, 0, w);
    random::fill_uniform({seed, random::Tag::phase, index}, 0, {&phase, 1});
    for (int64_t i = 0; i < n; ++i) {
      double angle = kTurn * phase;
      for (int64_t k = 0; k < d; ++k)
        angle += w[static_cast<size_t>(k)] * X[i * d + k] / kLengthscale;
      Z[i * D + j] = std::sqrt(2 / static_cast<double>(D)) * std::cos(angle);
    }
  }
  return 0;
}

/// Half of the squared difference.
int32_t half_square(void*, int64_t n, int64_t p, const double* S, const double* Y, double* value,
                    double* slope, double* curvature) {
  for (int64_t k = 0; k < n * p; ++k) {
    slope[k] = S[k] - Y[k];
    value[k] = slope[k] * slope[k] / 2;
    curvature[k] = 1;
  }
  return 0;
}

mercer_custom_options options() {
  mercer_custom_options made = {};
  made.struct_size = sizeof made;
  made.name = "custom";
  made.gram = gaussian;
  made.features = cosines;
  made.loss = half_square;
  return made;
}

const bool kRegistered =
    (kernel::register_custom(std::make_shared<kernel::Custom>(options())), true);

}  // namespace
}  // namespace mercer::test
