// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/lanes.cpp"
#include "transform/simd.h"
//
#include "transform/lanes.h"

MERCER_SIMD_BEGIN();

template <class T>
using HalfTag = hn::CappedTag<T, 32 / sizeof(T)>;

// The side of a square of 128-bit vectors.
#if HWY_TARGET == HWY_SCALAR
template <class T>
HWY_INLINE void TransposeSquare(const T* in, int64_t ld_in, T* out, int64_t ld_out) {
  constexpr int64_t kSide = 16 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < kSide; ++i) {
    for (int64_t j = 0; j < kSide; ++j) out[j * ld_out + i] = in[i * ld_in + j];
  }
}
#else
HWY_INLINE void TransposeSquare(const float* in, int64_t ld_in, float* out, int64_t ld_out) {
  const hn::FixedTag<float, 4> tag;
  const hn::FixedTag<double, 2> wide;
  const auto a = hn::LoadU(tag, in), b = hn::LoadU(tag, in + ld_in),
             c = hn::LoadU(tag, in + 2 * ld_in), d = hn::LoadU(tag, in + 3 * ld_in);
  const auto ab = hn::BitCast(wide, hn::InterleaveLower(tag, a, b));
  const auto cd = hn::BitCast(wide, hn::InterleaveLower(tag, c, d));
  const auto AB = hn::BitCast(wide, hn::InterleaveUpper(tag, a, b));
  const auto CD = hn::BitCast(wide, hn::InterleaveUpper(tag, c, d));
  hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(wide, ab, cd)), tag, out);
  hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(wide, ab, cd)), tag, out + ld_out);
  hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(wide, AB, CD)), tag, out + 2 * ld_out);
  hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(wide, AB, CD)), tag, out + 3 * ld_out);
}
HWY_INLINE void TransposeSquare(const double* in, int64_t ld_in, double* out, int64_t ld_out) {
  const hn::FixedTag<double, 2> tag;
  const auto a = hn::LoadU(tag, in), b = hn::LoadU(tag, in + ld_in);
  hn::StoreU(hn::InterleaveLower(tag, a, b), tag, out);
  hn::StoreU(hn::InterleaveUpper(tag, a, b), tag, out + ld_out);
}
#endif

template <class T>
HWY_INLINE void Transpose(const T* in, int64_t rows, int64_t cols, int64_t ld_in, T* out,
                          int64_t ld_out) {
  constexpr int64_t kSide = 16 / static_cast<int64_t>(sizeof(T));
  const int64_t whole_rows = rows / kSide * kSide, whole_cols = cols / kSide * kSide;
  for (int64_t j = 0; j < whole_cols; j += kSide) {
    for (int64_t i = 0; i < whole_rows; i += kSide)
      TransposeSquare(in + i * ld_in + j, ld_in, out + j * ld_out + i, ld_out);
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_cols : 0; j < cols; ++j)
      out[j * ld_out + i] = in[i * ld_in + j];
  }
}

// Real u.
template <bool kComplex, class T>
HWY_INLINE void MultiplyReal(const T* u, const Diagonal<T>& diagonal, int64_t n, T* out) {
  const HalfTag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t k = 0; k < n; ++k, u += kLanes<T>, out += (kComplex ? 2 : 1) * kLanes<T>) {
    for (int64_t v = 0; v < kLanes<T>; v += lanes) {
      const auto x = hn::Load(tag, u + v);
      hn::Store(hn::Mul(x, hn::Set(tag, diagonal.re[k])), tag, out + v);
      if (kComplex) hn::Store(hn::Mul(x, hn::Set(tag, diagonal.im[k])), tag, out + kLanes<T> + v);
    }
  }
}

template <class T>
HWY_INLINE void MultiplyComplex(const T* u_re, const T* u_im, const Diagonal<T>& diagonal,
                                int64_t n, T* out) {
  const HalfTag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t k = 0; k < n; ++k, out += 2 * kLanes<T>) {
    const auto a = hn::Set(tag, diagonal.re[k]), b = hn::Set(tag, diagonal.im[k]);
    for (int64_t v = 0; v < kLanes<T>; v += lanes) {
      const auto x = hn::Load(tag, u_re + k * kLanes<T> + v);
      const auto y = hn::Load(tag, u_im + k * kLanes<T> + v);
      hn::Store(hn::Sub(hn::Mul(a, x), hn::Mul(b, y)), tag, out + v);
      hn::Store(hn::Add(hn::Mul(a, y), hn::Mul(b, x)), tag, out + kLanes<T> + v);
    }
  }
}

