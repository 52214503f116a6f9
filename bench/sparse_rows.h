// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random sparse rows, and the same rows made dense.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"

namespace mercer::bench {

struct SparseRows {
  int64_t d = 0;
  std::vector<int32_t> offsets{0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  CsrView<float> view() const {
    return {static_cast<int64_t>(offsets.size()) - 1, d, offsets.data(), indices.data(),
            values.data()};
  }
};

// Values uniform on [0, 1). Ascending columns, as files of text features have them.
inline SparseRows random_rows(int64_t n, int64_t d, int64_t per_row) {
  std::mt19937_64 words(1);
  SparseRows X;
  X.d = d;
  std::vector<int32_t> row(per_row);
  for (int64_t i = 0; i < n; ++i) {
    for (int32_t& column : row) column = static_cast<int32_t>(words() % static_cast<uint64_t>(d));
    std::sort(row.begin(), row.end());
    X.indices.insert(X.indices.end(), row.begin(), row.end());
    for (int64_t p = 0; p < per_row; ++p)
      X.values.push_back(static_cast<float>(words() >> 40) * 0x1p-24f);
    X.offsets.push_back(static_cast<int32_t>(X.indices.size()));
  }
  return X;
}

inline Matrix<float> made_dense(const CsrView<float>& X) {
  Matrix<float> dense(X.rows, X.cols);
  dense.fill(0);
  for (int64_t i = 0; i < X.rows; ++i) add_row(X, i, dense.view().row(i));
  return dense;
}

}  // namespace mercer::bench
