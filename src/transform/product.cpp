// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/product.cpp"
#include "transform/product.h"

#include "transform/simd.h"

MERCER_SIMD_BEGIN();

// (re, im)[j] *= (a, b).
template <class D, class T, class V>
HWY_INLINE void MultiplyComplex(D tag, V a, V b, T* re, T* im) {
  const V x = hn::LoadU(tag, re), y = hn::LoadU(tag, im);
  hn::StoreU(hn::NegMulAdd(y, b, hn::Mul(x, a)), tag, re);
  hn::StoreU(hn::MulAdd(y, a, hn::Mul(x, b)), tag, im);
}

template <class D>
HWY_INLINE auto LoadIndex(D, const int32_t* index) {
  const hn::Rebind<int32_t, D> narrow;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::LoadU(narrow, index);
  } else {
    return hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(narrow, index));
  }
}

template <class T>
HWY_INLINE void Block(const T* P, const T* bias, int64_t rows, int64_t columns, T* acc) {
  const Tag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; j += lanes) {
      const int64_t at = i * columns + j;
      const auto p = hn::Add(hn::LoadU(tag, P + at), hn::LoadU(tag, bias + j));
      hn::StoreU(hn::Mul(hn::LoadU(tag, acc + at), p), tag, acc + at);
    }
  }
}

template <class T>
HWY_INLINE void ComplexBlock(const T* P_re, const T* P_im, const T* bias_re, const T* bias_im,
                             int64_t rows, int64_t columns, T* re, T* im) {
  const Tag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; j += lanes) {
      const int64_t at = i * columns + j;
      const auto a = hn::Add(hn::LoadU(tag, P_re + at), hn::LoadU(tag, bias_re + j));
      const auto b = hn::Add(hn::LoadU(tag, P_im + at), hn::LoadU(tag, bias_im + j));
      MultiplyComplex(tag, a, b, re + at, im + at);
    }
  }
}

template <class T>
HWY_INLINE void Gathered(const T* table, const int32_t* index, int64_t n, T* acc) {
  ForEach<T>(n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto gathered = hn::GatherIndex(tag, table, LoadIndex(tag, index + j));
    hn::StoreU(hn::Mul(hn::LoadU(tag, acc + j), gathered), tag, acc + j);
  });
}

template <class T>
HWY_INLINE void GatheredComplex(const T* table_re, const T* table_im, const int32_t* index,
                                int64_t n, T* re, T* im) {
  ForEach<T>(n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto k = LoadIndex(tag, index + j);
    MultiplyComplex(tag, hn::GatherIndex(tag, table_re, k), hn::GatherIndex(tag, table_im, k),
                    re + j, im + j);
  });
}

template <class T>
HWY_INLINE void ScaleGathered(const T* table, const int32_t* index, T scale, int64_t n, T* acc) {
  ForEach<T>(n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto gathered = hn::GatherIndex(tag, table, LoadIndex(tag, index + j));
    hn::StoreU(hn::Mul(hn::Set(tag, scale), gathered), tag, acc + j);
  });
}

template <class T>
HWY_INLINE void Interleave(const T* re, const T* im, int64_t n, T* to) {
  const Tag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes)
    hn::StoreInterleaved2(hn::LoadU(tag, re + j), hn::LoadU(tag, im + j), tag, to + 2 * j);
  for (; j < n; ++j) {
    to[2 * j] = re[j];
    to[2 * j + 1] = im[j];
  }
}

