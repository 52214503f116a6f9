// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products over the factors of a polynomial sketch, column by column. Complex numbers are two
// planes, real and imaginary parts. The bits of an element depend on its own operands and the
// target alone.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// acc *= P + bias over a rows x columns block without gaps; bias holds one number per column.
/// columns is a multiple of kPanelColumns<T>, everything 64-byte aligned.
void multiply_block(const float* P, const float* bias, int64_t rows, int64_t columns,
                    float* acc) noexcept;
void multiply_block(const double* P, const double* bias, int64_t rows, int64_t columns,
                    double* acc) noexcept;
/// For complex numbers.
void multiply_block(const float* P_re, const float* P_im, const float* bias_re,
                    const float* bias_im, int64_t rows, int64_t columns, float* re,
                    float* im) noexcept;
void multiply_block(const double* P_re, const double* P_im, const double* bias_re,
                    const double* bias_im, int64_t rows, int64_t columns, double* re,
                    double* im) noexcept;

/// acc[j] *= table[index[j]], j in [0, n); acc must not overlap table.
void multiply_gathered(const float* table, const int32_t* index, int64_t n, float* acc) noexcept;
void multiply_gathered(const double* table, const int32_t* index, int64_t n, double* acc) noexcept;
/// For complex numbers.
void multiply_gathered(const float* table_re, const float* table_im, const int32_t* index,
                       int64_t n, float* re, float* im) noexcept;
void multiply_gathered(const double* table_re, const double* table_im, const int32_t* index,
                       int64_t n, double* re, double* im) noexcept;

/// acc[j] = scale table[index[j]], for the first factor.
void scale_gathered(const float* table, const int32_t* index, float scale, int64_t n,
                    float* acc) noexcept;
void scale_gathered(const double* table, const int32_t* index, double scale, int64_t n,
                    double* acc) noexcept;

/// to[2j] = re[j], to[2j + 1] = im[j].
void interleave(const float* re, const float* im, int64_t n, float* to) noexcept;
void interleave(const double* re, const double* im, int64_t n, double* to) noexcept;

}  // namespace mercer::transform
