// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/term_product.h"

namespace mercer::projection {
namespace {

// Calls put(slot, value) for every term of a b. Sums of slots are taken mod `period` without
// overflow; periods are even where slots carry a power of i in their lowest bit. Values that depend
// on bits of a slot are looked up: branches would be mispredicted half of the time.
template <bool kComplex, class T, class Put>
void for_each_product(const Terms<T>& a, const Terms<T>& b, uint32_t period, Put put) noexcept {
  for (int64_t q = 0; q < b.count; ++q) {
    const uint32_t turn = kComplex ? b.slots[q] & 1 : 0;
    const uint32_t shift = b.slots[q] - turn, wrap = period - shift;
    const T value[] = {b.values[q], turn != 0 ? -b.values[q] : b.values[q]};  // i * i = -1
    for (int64_t p = 0; p < a.count; ++p) {
      const uint32_t slot = a.slots[p];
      const uint32_t sum = slot - wrap + (period & -static_cast<uint32_t>(slot < wrap));
      put(sum ^ turn, a.values[p] * value[kComplex ? slot & 1 : 0]);
    }
  }
}

template <bool kComplex, class T>
void multiply(const Terms<T>& a, const Terms<T>& b, uint32_t period, Terms<T>& out) noexcept {
  int64_t count = 0;
  for_each_product<kComplex>(a, b, period, [&](uint32_t slot, T value) {
    out.slots[count] = slot;
    out.values[count++] = value;
  });
  out.count = count;
}

}  // namespace

template <class T>
void multiply_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, bool complex,
                    Terms<T>& out) noexcept {
  if (complex) {
    multiply<true>(a, b, static_cast<uint32_t>(2 * m), out);
  } else {
    multiply<false>(a, b, static_cast<uint32_t>(m), out);
  }
}

template <class T>
void add_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, T* re, T* im) noexcept {
  if (im != nullptr) {
    T* const planes[] = {re, im};
    for_each_product<true>(a, b, static_cast<uint32_t>(2 * m),
                           [&](uint32_t slot, T value) { planes[slot & 1][slot >> 1] += value; });
  } else {
    for_each_product<false>(a, b, static_cast<uint32_t>(m),
                            [=](uint32_t slot, T value) { re[slot] += value; });
  }
}

template void multiply_terms(const Terms<float>&, const Terms<float>&, int64_t, bool,
                             Terms<float>&) noexcept;
template void multiply_terms(const Terms<double>&, const Terms<double>&, int64_t, bool,
                             Terms<double>&) noexcept;
template void add_terms(const Terms<float>&, const Terms<float>&, int64_t, float*, float*) noexcept;
template void add_terms(const Terms<double>&, const Terms<double>&, int64_t, double*,
                        double*) noexcept;

}  // namespace mercer::projection
