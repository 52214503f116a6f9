// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of several outputs, and their Gram matrices.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned.h"
#include "kernel/kernel.h"

namespace mercer::test {

inline Value gaussian_of(const std::vector<double>& lengthscale, double variance = 1) {
  return std::make_shared<const Parameters>(
      Parameters{{"kernel", "gaussian"}, {"lengthscale", lengthscale}, {"variance", variance}});
}

/// Scalar kernels of three inputs with spectral moments of order 2, the first ones not of order 4.
inline std::vector<Parameters> smooth_kernels() {
  const std::vector<double> l{0.7, 1.1, 0.9};
  const auto part = [](const Parameters& given) {
    return std::make_shared<const Parameters>(given);
  };
  const auto gaussian = part({{"kernel", "gaussian"}, {"lengthscale", 0.9}});
  std::vector<Parameters> all;
  for (const double nu : {1.001, 1.2, 1.5, 2.0, 2.3, 2.5, 3.0, 3.4, 6.0})
    all.push_back({{"kernel", "matern"}, {"nu", nu}, {"lengthscale", l}, {"variance", 1.7}});
  all.push_back({{"kernel", "rational_quadratic"}, {"alpha", 8.0}, {"lengthscale", l}});
  all.push_back({{"kernel", "cauchy"}, {"lengthscale", l}, {"variance", 1.7}});
  all.push_back(
      {{"kernel", "generalized_gaussian_spectrum"}, {"order", int64_t{2}}, {"lengthscale", l}});
  all.push_back({{"kernel", "spectral_mixture"},
                 {"weights", std::vector<double>{0.7, 1.2}},
                 {"means", std::vector<double>{0.4, -1}},
                 {"variances", std::vector<double>{1.5, 0.4}},
                 {"variance", 0.8}});
  all.push_back({{"kernel", "sum"},
                 {"parts", ObjectList{gaussian, part({{"kernel", "matern"}, {"nu", 9.0}})}}});
  all.push_back({{"kernel", "product"},
                 {"parts", ObjectList{gaussian, part({{"kernel", "cauchy"}})}},
                 {"variance", 1.3}});
  return all;
}

/// (d/dh)^2 f(h u) at 0, by differences of order 8.
template <class Function>
double second_difference(const Function& f, double h) {
  constexpr double kWeights[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  double sum = kWeights[0] * f(0);
  for (int m = 1; m <= 4; ++m) sum += kWeights[m] * (f(m * h) + f(-m * h));
  return sum / (h * h);
}

inline Matrix<double> gram_of(const kernel::Kernel& kernel, const Matrix<double>& X,
                              const Matrix<double>& Y) {
  const int64_t p = kernel.outputs(X.cols());
  Matrix<double> K(p * X.rows(), p * Y.rows());
  Context context;
  kernel::gram(kernel, X.view(), Y.view(), context, K.view());
  return K;
}

}  // namespace mercer::test
