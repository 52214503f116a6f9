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
#include "random/sobol.h"

#include <array>
#include <bit>

#include "base/error.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::random {
namespace {

// The first 1,024 dimensions of Joe and Kuo's table, as published; the initial numbers
// of all dimensions are concatenated. Their count is the sum of the polynomials' degrees.

// clang-format off
constexpr uint16_t kPolynomials[] = {
#include "random/joe_kuo_polynomials.inc"
};

constexpr uint16_t kInitial[] = {
#include "random/joe_kuo_initial.inc"
};
// clang-format on

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

}  // namespace mercer::random
