// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of |u|^{2s} of complex u = omega'x, real x. Since |u|^{2s} = u^s conj(u)^s,
//   d^p |u|^{2s} = sum_{a + b = n} s!/(s - a)! s!/(s - b)! u^{s - a} conj(u)^{s - b} conj(c_b),
//   sum_b c_b t^b = prod_k (omega_k t + conj(omega_k))^{p_k}, n = |p|,
// and c_a = conj(c_b): pairs of a < b are twice a real part, functions of the row times those of
// the column.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/multi_index.h"

namespace mercer::feature {

/// Two real terms, or one where turns is 0: Re u^turns Re c_b and Im u^turns Im c_b, times
/// factor |u|^{2 power}.
struct ModulusTerm {
  int64_t b;
  int64_t power;
  int64_t turns;
  double factor;
};

/// The number of real terms of a derivative of order n; none beyond 2 s.
inline int64_t modulus_reals(int64_t n, int64_t s) noexcept {
  return std::max<int64_t>(n <= s ? n + 1 : 2 * s - n + 1, 0);
}

inline std::vector<ModulusTerm> modulus_terms(int64_t n, int64_t s) {
  const auto falling = [s](int64_t count) {
    double product = 1;
    for (int64_t i = 0; i < count; ++i) product *= static_cast<double>(s - i);
    return product;
  };
  std::vector<ModulusTerm> terms;
  for (int64_t b = (n + 1) / 2; b <= std::min(n, s); ++b) {
    const double factor = falling(n - b) * falling(b);
    terms.push_back({b, s - b, 2 * b - n, 2 * b == n ? factor : 2 * factor});
  }
  return terms;
}

/// c_0, ..., c_n of one column; omega(k) is its entry for input k.
template <class Omega>
void modulus_coefficients(const kernel::MultiIndex& p, const Omega& omega,
                          std::span<std::complex<double>> c) {
  std::ranges::fill(c, 0);
  c[0] = 1;
  size_t degree = 0;
  for (const kernel::PartialFactor& one : p) {
    const std::complex<double> w = omega(one.input);
    for (int64_t i = 0; i < one.order; ++i) {
      for (size_t b = ++degree; b > 0; --b) c[b] = c[b] * std::conj(w) + c[b - 1] * w;
      c[0] *= std::conj(w);
    }
  }
}

}  // namespace mercer::feature
