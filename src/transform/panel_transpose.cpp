// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The register blocks of dense_panel.cpp, with vectors along the columns of X. A panel holds its
// columns side by side, so slices of it are transposed first: a few per cent of the work of a tile.
#define HWY_TARGET_INCLUDE "transform/panel_transpose.cpp"
#include "transform/panel_transpose.h"

#include "transform/lanes.h"
#include "transform/simd.h"
//
#include "transform/register_block-inl.h"

MERCER_SIMD_BEGIN();

template <class T>
using HalfPanel = hn::CappedTag<T, kPanelColumns<T> / 2>;

// x[0, count) += sum, count <= lanes.
template <class T, class V>
HWY_INLINE void AddVector(V sum, int64_t count, T* x) {
  const HalfPanel<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  if (count >= lanes) return hn::StoreU(hn::Add(hn::LoadU(tag, x), sum), tag, x);
  HWY_ALIGN T all[kPanelColumns<T>];
  hn::Store(sum, tag, all);
  for (int64_t k = 0; k < count; ++k) x[k] += all[k];
}

// `count` columns of X, at most two vectors. `turned` holds them as rows kTurnedRows apart.
template <int kBlockRows, class T>
HWY_INLINE void BlockTimesTurned(const T* HWY_RESTRICT P, const T* HWY_RESTRICT turned,
                                 int64_t count, T* HWY_RESTRICT X, int64_t ldx) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const HalfPanel<T> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V low[kBlockRows];
  V high[kBlockRows];
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) low[i] = high[i] = hn::Zero(tag);
  AddOuterProducts(tag, P, kWidth, turned, kTurnedRows, kWidth, low, high);
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
    AddVector(low[i], count, X + i * ldx);
    if (count > lanes) AddVector(high[i], count - lanes, X + i * ldx + lanes);
  }
}

// All columns of a slice for blocks of rows from row i on; returns the first row not done.
template <int kBlockRows, class T>
HWY_INLINE int64_t TurnedRowBlocks(const T* P, const T* turned, MatrixView<T> X, int64_t i) {
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(HalfPanel<T>()));
  for (; i + kBlockRows <= X.rows; i += kBlockRows) {
    for (int64_t k = 0; k < X.cols; k += step) {
      BlockTimesTurned<kBlockRows>(P + i * kPanelColumns<T>, turned + k, X.cols - k, X.row(i) + k,
                                   X.ld);
    }
  }
  return i;
}

template <class T>
HWY_INLINE void Turn(const T* panel, int64_t rows, T* turned) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  transpose(panel, rows, kWidth, kWidth, turned, kTurnedRows);
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(HalfPanel<T>()));
  const int64_t end = (rows + step - 1) / step * step;
  for (int64_t c = 0; c < kWidth; ++c) {
    for (int64_t k = rows; k < end; ++k) turned[c * kTurnedRows + k] = T{0};
  }
}

template <class T>
HWY_INLINE void ProjectPanelTranspose(const T* P, const T* panel, MatrixView<T> X, T* scratch) {
  for (int64_t k0 = 0; k0 < X.cols; k0 += kTurnedRows) {
    const int64_t k1 = HWY_MIN(k0 + kTurnedRows, X.cols);
    Turn(panel + k0 * kPanelColumns<T>, k1 - k0, scratch);
    const MatrixView<T> slice = X.block_cols(k0, k1);
    int64_t i = TurnedRowBlocks<kRegisterRows>(P, scratch, slice, 0);
    i = TurnedRowBlocks<kRegisterRows / 2>(P, scratch, slice, i);
    i = TurnedRowBlocks<2>(P, scratch, slice, i);
    TurnedRowBlocks<1>(P, scratch, slice, i);
  }
}

void ProjectPanelTransposeF32(const float* P, const float* panel, MatrixView<float> X,
                              float* scratch) {
  ProjectPanelTranspose(P, panel, X, scratch);
}
void ProjectPanelTransposeF64(const double* P, const double* panel, MatrixView<double> X,
                              double* scratch) {
  ProjectPanelTranspose(P, panel, X, scratch);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(ProjectPanelTranspose);

void project_panel_transpose(const float* P, const float* panel, MatrixView<float> X,
                             float* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelTransposeF32)(P, panel, X, scratch);
}
void project_panel_transpose(const double* P, const double* panel, MatrixView<double> X,
                             double* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelTransposeF64)(P, panel, X, scratch);
}

}  // namespace mercer::transform
#endif
