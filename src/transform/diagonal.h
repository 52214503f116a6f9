// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elementwise products that structured projections need between their transforms.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// x[i] *= diagonal[i].
void multiply(const float* diagonal, int64_t n, float* x) noexcept;
void multiply(const double* diagonal, int64_t n, double* x) noexcept;

}  // namespace mercer::transform
