// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Feature maps against a GEMM of the same shape (n x d times d x F) and against a plain fill of Z
// by as many threads, in one run: features/s, GFLOP/s of the projection, the fraction of the GEMM's
// rate, and the multiple of the fill's time: the floor of memory. Each case checks its first row
// against a scalar evaluation before it is timed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "drawn_rows.h"
#include "feature/fourier.h"
#include "feature/linear.h"
#include "feature/map_entry.h"
#include "floors.h"
#include "kernel/kernel.h"

using namespace mercer;
using mercer::bench::fill_seconds;
using mercer::bench::gemm_seconds;
using mercer::bench::normal_rows;

namespace {

// sum_j Z_ij^2 = k(0) = 1 for the pair and complex forms: every row is verified before it is timed.
template <class T>
bool rows_have_unit_norm(const Matrix<T>& Z) {
  for (int64_t i = 0; i < Z.rows(); ++i) {
    double norm = 0;
    for (int64_t j = 0; j < Z.cols(); ++j)
      norm += static_cast<double>(Z(i, j)) * static_cast<double>(Z(i, j));
    if (!(std::fabs(norm - 1) < 1e-4)) return false;
  }
  return true;
}

template <class T>
void fourier(benchmark::State& state, const std::string& projection, feature::FourierForm form) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  feature::FourierOptions options;
  options.projection = projection;
  options.form = form;
  const auto map = feature::make_fourier(
      *kernel::make_kernel({{"kernel", "gaussian"}, {"lengthscale", std::sqrt(double(d))}}), d, D,
      options);
  const Matrix<T> X = normal_rows<T>(n, d);
  Matrix<T> Z(n, map->row_length());
  Context context;
  context.threads = static_cast<int>(state.range(3));
  map->apply(MatrixView<const T>(X.view()), {0, D}, context, Z.view());
  if (form != feature::FourierForm::phase && !rows_have_unit_norm(Z))
    state.SkipWithError("wrong features");
  double seconds = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    map->apply(MatrixView<const T>(X.view()), {0, D}, context, Z.view());
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  const double each = seconds / static_cast<double>(state.iterations());
  const int64_t F = form == feature::FourierForm::pair ? D / 2 : D;
  const double flops = 2.0 * double(n) * double(d) * double(F);
  state.counters["features/s"] = double(n) * double(D) / each;
  state.counters["GFLOP/s"] = flops / each * 1e-9;
  state.counters["of_gemm"] = gemm_seconds(X, F) / each;
  state.counters["fills"] = each / fill_seconds(Z, context);
}

void fourier_f32(benchmark::State& state, const char* projection, feature::FourierForm form) {
  fourier<float>(state, projection, form);
}
void fourier_f64(benchmark::State& state, const char* projection, feature::FourierForm form) {
  fourier<double>(state, projection, form);
}

// Maps of normal columns, beside Fourier features of as many projected columns: `dense_phase` for
// one column each, `dense_pair` for two. Sums of squares are those of the kernel to a few per cent.
void spec_f32(benchmark::State& state, const char* name, const Parameters& kernel,
              const char* projection, const char* form) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  Parameters spec{{"map", name}, {"projection", projection}, {"inputs", d}, {"features", D}};
  Parameters scaled = kernel;
  if (kernel.text("kernel") == "exponential") scaled.set("lengthscale", 2 * std::sqrt(double(d)));
  spec.set("kernel", std::make_shared<const Parameters>(scaled));
  if (*form != '\0') spec.set("form", form);
  const auto map = feature::make_map(feature::canonical_map(spec, "", feature::Data::refused));
  const Matrix<float> X = normal_rows<float>(n, d);
  Matrix<float> Z(n, D);
  Context context;
  context.threads = static_cast<int>(state.range(3));
  map->apply(MatrixView<const float>(X.view()), {0, D}, context, Z.view());
  double squares = 0;
  for (int64_t j = 0; j < D; ++j) squares += double(Z(0, j)) * double(Z(0, j));
  std::vector<double> x(X.data(), X.data() + d);
  if (!(std::fabs(squares / map->kernel().value(d, x.data(), x.data()) - 1) < 0.5))
    state.SkipWithError("wrong features");
  for (auto _ : state) map->apply(MatrixView<const float>(X.view()), {0, D}, context, Z.view());
  state.counters["features/s"] =
      benchmark::Counter(double(n) * double(D), benchmark::Counter::kIsIterationInvariantRate);
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t d : {16, 64, 256, 784}) benchmark->Args({10000, d, 4096, 2});
  benchmark->Args({4000, 1024, 16384, 2})->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK_CAPTURE(fourier_f32, dense_pair, "dense", feature::FourierForm::pair)->Apply(shapes);
BENCHMARK_CAPTURE(fourier_f32, dense_phase, "dense", feature::FourierForm::phase)->Apply(shapes);
BENCHMARK_CAPTURE(fourier_f32, dense_complex, "dense", feature::FourierForm::complex)
    ->Apply(shapes);
BENCHMARK_CAPTURE(fourier_f64, dense_pair, "dense", feature::FourierForm::pair)->Apply(shapes);
BENCHMARK_CAPTURE(fourier_f32, sorf_pair, "sorf", feature::FourierForm::pair)->Apply(shapes);
BENCHMARK_CAPTURE(fourier_f32, fastfood_pair, "fastfood", feature::FourierForm::pair)
    ->Apply(shapes);
