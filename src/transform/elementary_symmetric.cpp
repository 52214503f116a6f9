// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Takes a vector of columns and a few rows at a time, the sums of low degrees in registers. A row's
// operations do not depend on the rows beside it.
#define HWY_TARGET_INCLUDE "transform/elementary_symmetric.cpp"
#include "transform/elementary_symmetric.h"

#include "transform/dense_panel.h"
#include "transform/simd.h"

MERCER_SIMD_BEGIN();

template <class T>
using PanelTag = hn::CappedTag<T, kPanelColumns<T>>;

// kRows rows by all columns; e[t] is the sum of degree t + 1.
template <int kDegree, int kRows, class T>
HWY_INLINE void SymmetricRows(MatrixView<const T> X, int64_t i, const T* panel, T scale, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const PanelTag<T> tag;
  using V = hn::Vec<decltype(tag)>;
  for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
    V e[kRows][kDegree];
    for (int r = 0; r < kRows; ++r)
      for (int t = 0; t < kDegree; ++t) e[r][t] = hn::Zero(tag);
    for (int64_t k = 0; k < X.cols; ++k) {
      const V w = hn::Load(tag, panel + k * kWidth + j);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const V p = hn::Mul(w, hn::Set(tag, X(i + r, k)));
#pragma GCC unroll 4
        for (int t = kDegree - 1; t > 0; --t) e[r][t] = hn::MulAdd(e[r][t - 1], p, e[r][t]);
        e[r][0] = hn::Add(e[r][0], p);
      }
    }
    for (int r = 0; r < kRows; ++r)
      hn::Store(hn::Mul(hn::Set(tag, scale), e[r][kDegree - 1]), tag, P + (i + r) * kWidth + j);
  }
}

template <int kDegree, class T>
HWY_INLINE void LowDegree(MatrixView<const T> X, const T* panel, T scale, T* P) {
  constexpr int kRows = kDegree <= 2 ? 4 : 2;
  int64_t i = 0;
  for (; i + kRows <= X.rows; i += kRows) SymmetricRows<kDegree, kRows>(X, i, panel, scale, P);
  for (; i < X.rows; ++i) SymmetricRows<kDegree, 1>(X, i, panel, scale, P);
}

template <class T>
HWY_INLINE void AnyDegree(MatrixView<const T> X, const T* panel, int64_t degree, T scale, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const PanelTag<T> tag;
  using V = hn::Vec<decltype(tag)>;
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
      V e[kMostSymmetricDegree];
      for (V& sum : e) sum = hn::Zero(tag);
      for (int64_t k = 0; k < X.cols; ++k) {
        const V p = hn::Mul(hn::Load(tag, panel + k * kWidth + j), hn::Set(tag, X(i, k)));
        for (int64_t t = degree - 1; t > 0; --t) e[t] = hn::MulAdd(e[t - 1], p, e[t]);
        e[0] = hn::Add(e[0], p);
      }
      hn::Store(hn::Mul(hn::Set(tag, scale), e[degree - 1]), tag, P + i * kWidth + j);
    }
  }
}

template <class T>
HWY_INLINE void SymmetricPanel(MatrixView<const T> X, const T* panel, int64_t degree, T scale,
                               T* P) {
  switch (degree) {
    case 1:
      return LowDegree<1>(X, panel, scale, P);
    case 2:
      return LowDegree<2>(X, panel, scale, P);
    case 3:
      return LowDegree<3>(X, panel, scale, P);
    case 4:
      return LowDegree<4>(X, panel, scale, P);
    default:
      return AnyDegree(X, panel, degree, scale, P);
  }
}

template <int kRows, class T>
HWY_INLINE int64_t SubsetRows(MatrixView<const T> X, int64_t i, const T* panel, T scale, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const PanelTag<T> tag;
  using V = hn::Vec<decltype(tag)>;
  for (; i + kRows <= X.rows; i += kRows) {
    for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
      V product[kRows];
      for (V& one : product) one = hn::Set(tag, scale);
      for (int64_t k = 0; k < X.cols; ++k) {
        const V w = hn::Load(tag, panel + k * kWidth + j);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r)
          product[r] = hn::MulAdd(product[r], hn::Mul(w, hn::Set(tag, X(i + r, k))), product[r]);
      }
      for (int r = 0; r < kRows; ++r) hn::Store(product[r], tag, P + (i + r) * kWidth + j);
    }
  }
  return i;
}

template <class T>
HWY_INLINE void SubsetsPanel(MatrixView<const T> X, const T* panel, T scale, T* P) {
  SubsetRows<1>(X, SubsetRows<4>(X, 0, panel, scale, P), panel, scale, P);
}

void SymmetricPanelF32(MatrixView<const float> X, const float* panel, int64_t degree, float scale,
                       float* P) {
  SymmetricPanel(X, panel, degree, scale, P);
}
void SymmetricPanelF64(MatrixView<const double> X, const double* panel, int64_t degree,
                       double scale, double* P) {
  SymmetricPanel(X, panel, degree, scale, P);
}
void SubsetsPanelF32(MatrixView<const float> X, const float* panel, float scale, float* P) {
  SubsetsPanel(X, panel, scale, P);
}
void SubsetsPanelF64(MatrixView<const double> X, const double* panel, double scale, double* P) {
  SubsetsPanel(X, panel, scale, P);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(SymmetricPanel);
MERCER_SIMD_EXPORT(SubsetsPanel);

void symmetric_panel(MatrixView<const float> X, const float* panel, int64_t degree, float scale,
                     float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SymmetricPanelF32)(X, panel, degree, scale, P);
}
void symmetric_panel(MatrixView<const double> X, const double* panel, int64_t degree, double scale,
                     double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SymmetricPanelF64)(X, panel, degree, scale, P);
}
void subsets_panel(MatrixView<const float> X, const float* panel, float scale, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SubsetsPanelF32)(X, panel, scale, P);
}
void subsets_panel(MatrixView<const double> X, const double* panel, double scale,
                   double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SubsetsPanelF64)(X, panel, scale, P);
}

}  // namespace mercer::transform
#endif
