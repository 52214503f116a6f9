// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What no map beats: BLAS's product of the same shape, and a plain fill of Z by as many threads.
#pragma once

#include <algorithm>

#include "base/parallel.h"
#include "best_seconds.h"
#include "drawn_rows.h"
#include "linalg/blas.h"

namespace mercer::bench {

template <class T>
double gemm_seconds(const Matrix<T>& X, int64_t F) {
  const Matrix<T> W = normal_rows<T>(X.cols(), F);
  const Matrix<T> P(X.rows(), F);
  return best_seconds([&] {
    linalg::multiply(T{1}, linalg::Transpose::no, X.view(), linalg::Transpose::no, W.view(), T{0},
                     P.view());
  });
}

template <class T>
double fill_seconds(Matrix<T>& Z, Context& context) {
  T value = 0;
  return best_seconds([&] {
    value += 1;
    parallel_for(context, Z.rows(),
                 [&](int64_t i, int) noexcept { std::fill_n(Z.view().row(i), Z.cols(), value); });
  });
}

}  // namespace mercer::bench
