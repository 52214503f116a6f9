// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The evidence with its gradient in all lengthscales and lambda, beside one fit at given ones: the
// features, their Gram matrix and a Cholesky factor. "fits" is the time of an evaluation over that
// of a fit, in one run.
#include <benchmark/benchmark.h>

#include <cmath>

#include "best_seconds.h"
#include "drawn_rows.h"
#include "feature/map_entry.h"
#include "model/search/ard.h"
#include "solver/primal_system.h"
#include "solver/row_statistics.h"

using namespace mercer;
using mercer::bench::best_seconds;

namespace {

constexpr double kLambda = 1e-4;

std::unique_ptr<feature::FeatureMap> unit_map(int64_t d, int64_t D) {
  const Parameters kernel{{"kernel", std::string("gaussian")}, {"lengthscale", 1.0}};
  const Parameters spec{{"map", std::string("fourier")},
                        {"kernel", std::make_shared<const Parameters>(kernel)},
                        {"inputs", d},
                        {"features", D}};
  return feature::make_map(feature::canonical_map(spec, "", feature::Data::refused));
}

void gradient(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const auto map = unit_map(d, D);
  const Matrix<double> X = mercer::bench::normal_rows<double>(n, d);
  const double lengthscale = std::sqrt(static_cast<double>(d));
  Matrix<double> scaled(n, d), y(n, 1), Z(n, D);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < d; ++k) scaled(i, k) = X(i, k) / lengthscale;
    y(i, 0) = std::sin(2 * X(i, 0)) + 0.5 * X(i, 1) * X(i, 1);
  }
  Context context;
  const double fit = best_seconds([&] {
    map->apply(MatrixView<const double>(scaled.view()), {0, D}, context, Z.view());
    solver::RowStatistics statistics(D, 1);
    statistics.add(MatrixView<const double>(Z.view()), y.view(), context);
    benchmark::DoNotOptimize(
        solver::ridge_cholesky(std::move(statistics), true, kLambda, context).w.data());
  });
  const model::ArdOptions options{
      .lengthscale = lengthscale, .lambda = kLambda, .most_iterations = 5};
  int64_t evaluations = 1;
  const double all = best_seconds(state, [&] {
    evaluations = model::learn_lengthscales(*map, X.view(), y.view(), options, context).evaluations;
  });
  state.counters["fits"] = all / static_cast<double>(evaluations) / fit;
  state.counters["fit_ms"] = fit * 1e3;
}

BENCHMARK(gradient)
    ->ArgsProduct({{2000, 20000}, {8, 32}, {512, 2048}})
    ->ArgNames({"n", "d", "D"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
