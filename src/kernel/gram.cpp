// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// K(i, j) = k(X_i, Y_j), in tiles so that the rows of both stay in cache while they are combined.
#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "kernel/kernel.h"

namespace mercer::kernel {
namespace {

constexpr int64_t kRowsPerChunk = 32;
constexpr int64_t kTileDoubles = 8192;  // of Y: 64 KiB, half of a small second-level cache

void check(const Kernel& kernel, MatrixView<const double> X, MatrixView<const double> Y,
           MatrixView<double> K) {
  require(X.cols == Y.cols, MERCER_DIMENSION_MISMATCH,
          "X has %lld columns and Y %lld, expected the same", static_cast<long long>(X.cols),
          static_cast<long long>(Y.cols));
  require(K.rows == X.rows && K.cols == Y.rows, MERCER_DIMENSION_MISMATCH,
          "K is %lld x %lld, expected %lld x %lld (rows of X, rows of Y)",
          static_cast<long long>(K.rows), static_cast<long long>(K.cols),
          static_cast<long long>(X.rows), static_cast<long long>(Y.rows));
  kernel.check_dimension(X.cols);
}

}  // namespace

void gram(const Kernel& kernel, MatrixView<const double> X, MatrixView<const double> Y,
          Context& context, MatrixView<double> K) {
  check(kernel, X, Y, K);
  const int64_t d = X.cols;
  const int64_t tile = std::max<int64_t>(1, kTileDoubles / d);
  // Of X against itself each pair is computed once, by the chunk of the lower row, and written
  // twice.
  const bool symmetric = X.data == Y.data && X.rows == Y.rows && X.ld == Y.ld;
  const auto body = [&](int64_t chunk, int) noexcept {
    const int64_t first = chunk * kRowsPerChunk;
    const int64_t last = std::min(X.rows, first + kRowsPerChunk);
    for (int64_t j0 = symmetric ? first : 0; j0 < Y.rows; j0 += tile) {
      const int64_t j1 = std::min(Y.rows, j0 + tile);
      for (int64_t i = first; i < last; ++i) {
        for (int64_t j = symmetric ? std::max(i, j0) : j0; j < j1; ++j) {
          K(i, j) = kernel.value(d, X.row(i), Y.row(j));
          if (symmetric) K(j, i) = K(i, j);
        }
      }
    }
  };
  parallel_for(context, (X.rows + kRowsPerChunk - 1) / kRowsPerChunk, body, kRowsPerChunk);
}

}  // namespace mercer::kernel