template <class T>
HWY_INLINE void MultiplyLanes(const T* u_re, const T* u_im, const Diagonal<T>& diagonal, int64_t n,
                              T* out) {
  if (u_im != nullptr) return MultiplyComplex(u_re, u_im, diagonal, n, out);
  if (diagonal.im != nullptr) return MultiplyReal<true>(u_re, diagonal, n, out);
  MultiplyReal<false>(u_re, diagonal, n, out);
}

// kFactors tables at a time, their addresses in registers: acc (one or two planes) is the product
// of the earlier factors, or the scale for the first.
template <int kFactors, bool kFirst, class T>
HWY_INLINE void GatherReal(const T* tables, int64_t table_step, const int32_t* index,
                           int64_t index_step, T scale, int64_t n, T* re) {
  const HalfTag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t j = 0; j < n; ++j, re += kLanes<T>) {
    for (int64_t v = 0; v < kLanes<T>; v += lanes) {
      auto x = kFirst ? hn::Set(tag, scale) : hn::Load(tag, re + v);
#pragma GCC unroll 4
      for (int i = 0; i < kFactors; ++i) {
        const int64_t k = index[i * index_step + j];
        x = hn::Mul(x, hn::Load(tag, tables + i * table_step + k * kLanes<T> + v));
      }
      hn::Store(x, tag, re + v);
    }
  }
}

template <int kFactors, bool kFirst, class T>
HWY_INLINE void GatherComplex(const T* tables, int64_t table_step, const int32_t* index,
                              int64_t index_step, T scale, int64_t n, T* re, T* im) {
  const HalfTag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  const auto share = hn::Set(tag, scale);
  for (int64_t j = 0; j < n; ++j, re += kLanes<T>, im += kLanes<T>) {
    for (int64_t v = 0; v < kLanes<T>; v += lanes) {
      auto x = hn::Load(tag, kFirst ? tables + index[j] * 2 * kLanes<T> + v : re + v);
      auto y = hn::Load(tag, kFirst ? tables + (index[j] * 2 + 1) * kLanes<T> + v : im + v);
      if (kFirst) {
        x = hn::Mul(x, share);
        y = hn::Mul(y, share);
      }
#pragma GCC unroll 4
      for (int i = kFirst ? 1 : 0; i < kFactors; ++i) {
        const int64_t k = index[i * index_step + j];
        const T* table = tables + i * table_step + k * 2 * kLanes<T> + v;
        const auto a = hn::Load(tag, table), b = hn::Load(tag, table + kLanes<T>);
        const auto real = hn::NegMulAdd(y, b, hn::Mul(x, a));
        y = hn::MulAdd(y, a, hn::Mul(x, b));
        x = real;
      }
      hn::Store(x, tag, re + v);
      hn::Store(y, tag, im + v);
    }
  }
}

template <int kFactors, bool kFirst, class T>
HWY_INLINE void GatherFactors(const LaneGather& gather, const T* tables, const int32_t* index,
                              T scale, int64_t n, T* re, T* im) {
  if (gather.parts == 1) {
    GatherReal<kFactors, kFirst>(tables, gather.table_step, index, gather.index_step, scale, n, re);
  } else {
    GatherComplex<kFactors, kFirst>(tables, gather.table_step, index, gather.index_step, scale, n,
                                    re, im);
  }
}

// Multiplies by up to four of the remaining factors; returns how many.
template <bool kFirst, class T>
HWY_INLINE int64_t GatherSome(const LaneGather& gather, int64_t left, const T* tables,
                              const int32_t* index, T scale, int64_t n, T* re, T* im) {
  if (left >= 4) return GatherFactors<4, kFirst>(gather, tables, index, scale, n, re, im), 4;
  if (left == 3) return GatherFactors<3, kFirst>(gather, tables, index, scale, n, re, im), 3;
  if (left == 2) return GatherFactors<2, kFirst>(gather, tables, index, scale, n, re, im), 2;
  return GatherFactors<1, kFirst>(gather, tables, index, scale, n, re, im), 1;
}

