// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Circular convolution of vectors that are mostly zeros, each a list of terms: products of
// polynomials mod x^m - 1, at the cost of their terms.
#pragma once

#include <cstdint>

namespace mercer::projection {

/// A real term is value * x^slot, slot < m; a complex one value * i^(slot mod 2) * x^(slot / 2),
/// slot < 2m. Slots may repeat.
template <class T>
struct Terms {
  uint32_t* slots;
  T* values;
  int64_t count = 0;
};

/// out = a b; the a.count * b.count terms do not overlap the factors.
template <class T>
void multiply_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, bool complex,
                    Terms<T>& out) noexcept;

/// Adds the coefficients of a b to re and im, m each (real terms: im is null).
template <class T>
void add_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, T* re, T* im) noexcept;

}  // namespace mercer::projection
