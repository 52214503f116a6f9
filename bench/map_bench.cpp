// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps by their specs, one line each, of float rows without negative entries: features per second,
// and the least of three times over the floor, the longer of a fill of Z and of BLAS's product of
// the rows with as many columns as the map projects on.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "drawn_rows.h"
#include "feature/feature_map.h"
#include "feature/landmarks.h"
#include "floors.h"
#include "spec/spec.h"

using namespace mercer;

namespace {

// `projected`: columns of the products with rows that the map takes, or as many multiply-adds.
void map(benchmark::State& state, const char* spec, int64_t n, int64_t d, int64_t D,
         int64_t projected) {
  const std::string json = std::string(spec) + ",\"inputs\":" + std::to_string(d) +
                           ",\"features\":" + std::to_string(D) + "}";
  const Matrix<float> X = bench::drawn_rows<float>(random::fill_uniform, n, d);
  Matrix<float> Z(n, D);
  Context context;
  context.threads = 2;
  const Rows landmarks(X.view().block_rows(0, std::min(n, D)));
  const auto made = spec::map_fitted_to_spec(json, {.rows = &landmarks}, context);
  made->apply(X.view(), {0, D}, context, Z.view());
  for (int64_t i = 0; i < n * D; ++i) {
    if (!std::isfinite(Z.data()[i])) state.SkipWithError("wrong features");
  }
  const double best = bench::best_seconds(state, [&] {
    made->apply(X.view(), {0, D}, context, Z.view());
  });
  const double product = projected > 0 ? bench::gemm_seconds(X, projected) : 0;
  const double floor = std::max(bench::fill_seconds(Z, context), product);
  state.counters["features/s"] = static_cast<double>(n * D) / best;
  state.counters["floor_ms"] = 1e3 * floor;
  state.counters["floors"] = best / floor;
}

// 1,000 landmarks by randomly pivoted Cholesky among rows of five inputs.
void pivots(benchmark::State& state) {
  const auto X = bench::drawn_rows<double>(random::fill_normal, state.range(0), 5);
  const auto kernel = kernel::make_kernel({{"kernel", "gaussian"}});
  Context context;
  uint64_t seed = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        feature::cholesky_landmarks({*kernel, X.view(), seed++, context}, 1000));
}
BENCHMARK(pivots)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond)->UseRealTime();

#define MERCER_MAP(name, spec, n, d, D, projected)       \
  BENCHMARK_CAPTURE(map, name, spec, n, d, D, projected) \
      ->Unit(benchmark::kMillisecond)                    \
      ->Iterations(3)                                    \
      ->UseRealTime()

MERCER_MAP(additive, R"({"map":"additive","kernel":{"kernel":"additive_chi2"})", 10000, 784, 2352,
           0);
MERCER_MAP(additive_order_3, R"({"map":"additive","order":3,"kernel":{"kernel":"intersection"})",
           10000, 784, 5488, 0);
MERCER_MAP(anova, R"({"map":"anova","kernel":{"kernel":"anova"})", 10000, 64, 4096, 8192);
MERCER_MAP(anova_degree_4, R"({"map":"anova","kernel":{"kernel":"anova","degree":4})", 10000, 64,
           4096, 16384);
MERCER_MAP(arc_cosine, R"({"map":"arc_cosine","kernel":{"kernel":"arc_cosine"})", 10000, 64, 4096,
           4096);
MERCER_MAP(craft, R"({"map":"craft","kernel":{"kernel":"polynomial","degree":3})", 10000, 64, 4096,
           0);
MERCER_MAP(eigenfunctions,
           R"({"map":"eigenfunctions","kernel":{"kernel":"gaussian","lengthscale":2})", 10000, 4,
           4096, 0);
MERCER_MAP(exact, R"({"map":"exact","kernel":{"kernel":"gaussian","lengthscale":4})", 10000, 64,
           4096, 4096);
MERCER_MAP(exact_polynomial,
           R"({"map":"exact_polynomial","kernel":{"kernel":"polynomial","degree":3,"offset":1})",
           10000, 27, 4060, 0);
