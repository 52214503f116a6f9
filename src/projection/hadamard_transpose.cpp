// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/hadamard_transpose.h"

#include <algorithm>

#include "transform/diagonal.h"
#include "transform/fwht.h"

namespace mercer::projection {

template <class T>
void sorf_blocks_transpose(const T* p, const T* signs, const T* scale, int64_t n, int64_t blocks,
                           T* out) noexcept {
  const int64_t size = n * blocks;
  std::copy_n(p, size, out);
  transform::multiply(scale, size, out);
  transform::fwht(out, n, blocks);
  transform::signed_fwht(out, n, signs + 2 * size, out, n, blocks);
  transform::signed_fwht(out, n, signs + size, out, n, blocks);
  transform::multiply(signs, size, out);
}

template <class T>
void fastfood_blocks_transpose(const T* p, const T* signs, const PermutationIndex<T>* permutation,
                               const T* gaussian, const T* scale, int64_t n, int64_t blocks,
                               T* scratch, T* out) noexcept {
  const int64_t size = n * blocks;
  std::copy_n(p, size, scratch);
  transform::multiply(scale, size, scratch);
  transform::fwht(scratch, n, blocks);
  for (int64_t b = 0; b < size; b += n) {
    for (int64_t i = b; i < b + n; ++i) out[b + permutation[i]] = gaussian[i] * scratch[i];
  }
  transform::fwht(out, n, blocks);
  transform::multiply(signs, size, out);
}

template <class T>
void add_block_sums(const T* parts, int64_t n, int64_t blocks, const double* inverse, int64_t d,
                    T* x) noexcept {
  for (int64_t k = 0; k < d; ++k) {
    T sum = parts[k];
    for (int64_t b = 1; b < blocks; ++b) sum += parts[b * n + k];
    x[k] += inverse == nullptr ? sum : static_cast<T>(sum * inverse[k]);
  }
}

#define MERCER_INSTANTIATE(T)                                                                    \
  template void add_block_sums(const T*, int64_t, int64_t, const double*, int64_t, T*) noexcept; \
  template void sorf_blocks_transpose(const T*, const T*, const T*, int64_t, int64_t,            \
                                      T*) noexcept;                                              \
  template void fastfood_blocks_transpose(const T*, const T*, const PermutationIndex<T>*,        \
                                          const T*, const T*, int64_t, int64_t, T*, T*) noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::projection
