// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Blocks of kVectors x kOuts sums stay in registers while the rows of a slice pass by; each row
// contributes whole vectors of Z times single numbers of Y. Lanes are columns of Z, so there are no
// sums across lanes. The first outputs prefetch a block-wide strip of Z, since its rows lie too far
// apart for the hardware prefetcher; the others read it from L1.
#define HWY_TARGET_INCLUDE "transform/column_products.cpp"
#include <hwy/cache_control.h>

#include "transform/narrow_products.h"
#include "transform/simd.h"
//
#include "transform/register_block-inl.h"

MERCER_SIMD_BEGIN();

// Rows between prefetching and multiplying.
constexpr int64_t kAhead = 8;
// Together with the operands they fill at most the register file.
constexpr int kStripVectors = kManyRegisters ? 4 : 2;
constexpr int kMostOuts = 4;

// to[l] += lane l, in double.
template <class D, class V>
HWY_INLINE void AddLanes(D tag, V lanes, double* to) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    *to += static_cast<double>(hn::GetLane(lanes));
  } else if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    hn::StoreU(hn::Add(hn::LoadU(tag, to), lanes), tag, to);
  } else {
#if HWY_TARGET != HWY_SCALAR  // which has no halves
    const hn::Half<D> half;
    const hn::Rebind<double, decltype(half)> wide;
    AddLanes(wide, hn::PromoteTo(wide, hn::LowerHalf(half, lanes)), to);
    AddLanes(wide, hn::PromoteTo(wide, hn::UpperHalf(half, lanes)), to + hn::Lanes(wide));
#endif
  }
}

template <int kVectors, int kOuts, class D, class T>
HWY_INLINE void Block(D tag, MatrixView<const T> Z, MatrixView<const T> Y, int64_t j, int64_t o0,
                      MatrixView<double> sums) {
  using V = hn::Vec<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V block[kOuts][kVectors];
  SetZero(tag, block);
  for (int64_t i = 0; i < Z.rows; ++i) {
    const T* const from = Z.row(i) + j;
    if (o0 == 0 && i + kAhead < Z.rows) {
#pragma GCC unroll 4
      for (int c = 0; c < kVectors; ++c) hwy::Prefetch(Z.row(i + kAhead) + j + c * lanes);
    }
    V z[kVectors];
#pragma GCC unroll 4
    for (int c = 0; c < kVectors; ++c) z[c] = hn::LoadU(tag, from + c * lanes);
#pragma GCC unroll 4
    for (int o = 0; o < kOuts; ++o) {
      const V y = hn::Set(tag, Y(i, o0 + o));
#pragma GCC unroll 4
      for (int c = 0; c < kVectors; ++c) block[o][c] = hn::MulAdd(z[c], y, block[o][c]);
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOuts; ++o) {
#pragma GCC unroll 4
    for (int c = 0; c < kVectors; ++c) AddLanes(tag, block[o][c], sums.row(o0 + o) + j + c * lanes);
  }
}

// All outputs for strips of columns from j on; returns where the strips end.
template <int kVectors, class D, class T>
HWY_INLINE int64_t Strips(D tag, MatrixView<const T> Z, MatrixView<const T> Y, int64_t j,
                          MatrixView<double> sums) {
  const int64_t width = kVectors * static_cast<int64_t>(hn::Lanes(tag));
  for (; j + width <= Z.cols; j += width) {
    ForOutputs<kMostOuts>(Y.cols, [&](auto outs, int64_t o) HWY_ATTR {
      Block<kVectors, decltype(outs)::count>(tag, Z, Y, j, o, sums);
    });
  }
  return j;
}

template <class T>
HWY_INLINE void SumOverRows(const ColumnProducts<T>& call) {
  const auto& [Z, Y, sums] = call;
  const Tag<T> tag;
  for (int64_t begin = 0; begin < Z.rows; begin += kColumnProductRows) {
    const int64_t end = HWY_MIN(Z.rows, begin + kColumnProductRows);
    const MatrixView<const T> some = Z.block_rows(begin, end), of = Y.block_rows(begin, end);
    int64_t j = Strips<kStripVectors>(tag, some, of, 0, sums);
    j = Strips<1>(tag, some, of, j, sums);
    Strips<1>(hn::CappedTag<T, 1>(), some, of, j, sums);
  }
}

MERCER_SIMD_PAIR(SumOverRows, ColumnProducts, SumOverRows)

MERCER_SIMD_END();

MERCER_SIMD_DOORS(add_column_products, SumOverRows, ColumnProducts)
