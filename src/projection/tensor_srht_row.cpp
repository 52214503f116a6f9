// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/tensor_srht_row.h"

#include <algorithm>

#include "transform/fwht.h"

namespace mercer::projection {

template <class T>
void load_row(const FactorRows<T>& rows, const FactorShape& factor, int64_t i, int64_t d, T* re,
              T* im) noexcept {
  const auto scale = static_cast<T>(factor.scale);
  const int64_t k = factor.inputs;
  if (rows.sparse != nullptr) {
    std::fill(re, re + k, T{0});
    add_row(*rows.sparse, i, re);
  } else if (k > 0) {
    std::copy_n(rows.dense.re.row(i), k, re);
  }
  if (scale != T{1}) std::for_each(re, re + k, [scale](T& u) { u *= scale; });
  std::fill(re + k, re + d, T{0});
  if (factor.constant != 0) re[k] = static_cast<T>(factor.constant);
  if (rows.dense.im.data == nullptr) return;
  std::transform(rows.dense.im.row(i), rows.dense.im.row(i) + k, im,
                 [scale](T u) { return scale * u; });
  std::fill(im + k, im + d, T{0});
}

template <class T>
void srht_table(const SrhtFactor<T>& factor, const T* u_re, const T* u_im, T* table) noexcept {
  const int64_t d = factor.d;
  if (u_im == nullptr) {
    return transform::signed_fwht(u_re, 0, factor.signs, table, d, factor.complex ? 2 : 1);
  }
  const T *const s_re = factor.signs, *const s_im = factor.signs + d;
  for (int64_t k = 0; k < d; ++k) {
    table[k] = s_re[k] * u_re[k] - s_im[k] * u_im[k];
    table[d + k] = s_re[k] * u_im[k] + s_im[k] * u_re[k];
  }
  transform::fwht(table, d, 2);
}

template void load_row(const FactorRows<float>&, const FactorShape&, int64_t, int64_t, float*,
                       float*) noexcept;
template void load_row(const FactorRows<double>&, const FactorShape&, int64_t, int64_t, double*,
                       double*) noexcept;
template void srht_table(const SrhtFactor<float>&, const float*, const float*, float*) noexcept;
template void srht_table(const SrhtFactor<double>&, const double*, const double*, double*) noexcept;

}  // namespace mercer::projection