MERCER_MAP(fourier_gaussian, R"({"map":"fourier","kernel":{"kernel":"gaussian"})", 10000, 64, 4096,
           2048);
MERCER_MAP(fourier_cauchy, R"({"map":"fourier","kernel":{"kernel":"cauchy"})", 10000, 64, 4096,
           2048);
MERCER_MAP(fourier_sorf, R"({"map":"fourier","projection":"sorf","kernel":{"kernel":"gaussian"})",
           10000, 64, 4096, 0);
MERCER_MAP(hierarchical_sketch,
           R"({"map":"hierarchical_sketch","kernel":{"kernel":"polynomial","degree":4})", 10000, 64,
           4096, 0);
MERCER_MAP(laplace, R"({"map":"laplace","kernel":{"kernel":"reciprocal_semigroup"})", 10000, 64,
           4096, 4096);
MERCER_MAP(linear, R"({"map":"linear","kernel":{"kernel":"polynomial","degree":1})", 10000, 64,
           4096, 4096);
MERCER_MAP(maclaurin, R"({"map":"maclaurin","kernel":{"kernel":"gaussian","lengthscale":8})", 10000,
           64, 4096, 0);
MERCER_MAP(nystroem, R"({"map":"nystroem","kernel":{"kernel":"gaussian","lengthscale":4})", 10000,
           64, 1024, 9216);
MERCER_MAP(optical, R"({"map":"optical","kernel":{"kernel":"optical"})", 10000, 64, 4096, 8192);
MERCER_MAP(optical_sorf, R"({"map":"optical","projection":"sorf","kernel":{"kernel":"optical"})",
           10000, 64, 4096, 0);
MERCER_MAP(poisson, R"({"map":"poisson","kernel":{"kernel":"gaussian","lengthscale":4})", 10000, 64,
           4096, 4096);
MERCER_MAP(positive, R"({"map":"positive","kernel":{"kernel":"exponential","lengthscale":8})",
           10000, 64, 4096, 4096);
MERCER_MAP(product_sketch, R"({"map":"product_sketch","kernel":{"kernel":"polynomial","degree":3})",
           10000, 64, 4096, 12288);
MERCER_MAP(random_binning, R"({"map":"random_binning","kernel":{"kernel":"laplacian"})", 10000, 64,
           4096, 0);
MERCER_MAP(sign, R"({"map":"sign","kernel":{"kernel":"sign"})", 10000, 64, 4096, 4096);
MERCER_MAP(
    spectral_mixture,
    R"({"map":"fourier","kernel":{"kernel":"spectral_mixture","weights":[0.7,1.2],"means":[0.4,-1],"variances":[1.5,0.4]})",
    10000, 64, 4096, 2048);
MERCER_MAP(sphere_polynomial,
           R"({"map":"fourier","kernel":{"kernel":"sphere_polynomial","unit_rows":true})", 10000,
           64, 4096, 2048);
MERCER_MAP(tensor_sketch, R"({"map":"tensor_sketch","kernel":{"kernel":"polynomial","degree":3})",
           10000, 64, 4096, 0);
MERCER_MAP(tensor_srht, R"({"map":"tensor_srht","kernel":{"kernel":"polynomial","degree":3})",
           10000, 64, 4096, 0);
MERCER_MAP(weighted_minhash, R"({"map":"weighted_minhash","kernel":{"kernel":"tanimoto"})", 10000,
           64, 4096, 0);
constexpr const char* kSum =
    R"({"map":"sum","kernel":{"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"cauchy"}]})";
constexpr const char* kProduct =
    R"({"map":"product","kernel":{"kernel":"product","parts":[{"kernel":"gaussian"},)"
    R"({"kernel":"cauchy"}]})";
MERCER_MAP(sum, kSum, 10000, 64, 4096, 2048);
MERCER_MAP(product, kProduct, 10000, 64, 4096, 4096);

}  // namespace

BENCHMARK_MAIN();
