// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "transform/fwht_rows.h"

#include <algorithm>

#include "base/parallel.h"
#include "transform/fwht.h"

namespace mercer::transform {
namespace {

// Bytes of a chunk: far above the overhead of a chunk, far below a batch worth two threads.
constexpr int64_t kChunkBytes = 256 * 1024;

template <class T>
void transform_rows(MatrixView<T> X, Context& context) {
  const int64_t row_bytes = X.cols * static_cast<int64_t>(sizeof(T));
  const int64_t rows = std::max<int64_t>(1, kChunkBytes / row_bytes);
  const int64_t chunks = X.rows / rows + (X.rows % rows != 0 ? 1 : 0);
  parallel_for(
      context, chunks,
      [&](int64_t chunk, int) noexcept {
        const int64_t begin = chunk * rows;
        const int64_t end = std::min(begin + rows, X.rows);
        if (X.ld == X.cols) return fwht(X.row(begin), X.cols, end - begin);
        for (int64_t i = begin; i < end; ++i) fwht(X.row(i), X.cols, 1);
      },
      rows);
}

}  // namespace

void fwht_rows(MatrixView<float> X, Context& context) { transform_rows(X, context); }
void fwht_rows(MatrixView<double> X, Context& context) { transform_rows(X, context); }

}  // namespace mercer::transform
