// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/tensor_srht_lanes.h"

#include <algorithm>

#include "transform/fwht.h"
#include "transform/lanes.h"

namespace mercer::projection {
namespace {

using transform::kLanes;

// Bytes of a part that is transformed at once.
constexpr int64_t kPartBytes = int64_t{24} << 10;

template <class T>
void load_sparse(const CsrView<T>& X, int64_t i0, int64_t n, T* u) noexcept {
  X.indices.visit([&](const auto* indices) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t at = X.begin(i0 + i); at < X.end(i0 + i); ++at)
        u[indices[at] * kLanes<T> + i] += X.values[at];
    }
  });
}

template <class T>
void scale_elements(T scale, int64_t count, T* u) noexcept {
  if (scale == T{1}) return;
  for (int64_t k = 0; k < count * kLanes<T>; ++k) u[k] *= scale;
}

// Elements [k0, k0 + n) of D u and their transform, depth first, so that each part is finished in
// the first-level cache.
template <class T>
void transform_part(const SrhtFactor<T>& factor, const T* u_re, const T* u_im, int64_t k0,
                    int64_t n, T* table) noexcept {
  const int64_t width = (factor.complex ? 2 : 1) * kLanes<T>;
  if (n >= 8 && n * width * static_cast<int64_t>(sizeof(T)) > kPartBytes) {
    for (int64_t part = 0; part < 8; ++part)
      transform_part(factor, u_re, u_im, k0 + part * (n / 8), n / 8, table);
    return transform::fwht_interleaved_eight(table + k0 * width, n, width);
  }
  const transform::Diagonal<T> signs{factor.signs + k0,
                                     factor.complex ? factor.signs + factor.d + k0 : nullptr};
  transform::multiply_lanes(u_re + k0 * kLanes<T>,
                            u_im == nullptr ? nullptr : u_im + k0 * kLanes<T>, signs, n,
                            table + k0 * width);
  transform::fwht_interleaved(table + k0 * width, n, width);
}

}  // namespace

template <class T>
void load_lanes(const FactorRows<T>& rows, const FactorShape& factor, int64_t i0, int64_t n,
                int64_t d, T* u) noexcept {
  const auto scale = static_cast<T>(factor.scale);
  const MatrixView<const T> re = rows.dense.re, im = rows.dense.im;
  const int64_t k = factor.inputs;
  const bool imaginary = im.data != nullptr;
  std::fill(u, u + (imaginary ? 2 : 1) * d * kLanes<T>, T{0});
  if (rows.sparse != nullptr) {
    load_sparse(*rows.sparse, i0, n, u);
  } else if (k > 0) {
    transform::transpose(re.row(i0), n, k, re.ld, u, kLanes<T>);
  }
  scale_elements(scale, k, u);
  if (factor.constant != 0) {
    std::fill_n(u + k * kLanes<T>, kLanes<T>, static_cast<T>(factor.constant));
  }
  if (!imaginary) return;
  T* const v = u + d * kLanes<T>;
  transform::transpose(im.row(i0), n, k, im.ld, v, kLanes<T>);
  scale_elements(scale, k, v);
}

template <class T>
void srht_lane_table(const SrhtFactor<T>& factor, const T* u, bool imaginary, T* table) noexcept {
  const T* const u_im = imaginary ? u + factor.d * kLanes<T> : nullptr;
  transform_part(factor, u, u_im, 0, factor.d, table);
}

template void load_lanes(const FactorRows<float>&, const FactorShape&, int64_t, int64_t, int64_t,
                         float*) noexcept;
template void load_lanes(const FactorRows<double>&, const FactorShape&, int64_t, int64_t, int64_t,
                         double*) noexcept;
template void srht_lane_table(const SrhtFactor<float>&, const float*, bool, float*) noexcept;
template void srht_lane_table(const SrhtFactor<double>&, const double*, bool, double*) noexcept;

}  // namespace mercer::projection
