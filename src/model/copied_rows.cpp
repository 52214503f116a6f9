// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/copied_rows.h"

#include <algorithm>

namespace mercer::model {

template <class T>
void CopiedRows::copy(const MatrixView<const T>& X, solver::RowSet rows, Context& context) {
  Matrix<T> part(rows.count, X.cols, context, "a copy of rows");
  for (int64_t i = 0; i < rows.count; ++i) std::copy_n(X.row(rows[i]), X.cols, part.view().row(i));
  storage_ = std::move(part);
}

template <class T>
void CopiedRows::copy(const CsrView<T>& X, solver::RowSet rows, Context&) {
  Sparse<T> part;
  part.cols = X.cols;
  for (int64_t i = 0; i < rows.count; ++i) {
    for_each_listed(X, rows[i], [&](int64_t j, T value) {
      part.indices.push_back(j);
      part.values.push_back(value);
    });
    part.offsets.push_back(std::ssize(part.indices));
  }
  storage_ = std::move(part);
}

CopiedRows::CopiedRows(const Rows& of, solver::RowSet rows, Context& context) {
  of.visit([&](const auto& X) { copy(X, rows, context); });
}

Rows CopiedRows::rows() const {
  return std::visit(
      [](const auto& part) -> Rows {
        if constexpr (requires { part.view(); }) {
          return part.view();
        } else {
          return CsrView<typename std::remove_cvref_t<decltype(part.values)>::value_type>{
              std::ssize(part.offsets) - 1, part.cols, part.offsets.data(), part.indices.data(),
              part.values.data()};
        }
      },
      storage_);
}

Matrix<double> copied_targets(MatrixView<const double> Y, solver::RowSet rows, Context& context) {
  Matrix<double> part(rows.count, Y.cols, context, "a copy of targets");
  for (int64_t i = 0; i < rows.count; ++i) std::copy_n(Y.row(rows[i]), Y.cols, part.view().row(i));
  return part;
}

}  // namespace mercer::model
