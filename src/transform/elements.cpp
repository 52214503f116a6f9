// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/elements.cpp"
#include "transform/elements.h"

#include "transform/simd.h"

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

template <class T>
HWY_INLINE void Multiply(const ElementCall<T>& call) {
  const auto [u, v] = call.a;
  const auto [x, y] = call.to;
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
  const auto [u, v] = call.a;
  const auto [p, q] = call.b;
  const auto [x, y] = call.to;
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
  const auto [u, v] = call.a;
  const auto [p, q] = call.b;
  const auto [r, s] = call.c;
  const auto [x, y] = call.to;
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
  const auto [u, v] = call.a;
  const auto [p, q] = call.b;
  const auto [x, y] = call.to;
  ForEach<T>(call.n, [&](auto tag, int64_t j) HWY_ATTR {
    const auto a = hn::LoadU(tag, u + j), c = hn::LoadU(tag, p + j);
    if (y == nullptr) return hn::StoreU(hn::Mul(a, c), tag, x + j);
    const auto b = hn::LoadU(tag, v + j), d = hn::LoadU(tag, q + j);
    hn::StoreU(hn::MulAdd(b, d, hn::Mul(a, c)), tag, x + j);
    hn::StoreU(hn::NegMulAdd(b, c, hn::Mul(a, d)), tag, y + j);
  });
}

MERCER_SIMD_PAIR(Scale, ElementCall, Scale)
MERCER_SIMD_PAIR(Multiply, ElementCall, Multiply)
MERCER_SIMD_PAIR(AddProducts, ElementCall, AddProducts)
MERCER_SIMD_PAIR(MultiplyAndAdd, ElementCall, MultiplyAndAdd)
MERCER_SIMD_PAIR(ConjugateProducts, ElementCall, ConjugateProducts)

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Scale);
MERCER_SIMD_EXPORT(Multiply);
MERCER_SIMD_EXPORT(AddProducts);
MERCER_SIMD_EXPORT(MultiplyAndAdd);
MERCER_SIMD_EXPORT(ConjugateProducts);

void scale_elements(const ElementCall<float>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(ScaleF32)(call);
}
void scale_elements(const ElementCall<double>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(ScaleF64)(call);
}
void multiply_elements(const ElementCall<float>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF32)(call);
}
void multiply_elements(const ElementCall<double>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF64)(call);
}
void add_products(const ElementCall<float>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(AddProductsF32)(call);
}
void add_products(const ElementCall<double>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(AddProductsF64)(call);
}
void multiply_and_add(const ElementCall<float>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyAndAddF32)(call);
}
void multiply_and_add(const ElementCall<double>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyAndAddF64)(call);
}
void conjugate_products(const ElementCall<float>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(ConjugateProductsF32)(call);
}
void conjugate_products(const ElementCall<double>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(ConjugateProductsF64)(call);
}

}  // namespace mercer::transform
#endif
