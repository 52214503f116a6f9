// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Permutations of single numbers, compiled for the baseline alone: number by number they run at two
// stores a cycle, where the gather instructions of current processors take a cycle and more for
// each lane.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// out[i] = in[index[i]] for i in [0, n), indices in [0, n); out must not overlap in.
void gather(const float* in, const int32_t* index, int64_t n, float* out) noexcept;
void gather(const double* in, const int64_t* index, int64_t n, double* out) noexcept;

}  // namespace mercer::transform