void BlockF32(const float* P, const float* bias, int64_t rows, int64_t columns, float* acc) {
  Block(P, bias, rows, columns, acc);
}
void BlockF64(const double* P, const double* bias, int64_t rows, int64_t columns, double* acc) {
  Block(P, bias, rows, columns, acc);
}
void BlockC32(const float* P_re, const float* P_im, const float* bias_re, const float* bias_im,
              int64_t rows, int64_t columns, float* re, float* im) {
  ComplexBlock(P_re, P_im, bias_re, bias_im, rows, columns, re, im);
}
void BlockC64(const double* P_re, const double* P_im, const double* bias_re, const double* bias_im,
              int64_t rows, int64_t columns, double* re, double* im) {
  ComplexBlock(P_re, P_im, bias_re, bias_im, rows, columns, re, im);
}
void GatheredF32(const float* table, const int32_t* index, int64_t n, float* acc) {
  Gathered(table, index, n, acc);
}
void GatheredF64(const double* table, const int32_t* index, int64_t n, double* acc) {
  Gathered(table, index, n, acc);
}
void GatheredC32(const float* table_re, const float* table_im, const int32_t* index, int64_t n,
                 float* re, float* im) {
  GatheredComplex(table_re, table_im, index, n, re, im);
}
void GatheredC64(const double* table_re, const double* table_im, const int32_t* index, int64_t n,
                 double* re, double* im) {
  GatheredComplex(table_re, table_im, index, n, re, im);
}
void ScaleGatheredF32(const float* table, const int32_t* index, float scale, int64_t n,
                      float* acc) {
  ScaleGathered(table, index, scale, n, acc);
}
void ScaleGatheredF64(const double* table, const int32_t* index, double scale, int64_t n,
                      double* acc) {
  ScaleGathered(table, index, scale, n, acc);
}
void InterleaveF32(const float* re, const float* im, int64_t n, float* to) {
  Interleave(re, im, n, to);
}
void InterleaveF64(const double* re, const double* im, int64_t n, double* to) {
  Interleave(re, im, n, to);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Block);
HWY_EXPORT(BlockC32);
HWY_EXPORT(BlockC64);
MERCER_SIMD_EXPORT(Gathered);
HWY_EXPORT(GatheredC32);
HWY_EXPORT(GatheredC64);
MERCER_SIMD_EXPORT(ScaleGathered);
MERCER_SIMD_EXPORT(Interleave);

void multiply_block(const float* P, const float* bias, int64_t rows, int64_t columns,
                    float* acc) noexcept {
  HWY_DYNAMIC_DISPATCH(BlockF32)(P, bias, rows, columns, acc);
}
void multiply_block(const double* P, const double* bias, int64_t rows, int64_t columns,
                    double* acc) noexcept {
  HWY_DYNAMIC_DISPATCH(BlockF64)(P, bias, rows, columns, acc);
}
void multiply_block(const float* P_re, const float* P_im, const float* bias_re,
                    const float* bias_im, int64_t rows, int64_t columns, float* re,
                    float* im) noexcept {
  HWY_DYNAMIC_DISPATCH(BlockC32)(P_re, P_im, bias_re, bias_im, rows, columns, re, im);
}
void multiply_block(const double* P_re, const double* P_im, const double* bias_re,
                    const double* bias_im, int64_t rows, int64_t columns, double* re,
                    double* im) noexcept {
  HWY_DYNAMIC_DISPATCH(BlockC64)(P_re, P_im, bias_re, bias_im, rows, columns, re, im);
}
void multiply_gathered(const float* table, const int32_t* index, int64_t n, float* acc) noexcept {
  HWY_DYNAMIC_DISPATCH(GatheredF32)(table, index, n, acc);
}
void multiply_gathered(const double* table, const int32_t* index, int64_t n, double* acc) noexcept {
  HWY_DYNAMIC_DISPATCH(GatheredF64)(table, index, n, acc);
}
void multiply_gathered(const float* table_re, const float* table_im, const int32_t* index,
                       int64_t n, float* re, float* im) noexcept {
  HWY_DYNAMIC_DISPATCH(GatheredC32)(table_re, table_im, index, n, re, im);
}
void multiply_gathered(const double* table_re, const double* table_im, const int32_t* index,
                       int64_t n, double* re, double* im) noexcept {
  HWY_DYNAMIC_DISPATCH(GatheredC64)(table_re, table_im, index, n, re, im);
}
void scale_gathered(const float* table, const int32_t* index, float scale, int64_t n,
                    float* acc) noexcept {
  HWY_DYNAMIC_DISPATCH(ScaleGatheredF32)(table, index, scale, n, acc);
}
void scale_gathered(const double* table, const int32_t* index, double scale, int64_t n,
                    double* acc) noexcept {
  HWY_DYNAMIC_DISPATCH(ScaleGatheredF64)(table, index, scale, n, acc);
}
void interleave(const float* re, const float* im, int64_t n, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleaveF32)(re, im, n, to);
}
void interleave(const double* re, const double* im, int64_t n, double* to) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleaveF64)(re, im, n, to);
}

}  // namespace mercer::transform
#endif
