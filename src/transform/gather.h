// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Permutations of single numbers, compiled for the baseline only: number by number they reach two
// stores a cycle, while gather instructions of current processors need at least a cycle per lane.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// out[i] = in[index[i]] for i in [0, n), indices in [0, n); out must not overlap in.
void gather(const float* in, const int32_t* index, int64_t n, float* out) noexcept;
void gather(const double* in, const int64_t* index, int64_t n, double* out) noexcept;

}  // namespace mercer::transform
