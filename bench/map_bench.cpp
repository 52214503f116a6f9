// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps by their specs, one line each: features and rows per second of float rows without negative
// entries.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "drawn_rows.h"
#include "feature/feature_map.h"
#include "feature/landmarks.h"
#include "spec/spec.h"

using namespace mercer;

namespace {

void map(benchmark::State& state, const char* spec, int64_t n, int64_t d, int64_t D) {
  const auto made = spec::map_from_spec(std::string(spec) + ",\"inputs\":" + std::to_string(d) +
                                        ",\"features\":" + std::to_string(D) + "}");
  const Matrix<float> X = bench::drawn_rows<float>(random::fill_uniform, n, d), Z(n, D);
  Context context;
  context.threads = 2;
  made->apply(X.view(), {0, D}, context, Z.view());
  for (int64_t i = 0; i < n * D; ++i) {
    if (!std::isfinite(Z.data()[i])) state.SkipWithError("wrong features");
  }
  for (auto _ : state) made->apply(X.view(), {0, D}, context, Z.view());
  state.counters["features/s"] = benchmark::Counter(static_cast<double>(n * D * state.iterations()),
                                                    benchmark::Counter::kIsRate);
  state.SetItemsProcessed(n * state.iterations());
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

#define MERCER_MAP(name, spec, n, d, D) \
  BENCHMARK_CAPTURE(map, name, spec, n, d, D)->Unit(benchmark::kMillisecond)->UseRealTime()

MERCER_MAP(additive, R"({"map":"additive","kernel":{"kernel":"additive_chi2"})", 10000, 784, 2352);
MERCER_MAP(additive_order_3, R"({"map":"additive","order":3,"kernel":{"kernel":"intersection"})",
           10000, 784, 5488);
MERCER_MAP(anova, R"({"map":"anova","kernel":{"kernel":"anova"})", 10000, 64, 4096);
MERCER_MAP(anova_degree_4, R"({"map":"anova","kernel":{"kernel":"anova","degree":4})", 10000, 64,
           4096);
constexpr const char* kSum =
    R"({"map":"sum","kernel":{"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"cauchy"}]})";
constexpr const char* kProduct =
    R"({"map":"product","kernel":{"kernel":"product","parts":[{"kernel":"gaussian"},)"
    R"({"kernel":"cauchy"}]})";
MERCER_MAP(sum, kSum, 10000, 64, 4096);
MERCER_MAP(product, kProduct, 10000, 64, 4096);
// What their parts cost.
MERCER_MAP(fourier_gaussian, R"({"map":"fourier","kernel":{"kernel":"gaussian"})", 10000, 64, 4096);
MERCER_MAP(fourier_cauchy, R"({"map":"fourier","kernel":{"kernel":"cauchy"})", 10000, 64, 4096);
MERCER_MAP(poisson, R"({"map":"poisson","kernel":{"kernel":"gaussian","lengthscale":4})", 10000, 64,
           4096);
MERCER_MAP(exact_polynomial,
           R"({"map":"exact_polynomial","kernel":{"kernel":"polynomial","degree":3,"offset":1})",
           10000, 27, 4060);
MERCER_MAP(maclaurin, R"({"map":"maclaurin","kernel":{"kernel":"gaussian","lengthscale":8})", 10000,
           64, 4096);
MERCER_MAP(spectral_mixture,
           R"({"map":"fourier","kernel":{"kernel":"spectral_mixture","weights":[0.7,1.2],)"
           R"("means":[0.4,-1],"variances":[1.5,0.4]})",
           10000, 64, 4096);
MERCER_MAP(laplace, R"({"map":"laplace","kernel":{"kernel":"reciprocal_semigroup"})", 10000, 64,
           4096);
MERCER_MAP(weighted_minhash, R"({"map":"weighted_minhash","kernel":{"kernel":"tanimoto"})", 10000,
           64, 4096);
MERCER_MAP(random_binning, R"({"map":"random_binning","kernel":{"kernel":"laplacian"})", 10000, 64,
           4096);
MERCER_MAP(sphere_polynomial,
           R"({"map":"fourier","kernel":{"kernel":"sphere_polynomial","unit_rows":true})", 10000,
           64, 4096);

}  // namespace

BENCHMARK_MAIN();
