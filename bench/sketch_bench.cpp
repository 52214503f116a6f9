// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches, f32, 2 threads, of the kernel (x'y + offset)^p on non-negative unit rows.
//   sketch/KIND/FIELD/d:d/D:D/p:p
//     one sketch, offset 0: microseconds per row, nanoseconds per feature
//   target/tensor_sketch_over_srht
//     the time of TensorSketch over that of upsampled complex-to-real TensorSRHT, D = 10d
//   target/added_feature
//     the same TensorSRHT: (time at D = 20d - time at D = 5d)/15d, in ns, for each d
//   target/dense_over_sparse
//     TensorSketch: the time of dense rows over that of CSR rows with 1 % of the entries
// Times that are compared are medians of alternating runs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "sketch_cases.h"
#include "sparse_rows.h"

using namespace mercer;
using namespace mercer::bench;

namespace {

// A case that a build cannot do is skipped with the library's reason.
void guarded(benchmark::State& state, const auto& body) {
  try {
    body();
  } catch (const Error& error) {
    state.SkipWithError(error.what());
  }
}

void one_sketch(benchmark::State& state, const Kind& kind, SketchField field) {
  const Shape shape{state.range(0), state.range(1), state.range(2)};
  guarded(state, [&] {
    Job job(make(kind, field, shape), row_count(shape.D));
    if (!job.estimates_kernel(4)) state.SkipWithError("wrong features");
    double seconds = 0;
    for (auto _ : state) seconds += seconds_of([&] { job.run(); });
    const double rows = static_cast<double>(state.iterations() * job.rows());
    state.counters["us_per_row"] = 1e6 * seconds / rows;
    state.counters["ns_per_feature"] = 1e9 * seconds / rows / static_cast<double>(shape.D);
  });
}

void tensor_sketch_over_srht(benchmark::State& state) {
  const int64_t d = state.range(0), n = 1000;
  const Shape shape{d, 10 * d, state.range(1), static_cast<double>(state.range(2))};
  guarded(state, [&] {
    Job srht(make(kUpsampled, SketchField::complex_to_real, shape), n);
    Job tensor(make(kTensorSketch, SketchField::real, shape), n);
    std::vector<double> seconds;
    for (auto _ : state) seconds = medians(9, {[&] { srht.run(); }, [&] { tensor.run(); }});
    state.counters["srht_us_per_row"] = 1e6 * seconds[0] / n;
    state.counters["tensor_sketch_us_per_row"] = 1e6 * seconds[1] / n;
    state.counters["tensor_sketch_over_srht"] = seconds[1] / seconds[0];
  });
}

// As many numbers are written for each d, 2^25 at D = 20d, so that memory counts alike.
void added_feature(benchmark::State& state) {
  constexpr int64_t kInputs[] = {256, 1024, 4096};
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<std::function<void()>> calls;
  for (const int64_t d : kInputs) {
    for (const int64_t D : {5 * d, 20 * d}) {
      auto map = make(kUpsampled, SketchField::complex_to_real, {d, D, state.range(0)});
      jobs.push_back(std::make_unique<Job>(std::move(map), (int64_t{1} << 25) / (20 * d)));
      calls.emplace_back([job = jobs.back().get()] { job->run(); });
    }
  }
  std::vector<double> seconds, slopes;
  for (auto _ : state) seconds = medians(15, calls);
  for (size_t i = 0; i < std::size(kInputs); ++i) {
    const double features = static_cast<double>(jobs[2 * i]->rows() * 15 * kInputs[i]);
    slopes.push_back(1e9 * (seconds[2 * i + 1] - seconds[2 * i]) / features);
    state.counters["ns_d" + std::to_string(kInputs[i])] = slopes.back();
  }
  state.counters["most_over_least"] = std::ranges::max(slopes) / std::ranges::min(slopes);
}

void dense_over_sparse(benchmark::State& state) {
  const Shape shape{state.range(0), state.range(1), state.range(2),
                    static_cast<double>(state.range(3))};
  guarded(state, [&] {
    const int64_t n = 2000;
    const auto map = make(kTensorSketch, SketchField::real, shape);
    const SparseRows rows = random_rows(n, shape.d, (shape.d + 50) / 100);
    const Matrix<float> X = made_dense(rows.view());
    const Matrix<float> from_dense(n, shape.D), from_sparse(n, shape.D);
    Context context;
    context.threads = 2;
    const std::vector<std::function<void()>> calls = {
        [&] {
          map->apply(MatrixView<const float>(X.view()), {0, shape.D}, context, from_dense.view());
        },
        [&] {
          map->apply(rows.view(), {0, shape.D}, context, from_sparse.view());
        }};
    medians(1, calls);
    double worst = 0;
    for (int64_t i = 0; i < n * shape.D; ++i) {
      worst = std::max(worst, std::fabs(static_cast<double>(from_dense.data()[i]) -
                                        static_cast<double>(from_sparse.data()[i])));
    }
    // Columns of u have entries of 1 at most and five non-zeros or so at the densest.
    if (!(worst <= 1e-3)) state.SkipWithError("sparse and dense features differ");
    std::vector<double> seconds;
    for (auto _ : state) seconds = medians(15, calls);
    state.counters["dense_us_per_row"] = 1e6 * seconds[0] / static_cast<double>(n);
    state.counters["sparse_us_per_row"] = 1e6 * seconds[1] / static_cast<double>(n);
    state.counters["dense_over_sparse"] = seconds[0] / seconds[1];
  });
}

// Bytes of the weights of an unstructured sketch: above a gigabyte it is left out.
bool fits(const Kind& kind, SketchField field, const Shape& shape) {
  if (kind.kind != sketch_kind("rademacher") && kind.kind != sketch_kind("gaussian")) return true;
  return shape.d * shape.D * shape.p * (field == SketchField::complex ? 8 : 4) <= int64_t{1} << 30;
}

void register_sketches() {
  for (const Kind& kind : kKinds) {
    for (const auto& [field_name, field] : kFields) {
      auto* const cases = benchmark::RegisterBenchmark(
          ("sketch/" + std::string(kind.name) + "/" + field_name).c_str(),
          [&kind, field = field](benchmark::State& state) { one_sketch(state, kind, field); });
      cases->ArgNames({"d", "D", "p"})->MinTime(0.2)->Unit(benchmark::kMillisecond)->UseRealTime();
      for (const int64_t d : {64, 256, 1024, 4096}) {
        for (const int64_t D : {int64_t{4096}, 10 * d}) {
          for (const int64_t p : {3, 6}) {
            if (fits(kind, field, {d, D, p})) cases->Args({d, D, p});
          }
        }
      }
    }
  }
}

BENCHMARK(tensor_sketch_over_srht)
    ->Name("target/tensor_sketch_over_srht")
    ->ArgNames({"d", "p", "offset"})
    ->ArgsProduct({{1024}, {3, 6}, {0, 1}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(added_feature)
    ->Name("target/added_feature")
    ->ArgName("p")
    ->Arg(3)
    ->Arg(6)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(dense_over_sparse)
    ->Name("target/dense_over_sparse")
    ->ArgNames({"d", "D", "p", "offset"})
    ->ArgsProduct({{64, 1024}, {4096}, {3}, {0, 1}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  register_sketches();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
