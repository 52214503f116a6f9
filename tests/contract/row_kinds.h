// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The same rows in every way that a map reads them: dense, dense with a leading dimension, CSR with
// 32- and 64-bit integers, and two matrices where the map takes them. About half of the entries are
// zero and left out of the sparse rows, some are named twice.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "contract/cells.h"
#include "support/sparse.h"

namespace mercer::test {

template <class T>
class RowKinds {
 public:
  RowKinds(const Cell& cell, int64_t n, int64_t d, uint64_t seed)
      : dense_(converted<T>(rows_for(cell.row(), n, d, seed))), padded_(n, d + 3) {
    const std::vector<double> zeros(d, 0.0);  // of which some kernels know no direction
    const bool keeps_last = std::isnan(cell.kernel().value(d, zeros.data(), zeros.data()));
    narrow_.cols = wide_.cols = d;
    padded_.fill(static_cast<T>(NAN));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        const bool dropped = ((i * 2654435761 + j * 40503) >> 4) % 2 == 0;
        if (dropped && !(keeps_last && j == d - 1)) dense_(i, j) = 0;
        padded_(i, j) = dense_(i, j);
        if (dense_(i, j) == 0) continue;
        const bool twice = (i + j) % 5 == 0;
        for (int times = 0; times < (twice ? 2 : 1); ++times) {
          narrow_.add(j, dense_(i, j) / (twice ? 2 : 1));
          wide_.add(j, dense_(i, j) / (twice ? 2 : 1));
        }
      }
      narrow_.end_row();
      wide_.end_row();
    }
  }

  const Matrix<T>& dense() const { return dense_; }
  int64_t rows() const { return dense_.rows(); }

  struct Kind {
    std::string name;
    Input<T> rows;
    bool sparse;
  };
  /// Of a map of `right` inputs in the second matrix (0: none).
  std::vector<Kind> all(int64_t right) const {
    const MatrixView<const T> padded = padded_.view().block_cols(0, dense_.cols());
    std::vector<Kind> kinds = {{"dense", dense_, false},
                               {"ld > d", padded, false},
                               {"csr i32", narrow_.view(), true},
                               {"csr i64", wide_.view(), true}};
    if (right > 0) {
      const int64_t left = dense_.cols() - right;
      kinds.push_back(
          {"pair", {padded.block_cols(0, left), padded.block_cols(left, dense_.cols())}, false});
    }
    return kinds;
  }

 private:
  Matrix<T> dense_;
  Matrix<T> padded_;
  SparseRows<T, int32_t> narrow_;
  SparseRows<T, int64_t> wide_;
};

}  // namespace mercer::test
