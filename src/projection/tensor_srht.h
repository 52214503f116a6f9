// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The arithmetic of a TensorSRHT with its random ingredients given.
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

/// table = H D_i u: d numbers, complex: d real parts, then d imaginary parts. u_im may be null.
template <class T>
void srht_table(const SrhtFactor<T>& factor, const T* u_re, const T* u_im, T* table) noexcept;

}  // namespace mercer::projection
