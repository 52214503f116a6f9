// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// LAPACK does not touch the other triangle, which keeps a copy of the matrix between attempts.
#include "solver/jittered_cholesky.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "linalg/blas.h"

namespace mercer::solver {
namespace {

constexpr double kFirstJitter = 1e-15;
constexpr int kAttempts = 7;   // 1e-15 ... 1e-9
constexpr int64_t kTile = 64;  // two 32 KiB tiles fit the caches of a core

/// A(j, i) = A(i, j) for j < i (save), or A(i, j) = A(j, i) (restore), by square tiles.
void copy_triangle(MatrixView<double> A, bool save, Context& context) {
  const int64_t tiles = ceil_divide(A.rows, kTile);
  parallel_for(context, tiles, [=](int64_t tile, int) noexcept {
    const int64_t first = tile * kTile, last = std::min(first + kTile, A.rows);
    for (int64_t column = 0; column < last; column += kTile) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t end = std::min(column + kTile, i);
        for (int64_t j = column; j < end; ++j) {
          if (save) {
            A(j, i) = A(i, j);
          } else {
            A(i, j) = A(j, i);
          }
        }
      }
    }
  });
}

}  // namespace

void jittered_cholesky(MatrixView<double> A, Context& context) {
  const int64_t n = A.rows;
  Stage stage(context, 1);  // ignores further attempts, which are rare
  std::vector<double> diagonal(n);
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    diagonal[i] = A(i, i);
    mean += A(i, i) / static_cast<double>(n);
  }
  copy_triangle(A, true, context);
  int64_t pivot = linalg::cholesky(A);
  require(std::isfinite(mean), MERCER_NOT_POSITIVE_DEFINITE,
          "pivot %ld of %ld is not finite: the matrix holds NaN or Inf", pivot, n);
  double jitter = kFirstJitter * mean;
  for (int attempt = 0; pivot != 0 && attempt < kAttempts; ++attempt, jitter *= 10) {
    context.checkpoint();
    copy_triangle(A, false, context);
    for (int64_t i = 0; i < n; ++i) A(i, i) = diagonal[i] + jitter;
    pivot = linalg::cholesky(A);
  }
  stage.advance(1);
  context.checkpoint();
  require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "pivot %ld of %ld is not positive, not even with 1e-9 of the mean diagonal, %g, added",
          pivot, n, mean);
}

}  // namespace mercer::solver
