// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/spread.cpp"
#include "transform/simd.h"
//
#include "transform/nufft.h"

MERCER_SIMD_BEGIN();

constexpr int64_t kAxes = 3;
constexpr int64_t kLanes = 16;

/// The points about one row: where the first is, and values of the function along each axis.
template <int64_t lanes>
struct Points {
  using D = Tag<double>;
  static constexpr int64_t kWidth = static_cast<int64_t>(hn::MaxLanes(D()));
  static constexpr int64_t kVectors = lanes < kWidth ? 1 : lanes / kWidth;

  HWY_INLINE Points(const SpreadFunction& function, int64_t axes, const int64_t* strides,
                    const double* places) {
    const D tag;
    for (int64_t k = 0; k < axes; ++k) {
      const double whole = static_cast<double>(static_cast<int64_t>(places[k]));
      offset += static_cast<int64_t>(places[k]) * (k + 1 < axes ? strides[k] : 1);
      const auto t = hn::Set(tag, 2 * (places[k] - whole) - 1);
      for (int64_t v = 0; v < kVectors; ++v) {
        const double* from = function.coefficients + function.degree * lanes + v * kWidth;
        auto sum = hn::LoadU(tag, from);
        for (int64_t p = 0; p < function.degree; ++p)
          sum = hn::MulAdd(sum, t, hn::LoadU(tag, from -= lanes));
        hn::Store(sum, tag, values[k] + v * kWidth);
      }
    }
  }

  alignas(64) double values[kAxes][kLanes];
  int64_t offset = 0;
};

/// body(offset, factor) for each line of points along the last axis.
template <class P, class Body>
HWY_INLINE void ForEachLine(const P& points, int64_t axes, int64_t width, const int64_t* strides,
                            const Body& body) {
  if (axes == 1) return body(points.offset, 1.0);
  for (int64_t i = 0; i < width; ++i) {
    const int64_t at = points.offset + i * strides[0];
    if (axes == 2) {
      body(at, points.values[0][i]);
      continue;
    }
    for (int64_t j = 0; j < width; ++j)
      body(at + j * strides[1], points.values[0][i] * points.values[1][j]);
  }
}

template <int64_t lanes>
HWY_INLINE void SpreadAll(const SpreadCall& call) {
  using P = Points<lanes>;
  const Tag<double> tag;
  const int64_t strengths = call.record - call.axes - 1;
  for (int64_t r = 0; r < call.rows; ++r) {
    const double* const row = call.records + call.order[r] * call.record;
    const P points(call.function, call.axes, call.strides, row);
    const double* const strength = row + call.axes + 1;
    const auto second = static_cast<int64_t>(row[call.axes]);
    for (int64_t c = 0; c < strengths; ++c) {
      double* const grid = call.grids[c == 0 ? second : c + 1];
      hn::Vec<Tag<double>> last[P::kVectors];
      for (int64_t v = 0; v < P::kVectors; ++v)
        last[v] = hn::Mul(hn::Set(tag, strength[c]),
                          hn::Load(tag, points.values[call.axes - 1] + v * P::kWidth));
      ForEachLine(points, call.axes, call.function.width, call.strides,
                  [&](int64_t at, double factor) HWY_ATTR {
                    const auto scale = hn::Set(tag, factor);
                    for (int64_t v = 0; v < P::kVectors; ++v) {
                      double* const to = grid + at + v * P::kWidth;
                      hn::StoreU(hn::MulAdd(scale, last[v], hn::LoadU(tag, to)), tag, to);
                    }
                  });
    }
  }
}

template <int64_t lanes>
HWY_INLINE void InterpolateAll(const InterpolationCall& call) {
  using P = Points<lanes>;
  const Tag<double> tag;
  for (int64_t r = 0; r < call.rows; ++r) {
    const P points(call.function, call.axes, call.strides, call.places + r * call.axes);
    for (int64_t c = 0; c < call.count; ++c) {
      hn::Vec<Tag<double>> sums[P::kVectors];
      for (auto& sum : sums) sum = hn::Zero(tag);
      ForEachLine(points, call.axes, call.function.width, call.strides,
                  [&](int64_t at, double factor) HWY_ATTR {
                    const auto scale = hn::Set(tag, factor);
                    for (int64_t v = 0; v < P::kVectors; ++v)
                      sums[v] = hn::MulAdd(
                          scale, hn::LoadU(tag, call.grids[c] + at + v * P::kWidth), sums[v]);
                  });
      auto sum = hn::Zero(tag);
      for (int64_t v = 0; v < P::kVectors; ++v)
        sum = hn::MulAdd(sums[v], hn::Load(tag, points.values[call.axes - 1] + v * P::kWidth), sum);
      call.out[r * call.count + c] = hn::GetLane(hn::SumOfLanes(tag, sum));
    }
  }
}

void Spread(const SpreadCall& call) {
  call.function.lanes == 8 ? SpreadAll<8>(call) : SpreadAll<16>(call);
}
void Interpolate(const InterpolationCall& call) {
  call.function.lanes == 8 ? InterpolateAll<8>(call) : InterpolateAll<16>(call);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(Spread);
HWY_EXPORT(Interpolate);

void spread_rows(const SpreadCall& call) noexcept { HWY_DYNAMIC_DISPATCH(Spread)(call); }
void interpolate_rows(const InterpolationCall& call) noexcept {
  HWY_DYNAMIC_DISPATCH(Interpolate)(call);
}

}  // namespace mercer::transform
#endif
