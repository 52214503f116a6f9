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

}  // namespace mercer::transform
