// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/elements.cpp"
#include "transform/simd.h"
//
#include "transform/elements.h"

MERCER_SIMD_BEGIN();

template <class T>
HWY_INLINE void Scale(const ElementCall<T>& call) {
  const auto plane = [&](const T* from, T* to) {
    ForEach<T>(call.n, [&](auto tag, int64_t j) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::Set(tag, call.scale), hn::LoadU(tag, from + j)), tag, to + j);
    });
  };
  plane(call.a.re, call.to.re);
  if (call.to.im != nullptr) plane(call.a.im, call.to.im);
}

// Pointers by name: clang before 16 captures no structured binding.
template <class T>
HWY_INLINE void Multiply(const ElementCall<T>& call) {
  auto *const u = call.a.re, *const v = call.a.im;
  auto *const x = call.to.re, *const y = call.to.im;
  ForEach<T>(call.n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto a = hn::LoadU(tag, u + j), p = hn::LoadU(tag, x + j);
    if (y == nullptr) return hn::StoreU(hn::Mul(p, a), tag, x + j);
    const auto b = hn::LoadU(tag, v + j), q = hn::LoadU(tag, y + j);
    hn::StoreU(hn::NegMulAdd(q, b, hn::Mul(p, a)), tag, x + j);
    hn::StoreU(hn::MulAdd(q, a, hn::Mul(p, b)), tag, y + j);
  });
}

template <class T>
HWY_INLINE void AddProducts(const ElementCall<T>& call) {
  auto *const u = call.a.re, *const v = call.a.im;
  auto *const p = call.b.re, *const q = call.b.im;
  auto *const x = call.to.re, *const y = call.to.im;
  ForEach<T>(call.n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto a = hn::LoadU(tag, u + j), c = hn::LoadU(tag, p + j);
    const auto re = hn::MulAdd(a, c, hn::LoadU(tag, x + j));
    if (y == nullptr) return hn::StoreU(re, tag, x + j);
    const auto b = hn::LoadU(tag, v + j), d = hn::LoadU(tag, q + j);
    hn::StoreU(hn::NegMulAdd(b, d, re), tag, x + j);
    hn::StoreU(hn::MulAdd(b, c, hn::MulAdd(a, d, hn::LoadU(tag, y + j))), tag, y + j);
  });
}

template <class T>
HWY_INLINE void MultiplyAndAdd(const ElementCall<T>& call) {
  auto *const u = call.a.re, *const v = call.a.im;
  auto *const p = call.b.re, *const q = call.b.im;
  auto *const r = call.c.re, *const s = call.c.im;
  auto *const x = call.to.re, *const y = call.to.im;
  ForEach<T>(call.n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto a = hn::LoadU(tag, u + j), c = hn::LoadU(tag, p + j);
    const auto f = hn::LoadU(tag, r + j), z = hn::LoadU(tag, x + j);
    const auto re = hn::MulAdd(a, c, hn::Mul(z, f));
    if (y == nullptr) return hn::StoreU(re, tag, x + j);
    const auto b = hn::LoadU(tag, v + j), d = hn::LoadU(tag, q + j);
    const auto g = hn::LoadU(tag, s + j), w = hn::LoadU(tag, y + j);
    const auto im = hn::MulAdd(b, c, hn::MulAdd(a, d, hn::Mul(z, g)));
    hn::StoreU(hn::NegMulAdd(b, d, hn::NegMulAdd(w, g, re)), tag, x + j);
    hn::StoreU(hn::MulAdd(w, f, im), tag, y + j);
  });
}

template <class T>
HWY_INLINE void ConjugateProducts(const ElementCall<T>& call) {
  auto *const u = call.a.re, *const v = call.a.im;
  auto *const p = call.b.re, *const q = call.b.im;
  auto *const x = call.to.re, *const y = call.to.im;
  ForEach<T>(call.n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto a = hn::LoadU(tag, u + j), c = hn::LoadU(tag, p + j);
    if (y == nullptr) return hn::StoreU(hn::Mul(a, c), tag, x + j);
    const auto b = hn::LoadU(tag, v + j), d = hn::LoadU(tag, q + j);
    hn::StoreU(hn::MulAdd(b, d, hn::Mul(a, c)), tag, x + j);
    hn::StoreU(hn::NegMulAdd(b, c, hn::Mul(a, d)), tag, y + j);
  });
}

// Every function of the header with its body above.
// clang-format off
#define MERCER_ELEMENTS(entry)            \
  entry(scale_elements, Scale)            \
  entry(multiply_elements, Multiply)      \
  entry(add_products, AddProducts)        \
  entry(multiply_and_add, MultiplyAndAdd) \
  entry(conjugate_products, ConjugateProducts)
// clang-format on

#define MERCER_BODY(function, Body) MERCER_SIMD_PAIR(Body, ElementCall, Body)
MERCER_ELEMENTS(MERCER_BODY)
#undef MERCER_BODY

template <class T>
HWY_INLINE void MultiplyReal(const T* diagonal, int64_t n, T* x) {
  ForEach<T>(n, [&](auto tag, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(tag, x + i), hn::LoadU(tag, diagonal + i)), tag, x + i);
  });
}

void MultiplyRealF32(const float* diagonal, int64_t n, float* x) { MultiplyReal(diagonal, n, x); }
void MultiplyRealF64(const double* diagonal, int64_t n, double* x) { MultiplyReal(diagonal, n, x); }

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

