// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of range-filling samplers, and the few shorthands the tests of this folder share.
#pragma once

#include <vector>

#include "random/distributions.h"

namespace mercer::random {

struct Sampler {
  const char* name;
  void (*fill)(const Stream&, uint64_t, std::span<double>) noexcept;
  int width = 1;           // doubles per variate
  uint64_t per_block = 2;  // variates per block
};

inline constexpr Sampler kSamplers[] = {
    {"uniform", fill_uniform},
    {"normal", fill_normal},
    {"rademacher", fill_rademacher, 1, 128},
    {"cauchy", fill_cauchy},
    {"laplace", fill_laplace},
    {"exponential", fill_exponential},
    {"levy", fill_levy},
    {"sech", fill_sech},
    {"complex_rademacher", fill_complex_rademacher, 2, 64},
    {"complex_normal", fill_complex_normal, 2, 1},
};

inline Stream test_stream(uint64_t index) { return Stream(20250711, Tag::generated, index); }

inline std::vector<double> draw(const Sampler& sampler, const Stream& stream, uint64_t first,
                                size_t count) {
  std::vector<double> out(count * static_cast<size_t>(sampler.width));
  sampler.fill(stream, first, out);
  return out;
}

}  // namespace mercer::random
