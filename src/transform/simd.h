// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one include of Highway. A .cpp defines HWY_TARGET_INCLUDE and includes this first; the rest
// of it is compiled once per target, so that part has no include guard. Code between
// MERCER_SIMD_BEGIN and MERCER_SIMD_END is in a namespace of its target and compiled for it.

// Scalable vectors cannot be array elements, which register blocks need; NEON covers those
// machines. Processors with SSSE3 but without SSE4 are older than 2008 and not worth a fifth of the
// compile time of these files.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include <hwy/foreach_target.h>  // NOLINT: re-includes HWY_TARGET_INCLUDE
//
#include <hwy/highway.h>

#ifndef MERCER_SIMD_BEGIN
#define MERCER_SIMD_BEGIN() \
  HWY_BEFORE_NAMESPACE();   \
  namespace mercer::transform::HWY_NAMESPACE {
#define MERCER_SIMD_END() \
  }                       \
  HWY_AFTER_NAMESPACE()
// Defines NameF32 and NameF64 from the template function(const Block<T>&).
#define MERCER_SIMD_PAIR(Name, Block, function)                  \
  void Name##F32(const Block<float>& block) { function(block); } \
  void Name##F64(const Block<double>& block) { function(block); }
// Exports NameF32 and NameF64 for HWY_DYNAMIC_DISPATCH.
#define MERCER_SIMD_EXPORT(Name) \
  HWY_EXPORT(Name##F32);         \
  HWY_EXPORT(Name##F64)
#endif

// Defines a header's function(const Block<T>&) by dispatch to NameF32 and NameF64: once, after the
// last target.
#undef MERCER_SIMD_DOORS
#if HWY_ONCE
#define MERCER_SIMD_DOORS(function, Name, Block)                                                 \
  namespace mercer::transform {                                                                  \
  MERCER_SIMD_EXPORT(Name);                                                                      \
  void function(const Block<float>& block) noexcept { HWY_DYNAMIC_DISPATCH(Name##F32)(block); }  \
  void function(const Block<double>& block) noexcept { HWY_DYNAMIC_DISPATCH(Name##F64)(block); } \
  }
#else
#define MERCER_SIMD_DOORS(function, Name, Block)
#endif

MERCER_SIMD_BEGIN();

namespace hn = hwy::HWY_NAMESPACE;

// 32 vector registers; other targets have 16.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;

// Vectors of at most one cache line.
template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

// Calls body(tag, j) for whole vectors, then lane by lane.
template <class T, class Body>
HWY_INLINE void ForEach(int64_t n, const Body& body) {
  const Tag<T> tag;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) body(tag, j);
  for (; j < n; ++j) body(one, j);
}

MERCER_SIMD_END();
