// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elementwise products that structured projections need between their transforms.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// x[i] *= diagonal[i].
void multiply(const float* diagonal, int64_t n, float* x) noexcept;
void multiply(const double* diagonal, int64_t n, double* x) noexcept;

/// out[i] = diagonal[i] in[index[i]], indices in [0, n); out must not overlap in.
void gather_multiply(const float* in, const int32_t* index, const float* diagonal, int64_t n,
                     float* out) noexcept;
void gather_multiply(const double* in, const int64_t* index, const double* diagonal, int64_t n,
                     double* out) noexcept;

}  // namespace mercer::transform
