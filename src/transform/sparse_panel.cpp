// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One row of P is kept in registers while each entry of the row adds a multiple of a row of the
// panel. Several chains of sums, joined at the end, hide the latency of a fused multiply-add where
// a panel is only a few vectors wide.
#define HWY_TARGET_INCLUDE "transform/sparse_panel.cpp"
#include "transform/simd.h"
//
#include "transform/register_block-inl.h"
#include "transform/sparse_panel.h"

MERCER_SIMD_BEGIN();

// Sums in flight: latency times throughput of multiply-adds, and half the registers of the smallest
// target.
constexpr int kSums = 8;

// kVectors vectors of one row of P, kChains entries at a time.
template <int kVectors, int kChains, class T, class Index>
HWY_INLINE void RowTimesPanel(const T* HWY_RESTRICT values, const Index* HWY_RESTRICT indices,
                              int64_t count, const T* HWY_RESTRICT panel, T* HWY_RESTRICT P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth / 2> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V sum[kChains][kVectors];
  SetZero(tag, sum);
  int64_t p = 0;
  for (; p + kChains <= count; p += kChains) {
#pragma GCC unroll 8
    for (int c = 0; c < kChains; ++c) {
      const V x = hn::Set(tag, values[p + c]);
      const T* w = panel + static_cast<int64_t>(indices[p + c]) * kWidth;
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sum[c][v] = hn::MulAdd(x, hn::Load(tag, w + v * lanes), sum[c][v]);
      }
    }
  }
  for (; p < count; ++p) {
    const V x = hn::Set(tag, values[p]);
    const T* w = panel + static_cast<int64_t>(indices[p]) * kWidth;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sum[0][v] = hn::MulAdd(x, hn::Load(tag, w + v * lanes), sum[0][v]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int c = 1; c < kChains; ++c) sum[0][v] = hn::Add(sum[0][v], sum[c][v]);
    hn::Store(sum[0][v], tag, P + v * lanes);
  }
}

template <class T, class Index>
HWY_INLINE void RowsTimesPanel(const CsrView<T>& X, const Index* indices, const T* panel, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<T, kWidth / 2>()));
  constexpr int kVectors = static_cast<int>(HWY_MIN(kWidth / kLanes, int64_t{kSums}));
  for (int64_t i = 0; i < X.rows; ++i) {
    const int64_t begin = X.begin(i);
    for (int64_t j = 0; j < kWidth; j += kVectors * kLanes) {
      RowTimesPanel<kVectors, kSums / kVectors>(X.values + begin, indices + begin, X.end(i) - begin,
                                                panel + j, P + i * kWidth + j);
    }
  }
}

void ProjectSparseF32(const CsrView<float>& X, const float* panel, float* P) {
  X.indices.visit([&](const auto* indices) HWY_ATTR { RowsTimesPanel(X, indices, panel, P); });
}
void ProjectSparseF64(const CsrView<double>& X, const double* panel, double* P) {
  X.indices.visit([&](const auto* indices) HWY_ATTR { RowsTimesPanel(X, indices, panel, P); });
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(ProjectSparse);

void project_panel(const CsrView<float>& X, const float* panel, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectSparseF32)(X, panel, P);
}
void project_panel(const CsrView<double>& X, const double* panel, double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectSparseF64)(X, panel, P);
}

}  // namespace mercer::transform
#endif