BENCHMARK_CAPTURE(fourier_f32, quadrature_pair, "quadrature", feature::FourierForm::pair)
    ->Args({10000, 64, 4096, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
#ifdef MERCER_WITH_FFTW
BENCHMARK_CAPTURE(fourier_f32, circulant_pair, "circulant", feature::FourierForm::pair)
    ->Apply(shapes);
#endif

const Parameters kRamp{{"kernel", "arc_cosine"}, {"order", int64_t{1}}};
const Parameters kSign{{"kernel", "sign"}};
const Parameters kSoftmax{{"kernel", "exponential"}};
BENCHMARK_CAPTURE(spec_f32, arc_cosine, "arc_cosine", kRamp, "dense", "")->Apply(shapes);
BENCHMARK_CAPTURE(spec_f32, sign, "sign", kSign, "dense", "")->Apply(shapes);
BENCHMARK_CAPTURE(spec_f32, positive, "positive", kSoftmax, "dense", "exp")->Apply(shapes);
BENCHMARK_CAPTURE(spec_f32, hyperbolic, "positive", kSoftmax, "dense", "hyperbolic")->Apply(shapes);
BENCHMARK_CAPTURE(fourier_f32, sorf_phase, "sorf", feature::FourierForm::phase)->Apply(shapes);
BENCHMARK_CAPTURE(spec_f32, sorf_arc_cosine, "arc_cosine", kRamp, "sorf", "")->Apply(shapes);
BENCHMARK_CAPTURE(spec_f32, sorf_positive, "positive", kSoftmax, "sorf", "exp")->Apply(shapes);

// Writing a large Z that starts `offset` bytes after a cache line (16 in every NumPy array), d =
// 16: beside a plain fill of as many bytes.
constexpr int64_t kStoredRows = 10000, kStoredInputs = 16, kStoredFeatures = 4096;

template <class Write>
void stores(benchmark::State& state, int64_t width, const Write& write) {
  const int64_t offset = state.range(0) / static_cast<int64_t>(sizeof(float));
  const AlignedBuffer<float> storage(kStoredRows * width + offset);
  const MatrixView<float> Z(storage.data() + offset, kStoredRows, width);
  write(Z);
  for (auto _ : state) write(Z);
  state.SetBytesProcessed(state.iterations() * kStoredRows * width *
                          static_cast<int64_t>(sizeof(float)));
}

void stores_of(benchmark::State& state, const feature::FeatureMap& map) {
  const Matrix<float> X = normal_rows<float>(kStoredRows, kStoredInputs);
  Context context;
  context.threads = 2;
  stores(state, map.row_length(), [&](MatrixView<float> Z) {
    map.apply(X.view(), {0, map.features()}, context, Z);
  });
}

void stores_fourier(benchmark::State& state, feature::FourierForm form) {
  feature::FourierOptions options;
  options.form = form;
  const int64_t D = form == feature::FourierForm::complex ? kStoredFeatures / 2 : kStoredFeatures;
  stores_of(state, *feature::make_fourier(
                       *kernel::make_kernel({{"kernel", "gaussian"}, {"lengthscale", 4.0}}),
                       kStoredInputs, D, options));
}
void stores_linear(benchmark::State& state) {
  stores_of(state,
            *feature::make_linear(*kernel::make_kernel({{"kernel", "polynomial"}, {"degree", 1}}),
                                  kStoredInputs, kStoredFeatures, {}));
}
void stores_fill(benchmark::State& state) {
  Context context;
  context.threads = 2;
  stores(state, kStoredFeatures, [&](MatrixView<float> Z) {
    parallel_for(context, 100, [&](int64_t chunk, int) noexcept {
      const MatrixView<float> rows =
          Z.block_rows(chunk * kStoredRows / 100, (chunk + 1) * kStoredRows / 100);
      std::memset(rows.data, 1, static_cast<size_t>(rows.rows * rows.ld) * sizeof(float));
      benchmark::ClobberMemory();
    });
  });
}
void offsets(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(0)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(stores_fill)->Apply(offsets);
BENCHMARK_CAPTURE(stores_fourier, pair, feature::FourierForm::pair)->Apply(offsets);
BENCHMARK_CAPTURE(stores_fourier, phase, feature::FourierForm::phase)->Apply(offsets);
BENCHMARK_CAPTURE(stores_fourier, complex, feature::FourierForm::complex)->Apply(offsets);
BENCHMARK(stores_linear)->Apply(offsets);

// Making a map and drawing everything it needs, D = 65,536.
void create(benchmark::State& state, const char* projection) {
  feature::FourierOptions options;
  options.projection = projection;
  const auto kernel = kernel::make_kernel({{"kernel", "gaussian"}, {"lengthscale", 32.0}});
  Context context;
  for (auto _ : state) {
    feature::make_fourier(*kernel, 1024, 65536, options)->prepare(feature::Precision::f32, context);
  }
}
BENCHMARK_CAPTURE(create, sorf, "sorf")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(create, fastfood, "fastfood")->Unit(benchmark::kMillisecond)->UseRealTime();
#ifdef MERCER_WITH_FFTW
BENCHMARK_CAPTURE(create, circulant, "circulant")->Unit(benchmark::kMillisecond)->UseRealTime();
#endif

}  // namespace

BENCHMARK_MAIN();
