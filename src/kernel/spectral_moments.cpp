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
  require(kernel.is_gaussian(), MERCER_UNSUPPORTED,
          "curl-free and divergence-free kernels of kernel %s, whose derivatives they are made of: "
          "expected gaussian, the only one that they are implemented for",
          std::string(kernel.name()).c_str());
}

SpectralMoments::SpectralMoments(const Kernel& kernel, int64_t d) : kernel_(kernel), d_(d) {
  require_smooth(kernel);
  kernel.check_dimension(d);
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = i; j < d; ++j) pairs_.push_back(sum_of({{i, 1}}, {{j, 1}}));
  const auto lengthscale = kernel.lengthscale();
  for (int64_t i = 0; kernel.is_gaussian() && i < d; ++i) {
    const double l = lengthscale[lengthscale.size() == 1 ? 0 : static_cast<size_t>(i)];
    precision_.push_back(1 / l / l);
    trace_ += precision_.back();
  }
}

double SpectralMoments::second(int64_t i, int64_t j, const double* x,
                               const double* y) const noexcept {
  const int64_t a = std::min(i, j), b = std::max(i, j);
  const auto at = static_cast<size_t>(a * d_ - a * (a - 1) / 2 + (b - a));
  return -kernel_.derivative(pairs_[at], d_, x, y);
}

void SpectralMoments::second(const double* x, const double* y,
                             MatrixView<double> S) const noexcept {
  if (!precision_.empty()) {
    const double k = kernel_.value(d_, x, y);
    for (int64_t i = 0; i < d_; ++i) {
      for (int64_t j = 0; j < i; ++j)
        S(i, j) = S(j, i) = k == 0 ? 0 : -k * slope(i, x, y) * slope(j, x, y);
      S(i, i) = k == 0 ? 0 : k * (precision_[i] - slope(i, x, y) * slope(i, x, y));
    }
    return;
  }
  for (int64_t i = 0; i < d_; ++i)
    for (int64_t j = 0; j <= i; ++j) S(i, j) = S(j, i) = second(i, j, x, y);
}

// With L = diag(1/l^2), v = L tau, the Hermite polynomial of fourth order of v, two indices
// contracted (SPEC section 8):
//   k ((|v|^2 - tr L) (v v' - L) - 2 L v v' - 2 v v' L + 2 L^2).
void SpectralMoments::gaussian_fourth(const double* x, const double* y,
                                      MatrixView<double> S) const noexcept {
  const double k = kernel_.value(d_, x, y);
  double square = -trace_;
  for (int64_t i = 0; i < d_; ++i) square += slope(i, x, y) * slope(i, x, y);
  for (int64_t i = 0; i < d_; ++i) {
    const double vi = slope(i, x, y), Li = precision_[i];
    for (int64_t j = 0; j <= i; ++j) {
      const double vj = slope(j, x, y), Lj = precision_[j];
      const double same = i == j ? (2 * Li - square) * Li : 0.0;
      S(i, j) = S(j, i) = k == 0 ? 0 : k * ((square - 2 * (Li + Lj)) * vi * vj + same);
    }
  }
}

void SpectralMoments::fourth(const double* x, const double* y, MatrixView<double> S) const {
  if (!precision_.empty()) return gaussian_fourth(x, y, S);
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
