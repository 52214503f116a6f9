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

/// `given`: its name and what it has beside lengthscale and variance.
inline std::unique_ptr<Kernel> make_scaled(Parameters given, Lengthscale l, double variance) {
  given.set("lengthscale", std::move(l));
  given.set("variance", variance);
  return make_kernel(given);
}
inline std::unique_ptr<Kernel> make_gaussian(Lengthscale l, double variance) {
  return make_scaled({{"kernel", "gaussian"}}, std::move(l), variance);
}
inline std::unique_ptr<Kernel> make_laplacian(Lengthscale l, double variance) {
  return make_scaled({{"kernel", "laplacian"}}, std::move(l), variance);
}
inline std::unique_ptr<Kernel> make_cauchy(Lengthscale l, double variance) {
  return make_scaled({{"kernel", "cauchy"}}, std::move(l), variance);
}
inline std::unique_ptr<Kernel> make_matern(double nu, Lengthscale l, double variance) {
  return make_scaled({{"kernel", "matern"}, {"nu", nu}}, std::move(l), variance);
}
inline std::unique_ptr<Kernel> make_rational_quadratic(double alpha, Lengthscale l,
                                                       double variance) {
  return make_scaled({{"kernel", "rational_quadratic"}, {"alpha", alpha}}, std::move(l), variance);
}
inline std::unique_ptr<Kernel> make_generalized_gaussian_spectrum(int64_t order, Lengthscale l,
                                                                  double variance) {
  return make_scaled({{"kernel", "generalized_gaussian_spectrum"}, {"order", order}}, std::move(l),
                     variance);
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
