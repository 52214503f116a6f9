// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSRHT of one row, with given signs and indices.
#pragma once

#include <cstdint>

#include "projection/multilinear.h"

namespace mercer::projection {

/// One factor of a TensorSRHT in d dimensions, d a power of two: signs holds D_i, d numbers or, if
/// complex, d real parts and d imaginary parts.
template <class T>
struct SrhtFactor {
  const T* signs;
  int64_t d;
  bool complex;
};

/// u of row i, padded to d numbers; im is written if the rows are complex.
template <class T>
void load_row(const FactorRows<T>& rows, const FactorShape& factor, int64_t i, int64_t d, T* re,
              T* im) noexcept;

/// table = H D_i u: d numbers, complex: d real parts, then d imaginary parts. u_im may be null.
template <class T>
void srht_table(const SrhtFactor<T>& factor, const T* u_re, const T* u_im, T* table) noexcept;

}  // namespace mercer::projection
