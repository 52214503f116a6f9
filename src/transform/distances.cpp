// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/distances.cpp"
#include "transform/simd.h"
//
#include "transform/distances.h"

MERCER_SIMD_BEGIN();

// Four vectors of sums at a time: one alone waits for every addition.
constexpr int64_t kVectors = 4;

template <bool squared, class D>
HWY_INLINE hn::Vec<D> Joined(D /*tag*/, hn::Vec<D> sum, hn::Vec<D> t) {
  return squared ? hn::MulAdd(t, t, sum) : hn::Add(sum, hn::Abs(t));
}

template <bool squared>
HWY_INLINE void Differences(const DifferenceCall& call) {
  const Tag<double> tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t j = 0;
  for (; j + kVectors * lanes <= call.n; j += kVectors * lanes) {
    double* const to = call.sums + j;
    auto a = hn::LoadU(tag, to), b = hn::LoadU(tag, to + lanes), c = hn::LoadU(tag, to + 2 * lanes),
         e = hn::LoadU(tag, to + 3 * lanes);
    for (int64_t k = 0; k < call.d; ++k) {
      const auto x = hn::Set(tag, call.x[k]), scale = hn::Set(tag, call.scale[k]);
      const double* const y = call.Y + k * call.step + j;
      const auto apart = [=](int64_t at) HWY_ATTR {
        return hn::Mul(hn::Sub(x, hn::LoadU(tag, y + at)), scale);
      };
      a = Joined<squared>(tag, a, apart(0));
      b = Joined<squared>(tag, b, apart(lanes));
      c = Joined<squared>(tag, c, apart(2 * lanes));
      e = Joined<squared>(tag, e, apart(3 * lanes));
    }
    hn::StoreU(a, tag, to);
    hn::StoreU(b, tag, to + lanes);
    hn::StoreU(c, tag, to + 2 * lanes);
    hn::StoreU(e, tag, to + 3 * lanes);
  }
  ForEach<double>(call.n - j, [&](auto each, int64_t i) HWY_ATTR {
    auto sum = hn::LoadU(each, call.sums + j + i);
    for (int64_t k = 0; k < call.d; ++k) {
      const auto y = hn::LoadU(each, call.Y + k * call.step + j + i);
      const auto t = hn::Mul(hn::Sub(hn::Set(each, call.x[k]), y), hn::Set(each, call.scale[k]));
      sum = Joined<squared>(each, sum, t);
    }
    hn::StoreU(sum, each, call.sums + j + i);
  });
}

void SquaredDifferences(const DifferenceCall& call) { Differences<true>(call); }
void AbsoluteDifferences(const DifferenceCall& call) { Differences<false>(call); }

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(SquaredDifferences);
HWY_EXPORT(AbsoluteDifferences);

void add_squared_differences(const DifferenceCall& call) noexcept {
  HWY_DYNAMIC_DISPATCH(SquaredDifferences)(call);
}
void add_absolute_differences(const DifferenceCall& call) noexcept {
  HWY_DYNAMIC_DISPATCH(AbsoluteDifferences)(call);
}

}  // namespace mercer::transform
#endif
