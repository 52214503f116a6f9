// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Distributions with a closed quantile function, each a function of one uniform u: u -> F^-1(u).
#include "base/numbers.h"
#include "random/block_fill.h"
#include "random/distributions.h"
#include "random/elementary.h"

namespace mercer::random {
namespace {

inline double log_of(double u) noexcept { return elementary::log_normal_range(u, 0); }

inline double cauchy_quantile(double u) noexcept { return portable_tan_half_turns(u - 0.5); }

inline double laplace_quantile(double u) noexcept {
  return u < 0.5 ? log_of(2.0 * u) : -log_of(2.0 * (1.0 - u));  // 1 - u is exact
}

/// F(x) = (2 / pi) arctan(exp(pi x)).
inline double sech_quantile(double u) noexcept {
  return kInversePi * log_of(portable_tan_half_turns(0.5 * u));
}

template <class Quantile>
void fill_quantiles(const Stream& stream, uint64_t first, std::span<double> out,
                    Quantile quantile) noexcept {
  fill_pairs(stream, first, out, [quantile](const Words& words) noexcept -> Pair {
    const Pair u = uniform_pair(words);
    return {quantile(u[0]), quantile(u[1])};
  });
}

}  // namespace

void fill_cauchy(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, cauchy_quantile);
}

void fill_laplace(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, laplace_quantile);
}

void fill_exponential(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, [](double u) noexcept { return -log_of(u); });
}

void fill_sech(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_quantiles(stream, first, out, sech_quantile);
}

}  // namespace mercer::random
