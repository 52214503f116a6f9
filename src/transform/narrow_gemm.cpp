// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Blocks of kRows x kOuts sums of vectors stay in registers while a slice of the rows passes by; a
// slice's sums are added up across lanes, then to the result. The order of additions does not
// depend on the block a number falls in.
#define HWY_TARGET_INCLUDE "transform/narrow_gemm.cpp"
#include "transform/simd.h"
//
#include <hwy/cache_control.h>

#include "transform/narrow_gemm.h"
#include "transform/register_block-inl.h"

MERCER_SIMD_BEGIN();

// Columns of Z and W kept in cache together.
constexpr int64_t kDepth = 512;
// Four rows of Z times this many outputs, with operands, fit the register file.
constexpr int kMostOuts = kManyRegisters ? 4 : 3;

template <int kRows, int kOuts, class T>
HWY_INLINE void Block(MatrixView<const T> Z, MatrixView<const T> W, int64_t i0, int64_t o0,
                      int64_t begin, int64_t end, MatrixView<T> out) {
  const Tag<T> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V sums[kRows][kOuts];
  SetZero(tag, sums);
  int64_t j = begin;
  for (; j + lanes <= end; j += lanes) {
    V w[kOuts];
#pragma GCC unroll 4
    for (int o = 0; o < kOuts; ++o) w[o] = hn::LoadU(tag, W.row(o0 + o) + j);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const V z = hn::LoadU(tag, Z.row(i0 + i) + j);
#pragma GCC unroll 4
      for (int o = 0; o < kOuts; ++o) sums[i][o] = hn::MulAdd(z, w[o], sums[i][o]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int o = 0; o < kOuts; ++o) {
      T sum = hn::GetLane(hn::SumOfLanes(tag, sums[i][o]));
      for (int64_t k = j; k < end; ++k) sum += Z(i0 + i, k) * W(o0 + o, k);
      out(i0 + i, o0 + o) = begin == 0 ? sum : out(i0 + i, o0 + o) + sum;
    }
  }
}

template <int kRows, class T>
HWY_INLINE int64_t RowBlocks(MatrixView<const T> Z, MatrixView<const T> W, int64_t i, int64_t begin,
                             int64_t end, MatrixView<T> out) {
  for (; i + kRows <= Z.rows; i += kRows) {
    ForOutputs<kMostOuts>(W.rows, [&](auto outs, int64_t o) HWY_ATTR {
      Block<kRows, decltype(outs)::count>(Z, W, i, o, begin, end, out);
    });
  }
  return i;
}

template <class T>
HWY_INLINE void SumOverColumns(const RowProducts<T>& call) {
  const auto& [Z, W, out] = call;
  if (Z.cols == 0) {
    for (int64_t i = 0; i < out.rows; ++i)
      for (int64_t o = 0; o < out.cols; ++o) out(i, o) = T{0};
  }
  for (int64_t begin = 0; begin < Z.cols; begin += kDepth) {
    const int64_t end = HWY_MIN(Z.cols, begin + kDepth);
    const int64_t i = RowBlocks<4>(Z, W, 0, begin, end, out);
    RowBlocks<1>(Z, W, i, begin, end, out);
  }
}

MERCER_SIMD_PAIR(SumOverColumns, RowProducts, SumOverColumns)

// Blocks of kVectors x kOuts sums stay in registers while the rows of a slice pass by; each row
// contributes whole vectors of Z times single numbers of Y. Lanes are columns of Z, so there are no
// sums across lanes. The first outputs prefetch a block-wide strip of Z, since its rows lie too far
// apart for the hardware prefetcher; the others read it from L1.

// Rows between prefetching and multiplying.
constexpr int64_t kAhead = 8;
// Together with the operands they fill at most the register file.
constexpr int kStripVectors = kManyRegisters ? 4 : 2;
constexpr int kMostColumnOuts = 4;

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
    ForOutputs<kMostColumnOuts>(Y.cols, [&](auto outs, int64_t o) HWY_ATTR {
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

MERCER_SIMD_DOORS(row_products, SumOverColumns, RowProducts)

MERCER_SIMD_DOORS(add_column_products, SumOverRows, ColumnProducts)

MERCER_SIMD_DOORS(widen_row, Widen, WideRow)

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(Round);
void round_row(const double* from, int64_t count, double factor, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(Round)(from, count, factor, to);
}

}  // namespace mercer::transform
#endif
