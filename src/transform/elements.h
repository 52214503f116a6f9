// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elementwise products of real or complex numbers, real and imaginary parts in separate arrays. The
// bits of an element depend on its own operands and the target alone.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// im is null for real numbers.
template <class T>
struct Elements {
  T* re;
  T* im;
};

/// Operands of n elements, all real or all complex.
template <class T>
struct ElementCall {
  Elements<T> to;
  int64_t n;
  Elements<const T> a;
  Elements<const T> b = {};
  Elements<const T> c = {};
  T scale = 1;
};

/// to = scale a.
void scale_elements(const ElementCall<float>& call) noexcept;
void scale_elements(const ElementCall<double>& call) noexcept;
/// to *= a.
void multiply_elements(const ElementCall<float>& call) noexcept;
void multiply_elements(const ElementCall<double>& call) noexcept;
/// to += a b.
void add_products(const ElementCall<float>& call) noexcept;
void add_products(const ElementCall<double>& call) noexcept;
/// to = to c + a b.
void multiply_and_add(const ElementCall<float>& call) noexcept;
void multiply_and_add(const ElementCall<double>& call) noexcept;
/// to = conj(a) b; `to` may be b.
void conjugate_products(const ElementCall<float>& call) noexcept;
void conjugate_products(const ElementCall<double>& call) noexcept;

// Elementwise products that structured projections need between their transforms.

/// x[i] *= diagonal[i].
void multiply(const float* diagonal, int64_t n, float* x) noexcept;
void multiply(const double* diagonal, int64_t n, double* x) noexcept;

// Products over the factors of a polynomial sketch, column by column. Complex numbers are two
// planes, real and imaginary parts. The bits of an element depend on its own operands and the
// target alone.

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

// Sums over inputs of the differences of one row from many. The bits of a sum depend on its two rows
// and the target alone, not on which of them is x.

/// The many rows are the columns of Y: input k of row j is Y[k * step + j], j < n.
struct DifferenceCall {
  const double* x;
  const double* scale;  // of the d inputs
  int64_t d;
  const double* Y;
  int64_t step;
  int64_t n;
  double* sums;
};

/// sums[j] += sum_k ((x_k - y_jk) scale_k)^2.
void add_squared_differences(const DifferenceCall& call) noexcept;
/// sums[j] += sum_k |(x_k - y_jk) scale_k|.
void add_absolute_differences(const DifferenceCall& call) noexcept;

}  // namespace mercer::transform
