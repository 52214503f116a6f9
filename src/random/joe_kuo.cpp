// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The first 1,024 dimensions of Joe and Kuo's table (joe_kuo.h), as published; the initial numbers
// of all dimensions are concatenated. Their count is the sum of the polynomials' degrees.
#include "random/joe_kuo.h"

#include <array>
#include <bit>

namespace mercer::random {
namespace {

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

}  // namespace

SobolNumbers joe_kuo(int64_t dimension) noexcept {
  const auto j = static_cast<size_t>(dimension);
  return {kPolynomials[j], std::span(kInitial).subspan(kBegin[j], degree(j))};
}

}  // namespace mercer::random
