// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Columns of Fourier maps: those written around the caches, those that a larger map keeps.
#include <cmath>
#include <cstring>
#include <memory>

#include "base/aligned.h"
#include "feature/fourier.h"
#include "kernel/kernel.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;
using test::features_of;

TEST_CASE("fourier: streamed and cached stores write the same bytes") {
  // 9,000 x 1,024 floats pass the 32 MiB at which stores go around the cache; a Z that does not
  // start at a cache line goes through the buffer.
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto map = make_fourier(*kernel, 3, 1024, {"dense", FourierForm::pair, 1});
  const Matrix<float> X = test::random_matrix<float>(9000, 3, 5);
  Context context;
  context.threads = 2;
  const Matrix<float> Z(9000, 1024), padded(9000, 1027);
  map->apply(X.view(), {0, 1024}, context, Z.view());
  map->apply(X.view(), {0, 1024}, context, padded.view().block_cols(0, 1024));
  int64_t wrong = 0;
  for (int64_t i = 0; i < 9000; ++i)
    wrong += std::memcmp(Z.view().row(i), padded.view().row(i), 4096) != 0;
  CHECK(wrong == 0);
}

TEST_CASE("fourier: a map with more features keeps the first frequencies") {
  const auto kernel = kernel::make_matern(1.5, {1.0}, 1.0);
  const Matrix<double> X = test::random_matrix(5, 4, 3);
  const Matrix<double> small =
      features_of(*make_fourier(*kernel, 4, 10, {"dense", FourierForm::complex, 9}), X);
  const Matrix<double> large =
      features_of(*make_fourier(*kernel, 4, 90, {"dense", FourierForm::complex, 9}), X);
  double worst = 0;
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 20; ++j)
      test::keep_worst(worst, std::fabs(large(i, j) * 3 - small(i, j)));
  }
  CHECK(worst <= 1e-15);
}
