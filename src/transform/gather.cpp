// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "transform/gather.h"

namespace mercer::transform {
namespace {

template <class T, class I>
void gather_numbers(const T* __restrict in, const I* __restrict index, int64_t n,
                    T* __restrict out) noexcept {
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) out[i] = in[index[i]];
}

}  // namespace

void gather(const float* in, const int32_t* index, int64_t n, float* out) noexcept {
  gather_numbers(in, index, n, out);
}
void gather(const double* in, const int64_t* index, int64_t n, double* out) noexcept {
  gather_numbers(in, index, n, out);
}

}  // namespace mercer::transform
