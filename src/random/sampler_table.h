// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The samplers that fill ranges, and the hashes of what they and others draw: bytes that every saved
// seed rests on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "random/distributions.h"

namespace mercer::random {

// A number for the bytes of doubles: what known answers compare.

/// FNV-1a over the bytes, little end first.
inline uint64_t fnv1a(std::span<const double> values) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const double value : values) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

struct Sampler {
  const char* name;
  void (*fill)(const Stream&, uint64_t, std::span<double>) noexcept;
  uint64_t answer;         // hash of variates 3 to 1002 of answer_stream(5)
  int width = 1;           // doubles per variate
  uint64_t per_block = 2;  // variates per block
};

inline constexpr Sampler kSamplers[] = {
    {"uniform", fill_uniform, 0x30788ff5bb9fa459},
    {"normal", fill_normal, 0x7f093507b285044b},
    {"rademacher", fill_rademacher, 0x43314eb7858a0225, 1, 128},
    {"cauchy", fill_cauchy, 0x771be2adaa0085ba},
    {"laplace", fill_laplace, 0x2981f56f15dd1dbb},
    {"exponential", fill_exponential, 0x805504c09c1b1f64},
    {"levy", fill_levy, 0xf0edb04cb5c670f3},
    {"sech", fill_sech, 0xac7cd47f13e23f37},
    {"complex_rademacher", fill_complex_rademacher, 0x1d868d605d6a8665, 2, 64},
    {"complex_normal", fill_complex_normal, 0x2886265698aec930, 2, 1},
};

/// A sampler that rejects, so that its variates have no positions.
struct CursorSampler {
  const char* name;
  void (*draw)(Cursor&, std::span<double>);
  uint64_t answer;  // hash of 200 numbers from answer_stream(6)
};

inline constexpr CursorSampler kCursorSamplers[] = {
    {"gamma",
     [](Cursor& cursor, std::span<double> out) {
       for (size_t i = 0; i < out.size(); ++i) out[i] = gamma(cursor, 0.1 + static_cast<double>(i));
     },
     0x038afcfa48863aeb},
    {"direction", [](Cursor& cursor, std::span<double> out) { direction(cursor, out); },
     0x7b1c4f2304796f6a},
    {"permutation",
     [](Cursor& cursor, std::span<double> out) {
       std::vector<int64_t> order(out.size());
       permutation(cursor, order);
       std::ranges::copy(order, out.begin());
     },
     0xf42c53eb9d96c69c},
};

inline Stream answer_stream(uint64_t index) { return Stream(20250711, Tag::generated, index); }

inline std::vector<double> draw(const Sampler& sampler, const Stream& stream, uint64_t first,
                                size_t count) {
  std::vector<double> out(count * static_cast<size_t>(sampler.width));
  sampler.fill(stream, first, out);
  return out;
}

/// What is compared with `answer`.
inline uint64_t found_answer(const Sampler& sampler) {
  return fnv1a(draw(sampler, answer_stream(5), 3, 1000));
}
inline uint64_t found_answer(const CursorSampler& sampler) {
  Cursor cursor(answer_stream(6));
  std::vector<double> out(200);
  sampler.draw(cursor, out);
  return fnv1a(out);
}

}  // namespace mercer::random
