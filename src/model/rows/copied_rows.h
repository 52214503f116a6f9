// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A copy of some rows of a data set: dense as dense, sparse as sparse.
#pragma once

#include <cstdint>
#include <variant>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "solver/row_set.h"

namespace mercer::model {

class CopiedRows {
 public:
  CopiedRows(const Rows& of, solver::RowSet rows, Context& context);
  Rows rows() const;

 private:
  template <class T>
  struct Sparse {
    int64_t cols = 0;
    AlignedBuffer<int64_t> offsets, indices;
    AlignedBuffer<T> values;
  };
  template <class T>
  void copy(const MatrixView<const T>& X, solver::RowSet rows, Context& context);
  template <class T>
  void copy(const CsrView<T>& X, solver::RowSet rows, Context& context);

  std::variant<Matrix<double>, Matrix<float>, Sparse<double>, Sparse<float>> storage_;
};

/// A copy of some rows of targets.
Matrix<double> copied_targets(MatrixView<const double> Y, solver::RowSet rows, Context& context);

}  // namespace mercer::model
