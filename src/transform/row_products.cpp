// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Blocks of kRows x kOuts sums of vectors stay in registers while a slice of the rows passes by; a
// slice's sums are added up across lanes, then to the result. The order of additions does not
// depend on the block a number falls in.
#define HWY_TARGET_INCLUDE "transform/row_products.cpp"
#include "transform/narrow_products.h"
#include "transform/simd.h"
//
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

MERCER_SIMD_END();

MERCER_SIMD_DOORS(row_products, SumOverColumns, RowProducts)
