// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/row_coding.h"

namespace mercer::model {
namespace {

/// sums: zeros, one per column.
template <class T>
CsrRows stored_rows(const Preparation& by, const CsrView<T>& X, double* sums, Context& context,
                    const char* what) {
  // A missing number may add a flag.
  const int64_t each = by.flagged.empty() ? 1 : 2;
  CsrRows rows(X.rows, by.prepared(X.cols), checked_multiply(each, X.nonzeros(), what), context,
               what);
  for (int64_t i = 0; i < X.rows; ++i)
    rows.add([&](const auto& put) { for_each_prepared(by, X, i, sums, put); });
  return rows;
}

}  // namespace

Matrix<double> dense_prepared_rows(const Preparation& preparation, const Rows& X, Context& context,
                                   const char* what) {
  Matrix<double> dense(X.rows(), preparation.prepared(X.cols()), context, what);
  const Matrix<double> sums(1, X.sparse() ? X.cols() : 0, context, what);
  sums.fill(0);
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      prepare_row(preparation, rows, i, sums.data(), dense.view().row(i));
  });
  return dense;
}

PreparedRows::PreparedRows(const Preparation& preparation, const Rows& X, Context& context,
                           const char* what)
    : sparse_(X.sparse() && !preparation.centers()) {
  if (!sparse_) {
    dense_ = dense_prepared_rows(preparation, X, context, what);
    return;
  }
  const Matrix<double> sums(1, X.cols(), context, what);
  sums.fill(0);
  X.visit([&](const auto& rows) {
    if constexpr (kIsSparse<decltype(rows)>)
      stored_ = stored_rows(preparation, rows, sums.data(), context, what);
  });
}

Rows PreparedRows::view() const {
  if (sparse_) return stored_.view();
  return dense_.view();
}

}  // namespace mercer::model
