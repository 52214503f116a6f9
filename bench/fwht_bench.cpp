// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The Walsh-Hadamard transform against a straightforward radix-2 AVX2 loop (x86 only) per row, and
// against one copy of the bytes for batches larger than the last-level cache. Lengths 2^6 ... 2^16.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>

#include "base/aligned.h"
#include "transform/hadamard.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace mercer;

namespace {

constexpr int64_t kCachedFloats = 1 << 13;
constexpr int64_t kLargeFloats = 1 << 26;

AlignedBuffer<float> filled(int64_t count) {
  AlignedBuffer<float> x(count);
  for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 7) - 3;
  return x;
}

void count_rows(benchmark::State& state, int64_t rows) {
  state.counters["us/row"] = benchmark::Counter(
      static_cast<double>(rows) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void fwht_rows(benchmark::State& state) {
  const int64_t n = state.range(0), rows = std::max<int64_t>(1, kCachedFloats / n);
  const AlignedBuffer<float> x = filled(n * rows);
  AlignedBuffer<float> zero(n * rows);
  std::memset(zero.data(), 0, static_cast<size_t>(zero.size()) * sizeof(float));
  for (auto _ : state) {
    transform::fwht(zero.data(), n, rows);
    benchmark::ClobberMemory();
  }
  count_rows(state, rows);
}
BENCHMARK(fwht_rows)->RangeMultiplier(2)->Range(1 << 6, 1 << 16);

#if defined(__x86_64__)
[[gnu::target("avx2")]] void radix2(float* x, int64_t n) {
  const __m256 pairs = _mm256_setr_ps(0.f, -0.f, 0.f, -0.f, 0.f, -0.f, 0.f, -0.f);
  const __m256 quads = _mm256_setr_ps(0.f, 0.f, -0.f, -0.f, 0.f, 0.f, -0.f, -0.f);
  const __m256 halves = _mm256_setr_ps(0.f, 0.f, 0.f, 0.f, -0.f, -0.f, -0.f, -0.f);
  for (int64_t i = 0; i < n; i += 8) {
    __m256 v = _mm256_loadu_ps(x + i);
    v = _mm256_add_ps(_mm256_moveldup_ps(v), _mm256_xor_ps(_mm256_movehdup_ps(v), pairs));
    v = _mm256_add_ps(_mm256_permute_ps(v, 0x44), _mm256_xor_ps(_mm256_permute_ps(v, 0xEE), quads));
    v = _mm256_add_ps(_mm256_permute2f128_ps(v, v, 0x00),
                      _mm256_xor_ps(_mm256_permute2f128_ps(v, v, 0x11), halves));
    _mm256_storeu_ps(x + i, v);
  }
  for (int64_t h = 8; h < n; h *= 2) {
    for (int64_t i = 0; i < n; i += 2 * h) {
      for (int64_t j = i; j < i + h; j += 8) {
        const __m256 a = _mm256_loadu_ps(x + j), b = _mm256_loadu_ps(x + j + h);
        _mm256_storeu_ps(x + j, _mm256_add_ps(a, b));
        _mm256_storeu_ps(x + j + h, _mm256_sub_ps(a, b));
      }
    }
  }
}

void radix2_rows(benchmark::State& state) {
  const int64_t n = state.range(0), rows = std::max<int64_t>(1, kCachedFloats / n);
  const AlignedBuffer<float> x = filled(n);
  const AlignedBuffer<float> y = filled(n);
  transform::fwht(x.data(), n, 1);
  radix2(y.data(), n);
  if (std::memcmp(x.data(), y.data(), static_cast<size_t>(n) * sizeof(float)) != 0)
    state.SkipWithError("transforms differ");
  AlignedBuffer<float> zero(n * rows);
  std::memset(zero.data(), 0, static_cast<size_t>(zero.size()) * sizeof(float));
  for (auto _ : state) {
    for (int64_t i = 0; i < rows; ++i) radix2(zero.data() + i * n, n);
    benchmark::ClobberMemory();
  }
  count_rows(state, rows);
}
BENCHMARK(radix2_rows)->RangeMultiplier(2)->Range(1 << 6, 1 << 16);
#endif

void fwht_large_batch(benchmark::State& state) {
  const int64_t n = state.range(0);
  AlignedBuffer<float> x(kLargeFloats);
  std::memset(x.data(), 0, kLargeFloats * sizeof(float));
  for (auto _ : state) transform::fwht(x.data(), n, kLargeFloats / n);
  state.SetBytesProcessed(state.iterations() * kLargeFloats * static_cast<int64_t>(sizeof(float)));
}
BENCHMARK(fwht_large_batch)
    ->RangeMultiplier(2)
    ->Range(1 << 6, 1 << 16)
    ->Unit(benchmark::kMillisecond);

void copy_large_batch(benchmark::State& state) {
  AlignedBuffer<float> x(kLargeFloats), y(kLargeFloats);
  std::memset(x.data(), 0, kLargeFloats * sizeof(float));
  std::memset(y.data(), 0, kLargeFloats * sizeof(float));
  for (auto _ : state) {
    std::memcpy(y.data(), x.data(), kLargeFloats * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * kLargeFloats * static_cast<int64_t>(sizeof(float)));
}
BENCHMARK(copy_large_batch)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