template <class T>
HWY_INLINE void GatherLanes(const LaneGather& gather, const T* tables, const int32_t* index,
                            T scale, int64_t n, T* re, T* im) {
  int64_t done = GatherSome<true>(gather, gather.factors, tables, index, scale, n, re, im);
  while (done < gather.factors) {
    done += GatherSome<false>(gather, gather.factors - done, tables + done * gather.table_step,
                              index + done * gather.index_step, scale, n, re, im);
  }
}

void TransposeF32(const float* in, int64_t rows, int64_t cols, int64_t ld_in, float* out,
                  int64_t ld_out) {
  Transpose(in, rows, cols, ld_in, out, ld_out);
}
void TransposeF64(const double* in, int64_t rows, int64_t cols, int64_t ld_in, double* out,
                  int64_t ld_out) {
  Transpose(in, rows, cols, ld_in, out, ld_out);
}
void MultiplyF32(const float* u_re, const float* u_im, const Diagonal<float>& diagonal, int64_t n,
                 float* out) {
  MultiplyLanes(u_re, u_im, diagonal, n, out);
}
void MultiplyF64(const double* u_re, const double* u_im, const Diagonal<double>& diagonal,
                 int64_t n, double* out) {
  MultiplyLanes(u_re, u_im, diagonal, n, out);
}
void GatherF32(const LaneGather& gather, const float* tables, const int32_t* index, float scale,
               int64_t n, float* re, float* im) {
  GatherLanes(gather, tables, index, scale, n, re, im);
}
void GatherF64(const LaneGather& gather, const double* tables, const int32_t* index, double scale,
               int64_t n, double* re, double* im) {
  GatherLanes(gather, tables, index, scale, n, re, im);
}

#if HWY_TARGET == HWY_SCALAR

template <class T>
void InterleaveRows(const T* in, int64_t ld, int64_t n, T* out) {
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t r = 0; r < kPermutedRows<T>; ++r) out[k * kPermutedRows<T> + r] = in[r * ld + k];
  }
}

template <class T, class I>
void PermuteRows(const T* in, const I* index, int64_t n, T* out, int64_t ld) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t r = 0; r < kPermutedRows<T>; ++r)
      out[r * ld + i] = in[index[i] * kPermutedRows<T> + r];
  }
}

#else

HWY_INLINE void InterleaveRows(const float* in, int64_t ld, int64_t n, float* out) {
  const Tag<float> tag;
  for (int64_t k = 0; k < n; k += static_cast<int64_t>(hn::Lanes(tag))) {
    hn::StoreInterleaved4(hn::LoadU(tag, in + k), hn::LoadU(tag, in + ld + k),
                          hn::LoadU(tag, in + 2 * ld + k), hn::LoadU(tag, in + 3 * ld + k), tag,
                          out + 4 * k);
  }
}
HWY_INLINE void InterleaveRows(const double* in, int64_t ld, int64_t n, double* out) {
  const Tag<double> tag;
  for (int64_t k = 0; k < n; k += static_cast<int64_t>(hn::Lanes(tag)))
    hn::StoreInterleaved2(hn::LoadU(tag, in + k), hn::LoadU(tag, in + ld + k), tag, out + 2 * k);
}

// Block b of 16 bytes holds element index[b kPermutedRows].
template <class D, class T, class I>
HWY_INLINE hn::Vec<D> LoadElements(D tag, const T* in, const I* index) {
  if constexpr (hn::MaxLanes(D()) == kPermutedRows<T>) {
    return hn::Load(tag, in + index[0] * kPermutedRows<T>);
  } else {
    const hn::Half<D> half;
    return hn::Combine(tag, LoadElements(half, in, index + hn::MaxLanes(half)),
                       LoadElements(half, in, index));
  }
}

