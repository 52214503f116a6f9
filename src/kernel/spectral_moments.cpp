// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = E cos(omega'tau) differentiated under the integral (Brault, d'Alche-Buc, "Random Fourier
// features for operator-valued kernels", 2016, section 2; SPEC section 8).
#include "kernel/spectral_moments.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace mercer::kernel {

void to_field(const FieldParts& parts, MatrixView<double> S) noexcept {
  double trace = 0;
  for (int64_t i = 0; i < S.rows; ++i) trace += S(i, i);
  for (int64_t i = 0; i < S.rows; ++i) {
    for (int64_t j = 0; j < S.cols; ++j) S(i, j) *= parts.curl - parts.divergence;
    S(i, i) += parts.divergence * trace;
  }
}

void require_smooth(const Kernel& kernel) {
  require(kernel.has_derivatives(), MERCER_UNSUPPORTED,
          "kernel %s has no derivatives in closed form, which curl-free and divergence-free "
          "kernels are made of: expected gaussian",
          std::string(kernel.name()).c_str());
}

SpectralMoments::SpectralMoments(const Kernel& kernel, int64_t d) : kernel_(kernel), d_(d) {
  require_smooth(kernel);
  kernel.check_dimension(d);
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = i; j < d; ++j) pairs_.push_back(sum_of({{i, 1}}, {{j, 1}}));
}

double SpectralMoments::second(int64_t i, int64_t j, const double* x,
                               const double* y) const noexcept {
  const int64_t a = std::min(i, j), b = std::max(i, j);
  const auto at = static_cast<size_t>(a * d_ - a * (a - 1) / 2 + (b - a));
  return -kernel_.derivative(pairs_[at], d_, x, y);
}

void SpectralMoments::second(const double* x, const double* y,
                             MatrixView<double> S) const noexcept {
  for (int64_t i = 0; i < d_; ++i)
    for (int64_t j = 0; j <= i; ++j) S(i, j) = S(j, i) = second(i, j, x, y);
}

void SpectralMoments::fourth(const double* x, const double* y, MatrixView<double> S) const {
  for (int64_t i = 0; i < d_; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const MultiIndex pair = sum_of({{j, 1}}, {{i, 1}});
      double sum = 0;
      for (int64_t l = 0; l < d_; ++l) sum += kernel_.derivative(sum_of(pair, {{l, 2}}), d_, x, y);
      S(i, j) = S(j, i) = sum;
    }
  }
}

}  // namespace mercer::kernel
