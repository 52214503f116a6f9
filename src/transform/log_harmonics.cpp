// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/log_harmonics.cpp"
#include "transform/log_harmonics.h"

#include <limits>

#include "transform/simd.h"
//
#include <hwy/contrib/math/math-inl.h>

#include "transform/sincos-inl.h"

MERCER_SIMD_BEGIN();

// The logarithm of numbers that are not positive and finite is unspecified.
template <class T>
HWY_INLINE void RootsAndLogs(const T* x, int64_t n, T turns, T* roots, T* logs) {
  ForEach<T>(n, [&](auto tag, int64_t k) HWY_ATTR {
    const auto v = hn::LoadU(tag, x + k);
    const auto usual =
        hn::And(hn::Gt(v, hn::Zero(tag)), hn::Le(v, hn::Set(tag, std::numeric_limits<T>::max())));
    const auto log = hn::Log(tag, hn::IfThenElse(usual, v, hn::Set(tag, T{1})));
    hn::StoreU(hn::Sqrt(v), tag, roots + k);
    hn::StoreU(hn::Mul(log, hn::Set(tag, turns)), tag, logs + k);
  });
}

template <class T>
HWY_INLINE void LogHarmonics(const T* roots, const T* logs, int64_t n, T order, T scale, T* cosines,
                             T* sines) {
  ForEach<T>(n, [&](auto tag, int64_t k) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    SinCosTurns(tag, hn::Mul(hn::LoadU(tag, logs + k), hn::Set(tag, order)),
                hn::Mul(hn::LoadU(tag, roots + k), hn::Set(tag, scale)), sine, cosine);
    hn::StoreU(cosine, tag, cosines + k);
    hn::StoreU(sine, tag, sines + k);
  });
}

void RootsAndLogsF32(const float* x, int64_t n, float turns, float* roots, float* logs) {
  RootsAndLogs(x, n, turns, roots, logs);
}
void RootsAndLogsF64(const double* x, int64_t n, double turns, double* roots, double* logs) {
  RootsAndLogs(x, n, turns, roots, logs);
}
void LogHarmonicsF32(const float* roots, const float* logs, int64_t n, float order, float scale,
                     float* cosines, float* sines) {
  LogHarmonics(roots, logs, n, order, scale, cosines, sines);
}
void LogHarmonicsF64(const double* roots, const double* logs, int64_t n, double order, double scale,
                     double* cosines, double* sines) {
  LogHarmonics(roots, logs, n, order, scale, cosines, sines);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(RootsAndLogs);
MERCER_SIMD_EXPORT(LogHarmonics);

void roots_and_logs(const float* x, int64_t n, float turns, float* roots, float* logs) noexcept {
  HWY_DYNAMIC_DISPATCH(RootsAndLogsF32)(x, n, turns, roots, logs);
}
void roots_and_logs(const double* x, int64_t n, double turns, double* roots,
                    double* logs) noexcept {
  HWY_DYNAMIC_DISPATCH(RootsAndLogsF64)(x, n, turns, roots, logs);
}
void log_harmonics(const float* roots, const float* logs, int64_t n, float order, float scale,
                   float* cosines, float* sines) noexcept {
  HWY_DYNAMIC_DISPATCH(LogHarmonicsF32)(roots, logs, n, order, scale, cosines, sines);
}
void log_harmonics(const double* roots, const double* logs, int64_t n, double order, double scale,
                   double* cosines, double* sines) noexcept {
  HWY_DYNAMIC_DISPATCH(LogHarmonicsF64)(roots, logs, n, order, scale, cosines, sines);
}

}  // namespace mercer::transform
#endif
