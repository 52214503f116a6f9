// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Binary codes: rows to codes beside the transform of the same map, and Hamming distances of all
// pairs, in distances a second, against one popcount of a word at a time. Each case is checked
// before it is timed.
//   mercer_codes_bench --benchmark_filter=hamming
#include <benchmark/benchmark.h>

#include <bit>
#include <chrono>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "feature/binary_codes.h"
#include "feature/fourier.h"
#include "kernel/kernel.h"
#include "random/distributions.h"

using namespace mercer;

namespace {

std::vector<uint64_t> random_codes(int64_t count, int64_t words, uint64_t seed) {
  std::vector<uint64_t> codes(count * words);
  const random::Stream stream(seed, random::Tag::generated, 0);
  for (size_t i = 0; i < codes.size(); ++i) {
    const random::Words drawn = stream.block(i);
    codes[i] = drawn[0] + (static_cast<uint64_t>(drawn[1]) << 32);
  }
  return codes;
}

void plain_distances(int64_t words, int64_t n, const uint64_t* A, int64_t m, const uint64_t* B,
                     int32_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      int bits = 0;
      for (int64_t w = 0; w < words; ++w)
        bits += std::popcount(A[i * words + w] ^ B[j * words + w]);
      out[i * m + j] = bits;
    }
  }
}

// Arguments: codes of A and of B, bits, threads.
template <class Distances>
void hamming(benchmark::State& state, const Distances& distances) {
  const int64_t n = state.range(0), m = state.range(1), words = state.range(2) / 64;
  const auto A = random_codes(n, words, 1), B = random_codes(m, words, 2);
  std::vector<int32_t> out(n * m), expected(out.size());
  Context context;
  context.threads = static_cast<int>(state.range(3));
  plain_distances(words, n, A.data(), m, B.data(), expected.data());
  distances(words, n, A.data(), m, B.data(), context, out.data());
  if (out != expected) state.SkipWithError("wrong distances");
  for (auto _ : state) distances(words, n, A.data(), m, B.data(), context, out.data());
  state.counters["distances/s"] =
      benchmark::Counter(static_cast<double>(n * m), benchmark::Counter::kIsIterationInvariantRate);
}
void hamming_library(benchmark::State& state) { hamming(state, feature::code_distances); }
void hamming_words(benchmark::State& state) {
  hamming(state, [](int64_t words, int64_t n, const uint64_t* A, int64_t m, const uint64_t* B,
                    Context&, int32_t* out) { plain_distances(words, n, A, m, B, out); });
}
BENCHMARK(hamming_library)
    ->Args({1000, 1000, 1024, 1})
    ->Args({4000, 10000, 1024, 1})
    ->Args({4000, 10000, 1024, 2})
    ->Args({1000, 1000, 256, 1})
    ->Args({1000, 1000, 8192, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(hamming_words)->Args({1000, 1000, 1024, 1})->Unit(benchmark::kMillisecond)->UseRealTime();

// Arguments: rows, inputs, bits. `transforms`: the multiple of the time of the features themselves.
void codes(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  feature::FourierOptions options;
  options.form = feature::FourierForm::phase;
  const auto map = feature::make_fourier(
      *kernel::make_kernel({{"kernel", "gaussian"}, {"lengthscale", 8.0}}), d, D, options);
  Matrix<float> X(n, d), Z(n, D);
  AlignedBuffer<double> row(d);
  for (int64_t i = 0; i < n; ++i) {
    random::fill_normal(random::Stream(1, random::Tag::generated, static_cast<uint64_t>(i)), 0,
                        std::span(row.data(), d));
    for (int64_t k = 0; k < d; ++k) X(i, k) = static_cast<float>(row[k]);
  }
  const MatrixView<const float> rows = X.view();
  std::vector<uint64_t> out(n * feature::code_words(D));
  Context context;
  context.threads = 2;
  double transform = 1e30;
  for (int run = 0; run < 4; ++run) {
    const auto start = std::chrono::steady_clock::now();
    map->apply(rows, {0, D}, context, Z.view());
    transform = std::min(
        transform, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  double seconds = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    feature::binary_codes(*map, rows, context, out.data());
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  const double each = seconds / static_cast<double>(state.iterations());
  state.counters["bits/s"] = static_cast<double>(n * D) / each;
  state.counters["transforms"] = each / transform;
}
BENCHMARK(codes)->Args({10000, 64, 1024})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
