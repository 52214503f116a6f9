// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sobol' points from direction numbers (Bratley, Fox, "Algorithm 659", ACM TOMS 14, 1988, eq. 2 and
// 3), with the numbers of Joe and Kuo. Point 0, the origin, is kept: scrambled it is uniform, and
// without it the first 2^m points are no net (Owen, "On dropping the first Sobol' point", 2020).
//
// Owen's scrambling flips the bit after the prefix p of b bits by a random bit that belongs to
// (seed, dimension, b, p). The prefixes are the nodes of a binary tree, node number 2^b + p. One
// Philox block has the bits of a subtree of seven levels and its root as position; four subtrees
// make 28 levels. Below them, points with an index under 2^28 have only zeros, each alone in its
// cell, so that all further flips together are one uniform number: that of the block of leaf 2^28 +
// p.
#include "random/points.h"

#include <array>
#include <bit>

#include "base/error.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::random {
namespace {

// The first 1,024 dimensions of Joe and Kuo's table, as published; the initial numbers
// of all dimensions are concatenated. Their count is the sum of the polynomials' degrees.

#include "random/joe_kuo.inc"

constexpr size_t kCount = std::size(kPolynomials);
static_assert(kCount == kSobolDimensions);

constexpr size_t degree(size_t dimension) {
  return static_cast<size_t>(std::bit_width(kPolynomials[dimension])) - 1;
}

/// Start of each dimension's initial numbers.
constexpr std::array<uint16_t, kCount + 1> kBegin = [] {
  std::array<uint16_t, kCount + 1> begin{};
  for (size_t j = 0; j < kCount; ++j) {
    begin[j + 1] = static_cast<uint16_t>(begin[j] + degree(j));
  }
  return begin;
}();
static_assert(kBegin[kCount] == std::size(kInitial));

constexpr int kSubtree = 7;  // levels with 1 + 2 + ... + 64 = 127 flips
constexpr uint64_t kCells = uint64_t{1} << kSobolBits;
static_assert(kSobolBits % kSubtree == 0 && kMostLowDiscrepancyPoints == kCells);

uint64_t flip_of(const Words& words, uint64_t node) noexcept {
  return words[node >> 5] >> (node & 31) & 1;
}

/// Flips of the seven bits of x below `level`, from the block of their subtree.
uint64_t subtree_flips(const Words& words, int level, uint64_t x) noexcept {
  uint64_t flips = 0, node = 1;
  for (int bit = kSobolBits - 1 - level; bit >= kSobolBits - level - kSubtree; --bit) {
    flips |= flip_of(words, node) << bit;
    node = 2 * node + (x >> bit & 1);
  }
  return flips;
}

/// `top` is block 1, the subtree of all points.
double nested(const Stream& stream, const Words& top, uint64_t x) noexcept {
  uint64_t flips = subtree_flips(top, 0, x);
  for (int level = kSubtree; level < kSobolBits; level += kSubtree) {
    const uint64_t root = uint64_t{1} << level | x >> (kSobolBits - level);
    flips |= subtree_flips(stream.block(root), level, x);
  }
  return point_in_cell(x ^ flips, uniform(stream.block(kCells | x)), kCells);
}

}  // namespace

SobolNumbers joe_kuo(int64_t dimension) noexcept {
  const auto j = static_cast<size_t>(dimension);
  return {kPolynomials[j], std::span(kInitial).subspan(kBegin[j], degree(j))};
}

SobolDimension::SobolDimension(int64_t dimension) noexcept {
  const SobolNumbers numbers = joe_kuo(dimension);
  const size_t s = numbers.initial.size();
  for (size_t k = 0; k < directions_.size(); ++k) {
    uint64_t& v = directions_[k];
    if (s == 0 || k < s) {
      v = (s == 0 ? 1 : uint64_t{numbers.initial[k]}) << (kSobolBits - 1 - k);
      continue;
    }
    v = directions_[k - s] ^ directions_[k - s] >> s;
    for (size_t i = 1; i < s; ++i) {
      if (numbers.polynomial >> (s - i) & 1) v ^= directions_[k - i];
    }
  }
}

uint64_t SobolDimension::digits(uint64_t index) const noexcept {
  uint64_t x = 0;
  for (size_t k = 0; index != 0; ++k, index >>= 1) x ^= (0 - (index & 1)) & directions_[k];
  return x;
}

SobolPoints::SobolPoints(int64_t d, uint64_t seed, Scramble scramble)
    : seed_(seed), scramble_(scramble) {
  require(d <= kSobolDimensions, MERCER_UNSUPPORTED,
          "inputs = %ld, expected at most %ld for Sobol' points (tabulated direction numbers)", d,
          kSobolDimensions);
}

void SobolPoints::fill(int64_t dimension, uint64_t first, std::span<double> out) const noexcept {
  const SobolDimension sequence(dimension);
  const Stream stream(seed_, Tag::scramble, static_cast<uint64_t>(dimension));
  if (scramble_ == Scramble::owen) {
    const Words top = stream.block(1);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = nested(stream, top, sequence.digits(first + i));
    }
    return;
  }
  const Words words = stream.block(0);
  const uint64_t word = uint64_t{words[1]} << 32 | words[0];
  const uint64_t shift = word >> (64 - kSobolBits);
  const double rest = second_uniform(words);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = point_in_cell(sequence.digits(first + i) ^ shift, rest, kCells);
  }
}

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
