// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/wide_rows.cpp"
#include "transform/wide_rows.h"

#include "transform/simd.h"

MERCER_SIMD_BEGIN();

template <class D>
HWY_INLINE hn::Vec<D> Wide(D, const double* from) {
  return hn::LoadU(D(), from);
}
template <class D>
HWY_INLINE hn::Vec<D> Wide(D tag, const float* from) {
  return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<float, D>(), from));
}

template <class T>
HWY_INLINE void Widen(const WideRow<T>& row) {
  const T* const from = row.from;
  const double* const origin = row.origin;
  double* const to = row.to;
  ForEach<double>(row.count, [&](auto tag, int64_t j) HWY_ATTR {
    const auto wide = Wide(tag, from + j);
    hn::StoreU(origin == nullptr ? wide : hn::Sub(wide, hn::LoadU(tag, origin + j)), tag, to + j);
  });
}

MERCER_SIMD_PAIR(Widen, WideRow, Widen)

void Round(const double* from, int64_t count, double factor, float* to) {
  ForEach<double>(count, [&](auto tag, int64_t j) HWY_ATTR {
    const hn::Rebind<float, decltype(tag)> narrow;
    const auto scaled = hn::Mul(hn::Set(tag, factor), hn::LoadU(tag, from + j));
    hn::StoreU(hn::DemoteTo(narrow, scaled), narrow, to + j);
  });
}

MERCER_SIMD_END();

MERCER_SIMD_DOORS(widen_row, Widen, WideRow)

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(Round);
void round_row(const double* from, int64_t count, double factor, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(Round)(from, count, factor, to);
}

}  // namespace mercer::transform
#endif