// Calls body(tag, at, j) for every vector of a block, from element `at` and column j on.
template <class T, class Body>
HWY_INLINE void ForEachInBlock(int64_t rows, int64_t columns, const Body& body) {
  const Tag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; j += lanes) body(tag, i * columns + j, j);
}

template <class T>
HWY_INLINE void Block(const T* P, const T* bias, int64_t rows, int64_t columns, T* acc) {
  ForEachInBlock<T>(rows, columns, [&](auto tag, int64_t at, int64_t j) HWY_ATTR {
    const auto p = hn::Add(hn::LoadU(tag, P + at), hn::LoadU(tag, bias + j));
    hn::StoreU(hn::Mul(hn::LoadU(tag, acc + at), p), tag, acc + at);
  });
}

template <class T>
HWY_INLINE void ComplexBlock(const T* P_re, const T* P_im, const T* bias_re, const T* bias_im,
                             int64_t rows, int64_t columns, T* re, T* im) {
  ForEachInBlock<T>(rows, columns, [&](auto tag, int64_t at, int64_t j) HWY_ATTR {
    const auto a = hn::Add(hn::LoadU(tag, P_re + at), hn::LoadU(tag, bias_re + j));
    const auto b = hn::Add(hn::LoadU(tag, P_im + at), hn::LoadU(tag, bias_im + j));
    MultiplyComplex(tag, a, b, re + at, im + at);
  });
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

// For one precision: F32 and C32, or F64 and C64.
#define MERCER_PRODUCTS(T, F, C)                                                                 \
  void Block##F(const T* P, const T* bias, int64_t rows, int64_t columns, T* acc) {              \
    Block(P, bias, rows, columns, acc);                                                          \
  }                                                                                              \
  void Block##C(const T* P_re, const T* P_im, const T* bias_re, const T* bias_im, int64_t rows,  \
                int64_t columns, T* re, T* im) {                                                 \
    ComplexBlock(P_re, P_im, bias_re, bias_im, rows, columns, re, im);                           \
  }                                                                                              \
  void Gathered##F(const T* table, const int32_t* index, int64_t n, T* acc) {                    \
    Gathered(table, index, n, acc);                                                              \
  }                                                                                              \
  void Gathered##C(const T* table_re, const T* table_im, const int32_t* index, int64_t n, T* re, \
                   T* im) {                                                                      \
    GatheredComplex(table_re, table_im, index, n, re, im);                                       \
  }                                                                                              \
  void ScaleGathered##F(const T* table, const int32_t* index, T scale, int64_t n, T* acc) {      \
    ScaleGathered(table, index, scale, n, acc);                                                  \
  }                                                                                              \
  void Interleave##F(const T* re, const T* im, int64_t n, T* to) { Interleave(re, im, n, to); }
MERCER_PRODUCTS(float, F32, C32)
MERCER_PRODUCTS(double, F64, C64)
#undef MERCER_PRODUCTS

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

#define MERCER_DOORS(function, Body) MERCER_SIMD_DOORS(function, Body, ElementCall)
MERCER_ELEMENTS(MERCER_DOORS)
#undef MERCER_DOORS
#undef MERCER_ELEMENTS

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(MultiplyReal);

void multiply(const float* diagonal, int64_t n, float* x) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyRealF32)(diagonal, n, x);
}
void multiply(const double* diagonal, int64_t n, double* x) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyRealF64)(diagonal, n, x);
}

MERCER_SIMD_EXPORT(Block);
HWY_EXPORT(BlockC32);
HWY_EXPORT(BlockC64);
MERCER_SIMD_EXPORT(Gathered);
HWY_EXPORT(GatheredC32);
HWY_EXPORT(GatheredC64);
MERCER_SIMD_EXPORT(ScaleGathered);
MERCER_SIMD_EXPORT(Interleave);

#define MERCER_PRODUCTS(T, F, C)                                                                   \
  void multiply_block(const T* P, const T* bias, int64_t rows, int64_t columns, T* acc) noexcept { \
    HWY_DYNAMIC_DISPATCH(Block##F)(P, bias, rows, columns, acc);                                   \
  }                                                                                                \
  void multiply_block(const T* P_re, const T* P_im, const T* bias_re, const T* bias_im,            \
                      int64_t rows, int64_t columns, T* re, T* im) noexcept {                      \
    HWY_DYNAMIC_DISPATCH(Block##C)(P_re, P_im, bias_re, bias_im, rows, columns, re, im);           \
  }                                                                                                \
  void multiply_gathered(const T* table, const int32_t* index, int64_t n, T* acc) noexcept {       \
    HWY_DYNAMIC_DISPATCH(Gathered##F)(table, index, n, acc);                                       \
  }                                                                                                \
  void multiply_gathered(const T* table_re, const T* table_im, const int32_t* index, int64_t n,    \
                         T* re, T* im) noexcept {                                                  \
    HWY_DYNAMIC_DISPATCH(Gathered##C)(table_re, table_im, index, n, re, im);                       \
  }                                                                                                \
  void scale_gathered(const T* table, const int32_t* index, T scale, int64_t n, T* acc) noexcept { \
    HWY_DYNAMIC_DISPATCH(ScaleGathered##F)(table, index, scale, n, acc);                           \
  }                                                                                                \
  void interleave(const T* re, const T* im, int64_t n, T* to) noexcept {                           \
    HWY_DYNAMIC_DISPATCH(Interleave##F)(re, im, n, to);                                            \
  }
MERCER_PRODUCTS(float, F32, C32)
MERCER_PRODUCTS(double, F64, C64)
#undef MERCER_PRODUCTS

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
