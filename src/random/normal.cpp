// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Normal variates: Box, Muller, "A note on the generation of random normal deviates" (1958): a
// block's two uniforms u, v make sqrt(-2 ln u) (cos 2 pi v, sin 2 pi v). Two per block without
// rejection, so that variate i is a function of i alone; the faster rejection methods cannot offer
// that. The smallest u, 2^-54, bounds |z| by 8.66.
#include <cmath>

#include "random/block_fill.h"
#include "random/distributions.h"
#include "random/elementary.h"

namespace mercer::random {
namespace {

inline Pair normal_pair(const Words& words) noexcept {
  const Pair u = uniform_pair(words);
  const double radius = std::sqrt(-2.0 * elementary::log_normal_range(u[0], 0));
  const SinCos angle = elementary::sincos_within_turn(u[1]);
  return {radius * angle.cos, radius * angle.sin};
}

/// z = 0 has probability 2^-53 (the sine or cosine of a whole quarter turn); the next smallest |z|
/// is above 1e-24.
inline double levy_of(double z) noexcept { return 1.0 / std::max(z * z, 0x1p-200); }

}  // namespace

void fill_normal(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, first, out, normal_pair);
}

void fill_complex_normal(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, 2 * first, out, [](const Words& words) noexcept -> Pair {
    constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
    const Pair z = normal_pair(words);
    return {kSqrtHalf * z[0], kSqrtHalf * z[1]};
  });
}

void fill_levy(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, first, out, [](const Words& words) noexcept -> Pair {
    const Pair z = normal_pair(words);
    return {levy_of(z[0]), levy_of(z[1])};
  });
}

double normal(Cursor& cursor) noexcept { return normal_pair(cursor.next())[0]; }

void direction(Cursor& cursor, std::span<double> out) noexcept {
  double square = 0.0;
  while (square == 0.0) {  // all zero: only for out.size() = 1, with probability 2^-53
    fill_normal(cursor.stream(), 2 * cursor.position(), out);
    cursor.skip((out.size() + 1) / 2);
    if (out.empty()) return;
    for (const double z : out) square += z * z;
  }
  const double norm = std::sqrt(square);
  for (double& z : out) z /= norm;
}

}  // namespace mercer::random