HWY_INLINE void PermuteRows(const float* in, const int32_t* index, int64_t n, float* out,
                            int64_t ld) {
  const Tag<float> tag;
  const hn::Repartition<double, decltype(tag)> wide;
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(tag))) {
    const auto a = LoadElements(tag, in, index + i), b = LoadElements(tag, in, index + i + 1);
    const auto c = LoadElements(tag, in, index + i + 2), d = LoadElements(tag, in, index + i + 3);
    const auto ab = hn::BitCast(wide, hn::InterleaveLower(tag, a, b));
    const auto cd = hn::BitCast(wide, hn::InterleaveLower(tag, c, d));
    const auto AB = hn::BitCast(wide, hn::InterleaveUpper(tag, a, b));
    const auto CD = hn::BitCast(wide, hn::InterleaveUpper(tag, c, d));
    hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(wide, ab, cd)), tag, out + i);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(wide, ab, cd)), tag, out + ld + i);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(wide, AB, CD)), tag, out + 2 * ld + i);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(wide, AB, CD)), tag, out + 3 * ld + i);
  }
}
HWY_INLINE void PermuteRows(const double* in, const int64_t* index, int64_t n, double* out,
                            int64_t ld) {
  const Tag<double> tag;
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(tag))) {
    const auto a = LoadElements(tag, in, index + i), b = LoadElements(tag, in, index + i + 1);
    hn::StoreU(hn::InterleaveLower(tag, a, b), tag, out + i);
    hn::StoreU(hn::InterleaveUpper(tag, a, b), tag, out + ld + i);
  }
}

#endif

void InterleaveF32(const float* in, int64_t ld, int64_t n, float* out) {
  InterleaveRows(in, ld, n, out);
}
void InterleaveF64(const double* in, int64_t ld, int64_t n, double* out) {
  InterleaveRows(in, ld, n, out);
}
void PermuteF32(const float* in, const int32_t* index, int64_t n, float* out, int64_t ld) {
  PermuteRows(in, index, n, out, ld);
}
void PermuteF64(const double* in, const int64_t* index, int64_t n, double* out, int64_t ld) {
  PermuteRows(in, index, n, out, ld);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Transpose);
MERCER_SIMD_EXPORT(Multiply);
MERCER_SIMD_EXPORT(Gather);

void transpose(const float* in, int64_t rows, int64_t cols, int64_t ld_in, float* out,
               int64_t ld_out) noexcept {
  HWY_DYNAMIC_DISPATCH(TransposeF32)(in, rows, cols, ld_in, out, ld_out);
}
void transpose(const double* in, int64_t rows, int64_t cols, int64_t ld_in, double* out,
               int64_t ld_out) noexcept {
  HWY_DYNAMIC_DISPATCH(TransposeF64)(in, rows, cols, ld_in, out, ld_out);
}
void multiply_lanes(const float* u_re, const float* u_im, const Diagonal<float>& diagonal,
                    int64_t n, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF32)(u_re, u_im, diagonal, n, out);
}
void multiply_lanes(const double* u_re, const double* u_im, const Diagonal<double>& diagonal,
                    int64_t n, double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF64)(u_re, u_im, diagonal, n, out);
}
void gather_lanes(const LaneGather& gather, const float* tables, const int32_t* index, float scale,
                  int64_t n, float* re, float* im) noexcept {
  HWY_DYNAMIC_DISPATCH(GatherF32)(gather, tables, index, scale, n, re, im);
}
void gather_lanes(const LaneGather& gather, const double* tables, const int32_t* index,
                  double scale, int64_t n, double* re, double* im) noexcept {
  HWY_DYNAMIC_DISPATCH(GatherF64)(gather, tables, index, scale, n, re, im);
}

MERCER_SIMD_EXPORT(Interleave);
MERCER_SIMD_EXPORT(Permute);

void interleave_rows(const float* in, int64_t ld, int64_t n, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleaveF32)(in, ld, n, out);
}
void interleave_rows(const double* in, int64_t ld, int64_t n, double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleaveF64)(in, ld, n, out);
}
void permute_rows(const float* in, const int32_t* index, int64_t n, float* out,
                  int64_t ld) noexcept {
  HWY_DYNAMIC_DISPATCH(PermuteF32)(in, index, n, out, ld);
}
void permute_rows(const double* in, const int64_t* index, int64_t n, double* out,
                  int64_t ld) noexcept {
  HWY_DYNAMIC_DISPATCH(PermuteF64)(in, index, n, out, ld);
}

namespace {

template <class T, class I>
void gather_numbers(const T* __restrict in, const I* __restrict index, int64_t n,
                    T* __restrict out) noexcept {
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) out[i] = in[index[i]];
}

}  // namespace

void gather(const float* in, const int32_t* index, int64_t n, float* out) noexcept {
  gather_numbers(in, index, n, out);
}
void gather(const double* in, const int64_t* index, int64_t n, double* out) noexcept {
  gather_numbers(in, index, n, out);
}

}  // namespace mercer::transform
#endif
