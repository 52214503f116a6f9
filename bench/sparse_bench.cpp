// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows against the same rows made dense: Fourier features with dense frequencies, and linear
// maps. Each case is checked against the dense route before it is timed; `dense_over_sparse` is the
// ratio of the two times.
//   mercer_sparse_bench --benchmark_filter=fourier
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "feature/fourier.h"
#include "feature/linear.h"
#include "kernel/kernel.h"
#include "sparse_rows.h"

using namespace mercer;
using bench::made_dense;
using bench::random_rows;
using bench::SparseRows;

namespace {

double seconds_of(const auto& call) {
  double best = 1e30;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Arguments: rows, inputs, features, entries per thousand, threads.
void compare(benchmark::State& state, const feature::FeatureMap& map) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const SparseRows rows = random_rows(n, d, std::max<int64_t>(1, d * state.range(3) / 1000));
  const Matrix<float> X = made_dense(rows.view());
  const Matrix<float> sparse(n, map.row_length()), dense(n, map.row_length());
  Context context;
  context.threads = static_cast<int>(state.range(4));
  const auto apply_sparse = [&] { map.apply(rows.view(), {0, D}, context, sparse.view()); };
  const auto apply_dense = [&] {
    map.apply(MatrixView<const float>(X.view()), {0, D}, context, dense.view());
  };
  apply_sparse();
  apply_dense();
  double worst = 0;
  for (int64_t i = 0; i < n * map.row_length(); ++i) {
    worst = std::max(worst, static_cast<double>(std::fabs(sparse.data()[i] - dense.data()[i])));
  }
  if (!(worst <= 1e-4)) state.SkipWithError("sparse and dense features differ");
  const double dense_seconds = seconds_of(apply_dense);
  double best = 1e30;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    apply_sparse();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  state.counters["dense_over_sparse"] = dense_seconds / best;
  state.counters["nonzeros/s"] = static_cast<double>(rows.values.size()) / best;
  state.counters["features/s"] = static_cast<double>(n) * static_cast<double>(D) / best;
}

void fourier_dense(benchmark::State& state) {
  const int64_t d = state.range(1);
  const double lengthscale = std::sqrt(static_cast<double>(d * state.range(3)) / 1000.0);
  compare(state, *feature::make_fourier(
                     *kernel::make_kernel({{"kernel", "gaussian"}, {"lengthscale", lengthscale}}),
                     d, state.range(2), {}));
}

void linear(benchmark::State& state, feature::LinearProjection projection) {
  const int64_t d = state.range(1);
  const double gamma = 1000.0 / static_cast<double>(d * state.range(3));
  compare(state,
          *feature::make_linear(
              *kernel::make_kernel({{"kernel", "polynomial"}, {"degree", 1}, {"gamma", gamma}}), d,
              state.range(2), {projection, 1}));
}

void densities(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t per_thousand : {1, 10, 100, 300, 1000})
    benchmark->Args({1536, 10000, 1024, per_thousand, 2});
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime();
}
void one_percent(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({1536, 10000, 1024, 10, 2})->Args({1536, 10000, 1024, 10, 1});
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(fourier_dense)->Apply(densities);
BENCHMARK_CAPTURE(linear, gaussian, feature::LinearProjection::gaussian)->Apply(one_percent);
BENCHMARK_CAPTURE(linear, srht, feature::LinearProjection::srht)->Apply(one_percent);
BENCHMARK_CAPTURE(linear, countsketch, feature::LinearProjection::countsketch)->Apply(one_percent);
BENCHMARK_CAPTURE(linear, osnap, feature::LinearProjection::osnap)->Apply(one_percent);

}  // namespace

BENCHMARK_MAIN();
