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

MERCER_SIMD_END();

#define MERCER_DOORS(function, Body) MERCER_SIMD_DOORS(function, Body, ElementCall)
MERCER_ELEMENTS(MERCER_DOORS)
#undef MERCER_DOORS
#undef MERCER_ELEMENTS
