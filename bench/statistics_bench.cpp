// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row statistics against a single dsyrk of the same shape, and the steps of a ridge fit, in GFLOP/s
// at nominal counts: n D^2 for the Gram matrix, 9 D^3 for an eigendecomposition with vectors, D^3/3
// for a Cholesky factor.
//   mercer_statistics_bench --benchmark_repetitions=7 --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>

#include "linalg/blas.h"
#include "solver/primal_system.h"
#include "solver/row_statistics.h"

namespace {

using namespace mercer;
using solver::RowStatistics;

constexpr int64_t kRows = 8192;

/// Random cosine features of 8 inputs: a Gram matrix whose spectrum decays as a ridge fit's does.
template <class T>
Matrix<T> features(int64_t n, int64_t D) {
  constexpr int64_t kInputs = 8;
  std::mt19937_64 words(1);
  std::normal_distribution<double> normal;
  Matrix<double> W(kInputs, D), x(1, kInputs);
  for (int64_t i = 0; i < kInputs * D; ++i) W.data()[i] = normal(words) / 2;
  Matrix<double> row(1, D);
  Matrix<T> Z(n, D);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < kInputs; ++k) x(0, k) = normal(words);
    linalg::multiply(1.0, linalg::Transpose::no, x.view(), linalg::Transpose::no, W.view(), 0.0,
                     row.view());
    for (int64_t j = 0; j < D; ++j)
      Z(i, j) = static_cast<T>(std::sqrt(2.0 / static_cast<double>(D)) *
                               std::cos(row(0, j) + 0.1 * static_cast<double>(j)));
  }
  return Z;
}

Matrix<double> targets(int64_t n, int64_t m) {
  Matrix<double> Y(n, m);
  for (int64_t i = 0; i < n * m; ++i) Y.data()[i] = std::sin(static_cast<double>(i));
  return Y;
}

void set_rate(benchmark::State& state, double operations) {
  state.counters["GFLOP"] =
      benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void dsyrk_alone(benchmark::State& state) {
  const int64_t D = state.range(0);
  const Matrix<double> Z = features<double>(kRows, D), G(D, D);
  G.fill(0);
  for (auto _ : state) linalg::rank_update(1.0, Z.view(), G.view());
  set_rate(state, static_cast<double>(kRows) * static_cast<double>(D * D));
}

template <class T>
void add_rows(benchmark::State& state) {
  const int64_t D = state.range(0), m = state.range(1);
  const Matrix<T> Z = features<T>(kRows, D);
  const Matrix<double> Y = targets(kRows, m);
  Context context;
  RowStatistics statistics(D, m);
  statistics.add(MatrixView<const T>(Z.view()), Y.view(), context);
  double sum = 0;  // the result is checked before it is timed
  const double origin = statistics.origin_features()[D - 1];
  for (int64_t i = 0; i < kRows; ++i) sum += std::pow(static_cast<double>(Z(i, D - 1)) - origin, 2);
  if (std::abs(statistics.gram()(D - 1, D - 1) - sum) > 1e-9 * sum)
    throw std::runtime_error("wrong Gram matrix");
  for (auto _ : state) statistics.add(MatrixView<const T>(Z.view()), Y.view(), context);
  set_rate(state, static_cast<double>(kRows) * static_cast<double>(D * D));
}

RowStatistics filled(int64_t D) {
  Context context;
  RowStatistics statistics(D, 1);
  statistics.add(MatrixView<const float>(features<float>(kRows, D).view()),
                 targets(kRows, 1).view(), context);
  return statistics;
}

/// solve(statistics, context) on a copy each time, in D^3 times `cost` operations.
template <class Solve>
void time_on_copies(benchmark::State& state, double cost, const Solve& solve) {
  const int64_t D = state.range(0);
  const RowStatistics statistics = filled(D);
  Context context;
  for (auto _ : state) {
    state.PauseTiming();
    RowStatistics copy = statistics.clone(context);
    state.ResumeTiming();
    solve(std::move(copy), context);
  }
  set_rate(state, cost * std::pow(static_cast<double>(D), 3));
}

void decompose(benchmark::State& state) {
  time_on_copies(state, 9.0, [](RowStatistics statistics, Context& context) {
    const solver::PrimalSystem path(std::move(statistics), true, context);
    benchmark::DoNotOptimize(path.eigenvalues().data());
  });
}

void path_of_23(benchmark::State& state) {
  const RowStatistics statistics = filled(state.range(0));
  Context context;
  const solver::PrimalSystem path(statistics.clone(context), true, context);
  for (auto _ : state) {
    for (const double lambda : solver::lambda_grid(1e-1, 1e-12, 23)) {
      benchmark::DoNotOptimize(path.gcv(lambda));
      benchmark::DoNotOptimize(path.held_out_error(lambda, statistics));
    }
  }
}

void one_cholesky(benchmark::State& state) {
  time_on_copies(state, 1.0 / 3, [](RowStatistics statistics, Context& context) {
    benchmark::DoNotOptimize(
        solver::ridge_cholesky(std::move(statistics), true, 1e-6, context).w.data());
  });
}

BENCHMARK(dsyrk_alone)->Arg(1024)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(add_rows<float>)
    ->Name("add_f32")
    ->ArgsProduct({{1024, 4096}, {1, 10}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(add_rows<double>)
    ->Name("add_f64")
    ->ArgsProduct({{1024, 4096}, {1, 10}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(decompose)->Arg(1024)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(path_of_23)->Arg(1024)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(one_cholesky)->Arg(1024)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
