// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The floor of a map's time: the products of rows and frequencies at the rate of the matrix products
// of BLAS, and the features once to memory at the rate of plain writes. A map that keeps products in
// cache until they are finished comes near their sum, and may fall below it.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/aligned.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/map_entry.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "statistic/self_test/self_test.h"

namespace mercer::statistic {
namespace {

constexpr int64_t kSide = 768;  // of matrices that are multiplied
constexpr int64_t kTimedRows = 4096, kTimedInputs = 128,
                  kTimedFeatures = 2048;  // 32 MB of features
constexpr int kTimedRuns = 4;  // the best of them; the first packs frequencies and touches pages

template <class Body>
double best_seconds(Stage& stage, Context& context, const Body& body) {
  double best = kInfinity;
  for (int run = 0; run < kTimedRuns; ++run) {
    context.checkpoint();
    const auto started = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
    best = std::min(best, taken.count());
    stage.advance(1);
  }
  return best;
}

Matrix<float> normal_rows(int64_t n, int64_t d, Context& context) {
  Matrix<float> X(n, d, context, "rows of the self-test");
  std::vector<double> drawn(static_cast<size_t>(d));
  for (int64_t i = 0; i < n; ++i) {
    random::fill_normal({3, random::Tag::generated, 0}, static_cast<uint64_t>(i * d), drawn);
    std::copy(drawn.begin(), drawn.end(), X.view().row(i));
  }
  return X;
}

double products_a_second(Stage& stage, Context& context) {
  const Matrix<float> A = normal_rows(kSide, kSide, context);
  Matrix<float> C(kSide, kSide, context, "a product of the self-test");
  const double seconds = best_seconds(stage, context, [&] {
    linalg::multiply(1.f, linalg::kPlain, A.view(), linalg::kPlain, A.view(), 0.f, C.view());
  });
  return static_cast<double>(kSide * kSide * kSide) / seconds;
}

/// By as many threads as a map has.
double bytes_a_second(const Matrix<float>& Z, Stage& stage, Context& context) {
  const int64_t chunks = Z.rows() / 64, bytes = 64 * Z.cols() * static_cast<int64_t>(sizeof(float));
  int value = 0;
  const double seconds = best_seconds(stage, context, [&] {
    ++value;
    parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
      std::memset(Z.view().row(64 * chunk), value, static_cast<size_t>(bytes));
    });
  });
  return static_cast<double>(chunks * bytes) / seconds;
}

}  // namespace

Parameters rates_found(Context& context) {
  Stage stage(context, 3 * kTimedRuns);
  const auto map = feature::make_map(feature::canonical_map(
      {{"map", "fourier"},
       {"kernel", std::make_shared<const Parameters>(feature::kernel_named("gaussian"))},
       {"inputs", kTimedInputs},
       {"features", kTimedFeatures},
       {"projection", "dense"}},
      "", feature::Data::refused));
  const Matrix<float> X = normal_rows(kTimedRows, kTimedInputs, context);
  Matrix<float> Z(kTimedRows, kTimedFeatures, context, "features of the self-test");
  const double products = products_a_second(stage, context),
               bytes = bytes_a_second(Z, stage, context);
  const Rows rows(MatrixView<const float>(X.view()));
  const double seconds = best_seconds(stage, context, [&] {
    map->apply(rows, {0, kTimedFeatures}, context, Z.view());
  });
  const double numbers = static_cast<double>(kTimedRows * kTimedFeatures);
  const double floor = numbers / 2 * static_cast<double>(kTimedInputs) / products +
                       numbers * static_cast<double>(sizeof(float)) / bytes;
  return {{"multiply_gflops", 2e-9 * products},
          {"write_gigabytes", 1e-9 * bytes},
          {"map_megafeatures", 1e-6 * numbers / seconds},
          {"map_share_of_floor", floor / seconds}};
}

}  // namespace mercer::statistic
