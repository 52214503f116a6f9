// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/signed_exp.cpp"
#include "transform/signed_exp.h"

#include <limits>

#include "transform/dense_panel.h"
#include "transform/simd.h"
//
#include <hwy/contrib/math/math-inl.h>

MERCER_SIMD_BEGIN();

template <class T>
HWY_INLINE void SignedExp(const T* N, int64_t rows, int64_t columns, const T* offset, int64_t step,
                          T scale, T* P) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  // The exponential is infinite beyond this; Highway's takes no larger arguments.
  const auto most = hn::Set(tag, static_cast<T>(sizeof(T) == 4 ? 104 : 710));
  const auto half = hn::Set(tag, static_cast<T>(0.5)), one = hn::Set(tag, T{1});
  for (int64_t i = 0; i < rows; ++i) {
    const auto constant = hn::Set(tag, offset[i * step]);
    for (int64_t j = 0; j < columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      const auto n = hn::Mul(hn::Load(tag, N + i * columns + j), half);
      const auto odd = hn::Sub(n, hn::Floor(n));  // 1/2, else 0
      const auto sign = hn::Sub(one, hn::Mul(odd, hn::Set(tag, T{4})));
      const auto sum = hn::Add(hn::Load(tag, P + i * columns + j), constant);
      const auto large = hn::Gt(sum, most);
      auto power = hn::Exp(tag, hn::IfThenElse(large, most, sum));
      power = hn::IfThenElse(large, hn::Set(tag, std::numeric_limits<T>::infinity()), power);
      power = hn::IfThenElse(hn::IsNaN(sum), sum, power);
      hn::Store(hn::Mul(hn::Mul(sign, hn::Set(tag, scale)), power), tag, P + i * columns + j);
    }
  }
}

void SignedExpF32(const float* N, int64_t rows, int64_t columns, const float* offset, int64_t step,
                  float scale, float* P) {
  SignedExp(N, rows, columns, offset, step, scale, P);
}
void SignedExpF64(const double* N, int64_t rows, int64_t columns, const double* offset,
                  int64_t step, double scale, double* P) {
  SignedExp(N, rows, columns, offset, step, scale, P);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(SignedExp);

void signed_exp(const float* N, int64_t rows, int64_t columns, const float* offset, int64_t step,
                float scale, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SignedExpF32)(N, rows, columns, offset, step, scale, P);
}
void signed_exp(const double* N, int64_t rows, int64_t columns, const double* offset, int64_t step,
                double scale, double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SignedExpF64)(N, rows, columns, offset, step, scale, P);
}

}  // namespace mercer::transform
#endif
