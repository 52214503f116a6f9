// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Monomials by their logarithms.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// P(i, j) = scale (-1)^N(i, j) exp(P(i, j) + offset[i step]) over a rows x columns block without
/// gaps, N whole numbers below 2^24; NaN gives NaN. columns is a multiple of kPanelColumns<T>, P
/// and N are 64-byte aligned.
void signed_exp(const float* N, int64_t rows, int64_t columns, const float* offset, int64_t step,
                float scale, float* P) noexcept;
void signed_exp(const double* N, int64_t rows, int64_t columns, const double* offset, int64_t step,
                double scale, double* P) noexcept;

}  // namespace mercer::transform
