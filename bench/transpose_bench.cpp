// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// project_transpose, GW' for all F columns tile by tile on one thread, against OpenBLAS's product
// of the same shape (n x F times F x d) in the same run: GFLOP/s as if W were dense, and the share
// of the product's rate. Each case is checked against <XW, G> = <X, GW'> before it is timed.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <string>

#include "base/aligned.h"
#include "linalg/blas.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "transform/panel.h"

using namespace mercer;
using namespace mercer::projection;

namespace {

template <class T>
Matrix<T> normal(int64_t n, int64_t d, uint64_t index) {
  AlignedBuffer<double> numbers(n * d);
  random::fill_normal(random::Stream(1, random::Tag::generated, index), 0,
                      std::span(numbers.data(), n * d));
  Matrix<T> X(n, d);
  for (int64_t i = 0; i < n * d; ++i) X.data()[i] = static_cast<T>(numbers[i]);
  return X;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
double gemm_seconds(int64_t n, int64_t F, int64_t d) {
  const Matrix<T> G = normal<T>(n, F, 1), W = normal<T>(d, F, 2), X(n, d);
  double best = 1e30;
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    linalg::multiply(T{1}, linalg::Transpose::no, G.view(), linalg::Transpose::yes, W.view(), T{0},
                     X.view());
    best = std::min(best, seconds_since(start));
  }
  return best;
}

// G holds a block's columns side by side, block after block: n x columns each.
template <class T>
struct Tiles {
  const Projection& projection;
  BlockShape shape;
  int64_t blocks;
  AlignedBuffer<T> G;
  AlignedBuffer<T> scratch;

  Tiles(const Projection& from, int64_t n)
      : projection(from),
        shape(from.shape(T{})),
        blocks((from.outputs() - 1) / shape.columns + 1),
        G(n * blocks * shape.columns),
        scratch(std::max(shape.scratch, shape.transpose_scratch)) {}

  void add(MatrixView<T> X) const {
    for (int64_t tile = 0; tile < X.rows; tile += transform::kTileRows) {
      const int64_t end = std::min(tile + transform::kTileRows, X.rows);
      for (int64_t block = 0; block < blocks; ++block) {
        const T* const from = G.data() + block * X.rows * shape.columns;
        for (int64_t i = tile; i < end; i += shape.rows) {
          projection.project_transpose(from + i * shape.columns, block,
                                       X.block_rows(i, std::min(i + shape.rows, end)),
                                       scratch.data());
        }
      }
    }
  }
};

// <XW, G> for one row.
template <class T>
double forward(const Tiles<T>& tiles, const Matrix<T>& X) {
  const AlignedBuffer<T> P(tiles.shape.columns);
  double sum = 0;
  for (int64_t block = 0; block < tiles.blocks; ++block) {
    tiles.projection.project(MatrixView<const T>(X.view()).block_rows(0, 1), block, P.data(),
                             tiles.scratch.data());
    const T* const g = tiles.G.data() + block * X.rows() * tiles.shape.columns;
    for (int64_t j = 0; j < tiles.shape.columns; ++j)
      sum += static_cast<double>(P[j]) * static_cast<double>(g[j]);
  }
  return sum;
}

template <class T>
void transpose(benchmark::State& state, const std::string& name) {
  const int64_t n = state.range(0), d = state.range(1), F = state.range(2);
  const auto projection =
      find_projection(name).make({random::normal_law(), {}, Unit::plain, d, F, 1});
  const Tiles<T> tiles(*projection, n);
  Context context;
  projection->prepare({0, tiles.blocks}, T{}, context);
  const Matrix<T> numbers = normal<T>(1, tiles.G.size(), 3);
  std::copy_n(numbers.data(), tiles.G.size(), tiles.G.data());
  const Matrix<T> X = normal<T>(n, d, 4);
  Matrix<T> back(n, d);
  back.fill(0);
  tiles.add(back.view());
  double sum = 0;
  for (int64_t k = 0; k < d; ++k)
    sum += static_cast<double>(X(0, k)) * static_cast<double>(back(0, k));
  // Of the size sqrt(d F); the errors add up over as many terms.
  if (!(std::fabs(sum - forward(tiles, X)) < 1e-3 * std::sqrt(double(d * F))))
    state.SkipWithError("not the adjoint");
  double seconds = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    tiles.add(back.view());
    seconds += seconds_since(start);
  }
  const double mine = seconds / static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = 2e-9 * static_cast<double>(n * d * F) / mine;
  state.counters["of_gemm"] = gemm_seconds<T>(n, F, d) / mine;
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t d : {16, 64, 784}) bench->Args({1920, d, 2048});
  bench->ArgNames({"n", "d", "F"})->Unit(benchmark::kMillisecond);
}

const int kRegistered = [] {
  for (const ProjectionEntry* entry : projection_table()) {
    const std::string name = entry->name;
    const auto add = [&](const char* type, void (*run)(benchmark::State&, const std::string&)) {
      shapes(
          benchmark::RegisterBenchmark(("transpose/" + name + "/" + type).c_str(),
                                       [run, name](benchmark::State& state) { run(state, name); }));
    };
    add("f32", transpose<float>);
    add("f64", transpose<double>);
  }
  return 0;
}();

}  // namespace

BENCHMARK_MAIN();
