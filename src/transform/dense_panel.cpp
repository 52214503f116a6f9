// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Register-blocked X times packed panel (the micro-kernel layout of Goto, van de Geijn 2008,
// without packing X: rows are read by broadcasts). One body for every target and both precisions.
#define HWY_TARGET_INCLUDE "transform/dense_panel.cpp"
#include "transform/dense_panel.h"

#include "transform/simd.h"
//
#include "transform/register_block-inl.h"

MERCER_SIMD_BEGIN();

// Depth of W kept in cache while all rows of a tile pass over it; P carries the sums from one slice
// to the next, which keeps the order of additions.
constexpr int64_t kDepth = 1024;

// kBlockRows x two vectors of P over depth [0, depth).
template <int kBlockRows, class T>
HWY_INLINE void BlockTimesPanel(const T* HWY_RESTRICT X, int64_t ldx, int64_t depth,
                                const T* HWY_RESTRICT panel, bool accumulate, T* HWY_RESTRICT P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth / 2> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V low[kBlockRows];
  V high[kBlockRows];
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
    low[i] = accumulate ? hn::Load(tag, P + i * kWidth) : hn::Zero(tag);
    high[i] = accumulate ? hn::Load(tag, P + i * kWidth + lanes) : hn::Zero(tag);
  }
  AddOuterProducts(tag, X, ldx, panel, kWidth, depth, low, high);
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
    hn::Store(low[i], tag, P + i * kWidth);
    hn::Store(high[i], tag, P + i * kWidth + lanes);
  }
}

template <int kBlockRows, class T>
HWY_INLINE int64_t RowBlocks(MatrixView<const T> X, int64_t i, int64_t k0, int64_t depth,
                             const T* panel, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth / 2> tag;
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(tag));
  for (; i + kBlockRows <= X.rows; i += kBlockRows) {
    for (int64_t j = 0; j < kWidth; j += step) {
      BlockTimesPanel<kBlockRows>(X.row(i) + k0, X.ld, depth, panel + k0 * kWidth + j, k0 > 0,
                                  P + i * kWidth + j);
    }
  }
  return i;
}

template <class T>
HWY_INLINE void ProjectPanel(MatrixView<const T> X, const T* panel, T* P) {
  for (int64_t k0 = 0; k0 < X.cols; k0 += kDepth) {
    const int64_t depth = HWY_MIN(kDepth, X.cols - k0);
    int64_t i = RowBlocks<kRegisterRows>(X, 0, k0, depth, panel, P);
    i = RowBlocks<kRegisterRows / 2>(X, i, k0, depth, panel, P);
    i = RowBlocks<2>(X, i, k0, depth, panel, P);
    RowBlocks<1>(X, i, k0, depth, panel, P);
  }
}

void ProjectPanelF32(MatrixView<const float> X, const float* panel, float* P) {
  ProjectPanel(X, panel, P);
}
void ProjectPanelF64(MatrixView<const double> X, const double* panel, double* P) {
  ProjectPanel(X, panel, P);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(ProjectPanel);

void project_panel(MatrixView<const float> X, const float* panel, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelF32)(X, panel, P);
}
void project_panel(MatrixView<const double> X, const double* panel, double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelF64)(X, panel, P);
}

}  // namespace mercer::transform
#endif
