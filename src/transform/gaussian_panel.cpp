// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/gaussian_panel.cpp"
#include "transform/gaussian_panel.h"

#include "transform/dense_panel.h"
#include "transform/simd.h"
//
#include <hwy/contrib/math/math-inl.h>

MERCER_SIMD_BEGIN();

template <int kRows, class T>
HWY_INLINE int64_t GaussianRows(MatrixView<const T> X, int64_t i, const T* panel, T scale,
                                MatrixView<T> K) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth> tag;
  using V = hn::Vec<decltype(tag)>;
  for (; i + kRows <= X.rows; i += kRows) {
    for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
      V squares[kRows];
      for (V& sum : squares) sum = hn::Zero(tag);
      for (int64_t k = 0; k < X.cols; ++k) {
        const V l = hn::Load(tag, panel + k * kWidth + j);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const V difference = hn::Sub(hn::Set(tag, X(i + r, k)), l);
          squares[r] = hn::MulAdd(difference, difference, squares[r]);
        }
      }
      for (int r = 0; r < kRows; ++r) {
        const V exponent = hn::Mul(squares[r], hn::Set(tag, static_cast<T>(-0.5)));
        // The vector exponential turns NaN into 0.
        const V value = hn::IfThenElse(hn::IsNaN(exponent), exponent, hn::Exp(tag, exponent));
        hn::Store(hn::Mul(value, hn::Set(tag, scale)), tag, K.row(i + r) + j);
      }
    }
  }
  return i;
}

template <class T>
HWY_INLINE void GaussianPanel(MatrixView<const T> X, const T* panel, T scale, MatrixView<T> K) {
  GaussianRows<1>(X, GaussianRows<8>(X, 0, panel, scale, K), panel, scale, K);
}

void GaussianPanelF32(MatrixView<const float> X, const float* panel, float scale,
                      MatrixView<float> K) {
  GaussianPanel(X, panel, scale, K);
}
void GaussianPanelF64(MatrixView<const double> X, const double* panel, double scale,
                      MatrixView<double> K) {
  GaussianPanel(X, panel, scale, K);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(GaussianPanel);

void gaussian_panel(MatrixView<const float> X, const float* panel, float scale,
                    MatrixView<float> K) noexcept {
  HWY_DYNAMIC_DISPATCH(GaussianPanelF32)(X, panel, scale, K);
}
void gaussian_panel(MatrixView<const double> X, const double* panel, double scale,
                    MatrixView<double> K) noexcept {
  HWY_DYNAMIC_DISPATCH(GaussianPanelF64)(X, panel, scale, K);
}

}  // namespace mercer::transform
#endif
