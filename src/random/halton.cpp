// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Halton points (Halton, Numer. Math. 2, 1960): coordinate k of point j mirrors the digits of j in
// the k-th prime p at the point. Unscrambled, large bases give points on a few lines; here every
// digit is scrambled, so point 0 is as good as any.
//
// owen: the digit after the prefix of b digits becomes (a digit + c) mod p, with a in {1, ..., p-1}
// and c in {0, ..., p-1} that belong to (seed, dimension, b, prefix): a nested scrambling whose
// permutations are random affine maps. Such a map takes two different digits to any two different
// digits with equal probability, as a uniformly random permutation does, and both are uniform:
// every pair of points has the same joint distribution as in Owen's scrambling, and any average
// over points the same variance (Owen 1995; Matousek, "On the L2-discrepancy for anchored boxes",
// J. Complexity 14, 1998), at the cost of one Philox block per digit instead of p. Prefixes are the
// nodes of a p-ary tree; the block of prefix q after b digits is number p^b + q.
// digital_shift: digit b becomes (digit + c_b) mod p.
// Either way, one uniform number follows the digits of every index below 2^28.
#include "random/halton.h"

#include <array>

#include "base/error.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::random {
namespace {

constexpr int kMostDigits = 28;  // in base 2

/// Uniform on {0, ..., n-1}, n <= 2^16, for u uniform: 2^53 values of u are not a multiple of n,
/// which changes a probability 1/n by at most 2^-53.
uint64_t below(double u, uint64_t n) noexcept {
  return static_cast<uint64_t>(static_cast<int64_t>(u * static_cast<double>(n)));
}

/// The number of base-p digits that distinguish all indices, and p to that power: below 2^44.
struct Depth {
  explicit Depth(uint64_t p) noexcept {
    for (; cells < static_cast<uint64_t>(kMostLowDiscrepancyPoints); cells *= p) ++digits;
  }
  int digits = 0;
  uint64_t cells = 1;
};

double nested(const Stream& stream, uint64_t p, const Depth& depth, uint64_t index) noexcept {
  uint64_t result = 0, prefix = 0, power = 1;
  for (int b = 0; b < depth.digits; ++b) {
    const Words words = stream.block(power + prefix);
    const uint64_t digit = index % p;
    const uint64_t a = 1 + below(uniform(words), p - 1), c = below(second_uniform(words), p);
    result = result * p + (a * digit + c) % p;
    index /= p;
    prefix += digit * power;
    power *= p;
  }
  return point_in_cell(result, uniform(stream.block(power + prefix)), depth.cells);
}

struct Shift {
  Shift(const Stream& stream, uint64_t p, const Depth& depth) noexcept {
    for (int b = 0; b < depth.digits; ++b) {
      digits[b] = below(uniform(stream.block(static_cast<uint64_t>(b))), p);
    }
    rest = uniform(stream.block(static_cast<uint64_t>(depth.digits)));
  }
  std::array<uint64_t, kMostDigits> digits;
  double rest;
};

double shifted(const Shift& shift, uint64_t p, const Depth& depth, uint64_t index) noexcept {
  uint64_t result = 0;
  for (int b = 0; b < depth.digits; ++b, index /= p) {
    result = result * p + (index + shift.digits[b]) % p;
  }
  return point_in_cell(result, shift.rest, depth.cells);
}

std::vector<uint32_t> first_primes(int64_t count) {
  std::vector<uint32_t> primes;
  for (uint32_t n = 2; static_cast<int64_t>(primes.size()) < count; ++n) {
    bool prime = true;
    for (size_t i = 0; prime && i < primes.size() && primes[i] * primes[i] <= n; ++i) {
      prime = n % primes[i] != 0;
    }
    if (prime) primes.push_back(n);
  }
  return primes;
}

}  // namespace

HaltonPoints::HaltonPoints(int64_t d, uint64_t seed, Scramble scramble)
    : seed_(seed), scramble_(scramble) {
  require(d <= kHaltonDimensions, MERCER_UNSUPPORTED,
          "inputs = %ld, expected at most %ld for Halton points (primes below 2^16)", d,
          kHaltonDimensions);
  bases_ = first_primes(d);
}

void HaltonPoints::fill(int64_t dimension, uint64_t first, std::span<double> out) const noexcept {
  const uint64_t p = bases_[dimension];
  const Depth depth(p);
  const Stream stream(seed_, Tag::scramble, static_cast<uint64_t>(dimension));
  if (scramble_ == Scramble::owen) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = nested(stream, p, depth, first + i);
    return;
  }
  const Shift shift(stream, p, depth);
  for (size_t i = 0; i < out.size(); ++i) out[i] = shifted(shift, p, depth, first + i);
}

}  // namespace mercer::random
