// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over rows and scores on a grid of frequencies, and the same by blocks of features.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>

#include "drawn_rows.h"
#include "feature/feature_operator.h"
#include "feature/fourier.h"
#include "feature/grid_sums.h"
#include "feature/map_entry.h"
#include "random/distributions.h"
#include "solver/row_statistics.h"
#include "spec/json.h"

namespace {

using namespace mercer;

struct Problem {
  std::unique_ptr<feature::FeatureMap> map;
  Matrix<double> X, Y;
  Problem(int64_t n, int64_t d, int64_t D)
      : map(feature::make_map(feature::canonical_map(
            spec::parse_object(R"({"map":"fourier","projection":"grid","diameter":1,)"
                               R"("kernel":{"kernel":"gaussian","lengthscale":0.1},"inputs":)" +
                               std::to_string(d) + ",\"features\":" + std::to_string(D) + "}"),
            "", feature::Data::refused))),
        X(bench::drawn_rows<double>(random::fill_uniform, n, d)),
        Y(bench::drawn_rows<double>(random::fill_normal, n, 1)) {}
};

void sums(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const Problem problem(n, d, D);
  Context context;
  context.threads = 2;
  double square = 0;
  for (auto _ : state) {
    solver::RowStatistics statistics(D, 1);
    const auto parts = statistics.parts();
    feature::GridSums grid(*problem.map->grid(), 1, 1, context);
    grid.add(problem.X.view(), problem.Y.view(), {}, context);
    grid.add_to(context, parts.gram, parts.cross, parts.sum_features);
    square = parts.gram(0, 0) + parts.gram(D / 2, D / 2);  // of cosine and sine
  }
  const double expected = static_cast<double>(n) * problem.map->grid()->weights()[0];
  if (!(std::fabs(square - expected) < 1e-9 * expected)) state.SkipWithError("wrong sums");
}

void products(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const Problem problem(n, d, D);
  Context context;
  context.threads = 2;
  for (auto _ : state) {
    solver::RowStatistics statistics(D, 1);
    feature::for_each_block(*problem.map, MatrixView<const double>(problem.X.view()), context,
                            [&](int64_t first, MatrixView<const double> Z) {
                              statistics.add(Z, problem.Y.view().block_rows(first, first + Z.rows),
                                             context);
                            });
  }
}

/// Z theta, without Z or with it: of the map itself, or of its frequencies as the caller's.
void scores(benchmark::State& state, bool supplied) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const Problem problem(n, d, D);
  Context context;
  context.threads = 2;
  const Matrix<double> W = problem.map->frequencies(context);
  const auto other = feature::make_fourier_supplied(problem.map->kernel(), W.view(),
                                                    problem.map->grid()->weights(), {});
  const feature::FeatureMap& map = supplied ? *other : *problem.map;
  Matrix<double> theta(D, 1), out(n, 1);
  for (int64_t j = 0; j < D; ++j) theta(j, 0) = 1 / static_cast<double>(j + 1);
  for (auto _ : state)
    feature::multiply(map, problem.X.view(), theta.view(), feature::FieldKind::value, context,
                      out.view());
  if (!std::isfinite(out(n - 1, 0))) state.SkipWithError("wrong scores");
}

BENCHMARK(sums)
    ->Args({1000000, 2, 840})
    ->Args({1000000, 3, 2000})
    ->Args({1000000, 1, 46})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scores, on_grid, false)
    ->Args({1000000, 2, 840})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scores, by_features, true)
    ->Args({100000, 2, 840})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(products)->Args({100000, 2, 840})->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
