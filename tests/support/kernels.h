// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernels of the table, written short: what tests ask for most. All go through make_kernel.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace mercer::kernel {

using Lengthscale = std::vector<double>;

inline std::unique_ptr<Kernel> make_gaussian(Lengthscale l, double variance) {
  return make_kernel(
      {{"kernel", "gaussian"}, {"lengthscale", std::move(l)}, {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_laplacian(Lengthscale l, double variance) {
  return make_kernel(
      {{"kernel", "laplacian"}, {"lengthscale", std::move(l)}, {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_cauchy(Lengthscale l, double variance) {
  return make_kernel({{"kernel", "cauchy"}, {"lengthscale", std::move(l)}, {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_matern(double nu, Lengthscale l, double variance) {
  return make_kernel(
      {{"kernel", "matern"}, {"nu", nu}, {"lengthscale", std::move(l)}, {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_rational_quadratic(double alpha, Lengthscale l,
                                                       double variance) {
  return make_kernel({{"kernel", "rational_quadratic"},
                      {"alpha", alpha},
                      {"lengthscale", std::move(l)},
                      {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_generalized_gaussian_spectrum(int64_t order, Lengthscale l,
                                                                  double variance) {
  return make_kernel({{"kernel", "generalized_gaussian_spectrum"},
                      {"order", order},
                      {"lengthscale", std::move(l)},
                      {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_skewed_chi2(double c, double variance) {
  return make_kernel({{"kernel", "skewed_chi2"}, {"c", c}, {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_polynomial(int64_t degree, double gamma, double offset,
                                               double variance) {
  return make_kernel({{"kernel", "polynomial"},
                      {"degree", degree},
                      {"gamma", gamma},
                      {"offset", offset},
                      {"variance", variance}});
}
inline std::unique_ptr<Kernel> make_bilinear(int64_t left, double variance) {
  return make_kernel({{"kernel", "bilinear"}, {"left", left}, {"variance", variance}});
}

}  // namespace mercer::kernel
