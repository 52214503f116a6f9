// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operator maps: a field and its adjoint beside the scalar map of the same frequencies
// ("scalar_maps" and "adjoint" are their times over one transform into memory), and a decomposable
// one beside its explicit matrix ("faster" and "smaller" than that: the time of its product with
// theta, once it is made, and its bytes); searches whole.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/aligned.h"
#include "best_seconds.h"
#include "drawn_rows.h"
#include "feature/feature_operator.h"
#include "feature/field_map.h"
#include "feature/fourier.h"
#include "feature/map_entry.h"
#include "linalg/blas.h"
#include "spec/spec.h"

using namespace mercer;
using mercer::bench::best_seconds;
using mercer::bench::normal_rows;

namespace {

/// D: columns of the map of the scalar kernel, of which the map has q times as many.
std::unique_ptr<feature::FeatureMap> made(const Parameters& kernel, int64_t d, int64_t D) {
  Parameters spec = feature::canonical_map({{"map", "fourier"},
                                            {"kernel", std::make_shared<const Parameters>(kernel)},
                                            {"inputs", d},
                                            {"features", D}},
                                           "", feature::Data::refused);
  spec.set("features", feature::map_sizes(spec, 1).step / 2 * D);
  return feature::make_map(spec);
}

template <class T>
void field(benchmark::State& state, const std::string& name) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const auto map = made({{"kernel", name}}, d, D);
  const auto scalar = feature::make_fourier(map->field()->scalar().kernel(), d, D, {});
  const Matrix<T> X = normal_rows<T>(n, d), Z(n, D), out(n, d);
  const Matrix<double> theta = normal_rows<double>(map->features(), 1);
  Context context;
  context.threads = static_cast<int>(state.range(3));
  const MatrixView<const T> rows = X.view();
  const auto transform = [&] { scalar->apply(rows, {0, D}, context, Z.view()); };
  const auto apply = [&] {
    feature::multiply(*map, rows, theta.view(), feature::FieldKind::value, context, out.view());
  };
  Matrix<double> sums(map->features(), 1);
  const auto adjoint = [&] {
    feature::adjoint(*map, rows, MatrixView<const T>(out.view()), context, sums.view());
  };
  transform();
  apply();
  adjoint();
  // In turn, so that what else the machine does hits all three.
  double scalar_map = 1e30, applied = 1e30, adjoined = 1e30;
  for (auto _ : state) {
    scalar_map = std::min(scalar_map, best_seconds(transform));
    const double now = best_seconds(apply);
    applied = std::min(applied, now);
    adjoined = std::min(adjoined, best_seconds(adjoint));
    state.SetIterationTime(now);
  }
  state.counters["scalar_maps"] = applied / scalar_map;
  state.counters["adjoint"] = adjoined / scalar_map;
}

void field_f32(benchmark::State& state, const std::string& name) { field<float>(state, name); }
void field_f64(benchmark::State& state, const std::string& name) { field<double>(state, name); }

// Prediction of p outputs as B (Theta z) against n p x r numbers times theta.
void decomposable(benchmark::State& state) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2), p = state.range(3);
  std::vector<double> gamma(p * p, 0.1);
  for (int64_t k = 0; k < p; ++k) gamma[k * p + k] = 1;
  const auto map = made({{"kernel", "decomposable"}, {"gamma", gamma}}, d, D);
  const int64_t r = map->features();
  const Matrix<double> X = normal_rows<double>(n, d), out(n, p), expected(n * p, 1),
                       theta = normal_rows<double>(r, 1), phi(n * p, r);
  Context context;
  map->apply(X.view(), {0, r}, context, phi.view());
  const auto apply = [&] {
    feature::multiply(*map, X.view(), theta.view(), feature::FieldKind::value, context, out.view());
  };
  const auto multiply = [&] {
    linalg::multiply(1.0, linalg::Transpose::no, MatrixView<const double>(phi.view()),
                     linalg::Transpose::no, MatrixView<const double>(theta.view()), 0.0,
                     expected.view());
  };
  apply();
  multiply();
  double worst = 0;
  for (int64_t i = 0; i < n * p; ++i)
    worst = std::max(worst, std::abs(out(i / p, i % p) - expected(i, 0)));
  if (!(worst < 1e-9)) state.SkipWithError("the field is not its matrix times theta");
  const double plain = best_seconds(multiply);
  const double best = best_seconds(state, apply);
  // Apply holds a block of features (2 MB at most), theta twice and B.
  const double kept = std::min(2097152.0, 8.0 * static_cast<double>(n * D)) +
                      8.0 * static_cast<double>(2 * r + p * p);
  state.counters["faster"] = plain / best;
  state.counters["smaller"] = 8.0 * static_cast<double>(n * p) * static_cast<double>(r) / kept;
}

// A search whole, as `mercer fit --operator` does: walks of the field and of independent outputs, a
// score, the fit.
void search(benchmark::State& state, const std::string& name) {
  const int64_t n = state.range(0);
  const Matrix<double> X = normal_rows<double>(n, 2), Y(n, 2);
  for (int64_t i = 0; i < n; ++i) {
    Y(i, 0) = std::sin(2 * X(i, 1)) + 0.1 * X(i, 0);
    Y(i, 1) = std::cos(3 * X(i, 0)) - 0.1 * X(i, 1);
  }
  const std::string json = R"({"map":{"kernel":{"kernel":")" + name + R"("},"features":)" +
                           std::to_string(state.range(1)) + "}}";
  Context context;
  for (auto _ : state) {
    const auto model =
        model::fit(spec::fit_plan(json),
                   {.rows = {Rows(MatrixView<const double>(X.view())), Y.view()}}, context);
    state.counters["score"] = model.report.assessment.score;
  }
}

void sizes(benchmark::internal::Benchmark* of) {
  for (const int64_t threads : {1, 2})
    for (const int64_t d : {2, 3, 16}) of->Args({20000, d, 2000, threads});
  of->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(5);
}

void few_and_many(benchmark::internal::Benchmark* of) {
  for (const int64_t n : {200, 5000}) of->Args({n, 1000});
  of->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}

}  // namespace

BENCHMARK_CAPTURE(field_f32, curl_free, "curl_free")->Apply(sizes);
BENCHMARK_CAPTURE(field_f64, curl_free, "curl_free")->Apply(sizes);
BENCHMARK_CAPTURE(field_f32, divergence_free, "divergence_free")->Apply(sizes);
BENCHMARK_CAPTURE(field_f64, divergence_free, "divergence_free")->Apply(sizes);
// 5 rows: their matrix is 0.4 GB.
BENCHMARK(decomposable)
    ->Args({5, 20, 1000, 100})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(3);

BENCHMARK_CAPTURE(search, divergence_free, "divergence_free")->Apply(few_and_many);
BENCHMARK_CAPTURE(search, helmholtz, "helmholtz")->Apply(few_and_many);

BENCHMARK_MAIN();
