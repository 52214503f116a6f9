// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/rows/copied_rows.h"

#include <algorithm>

namespace mercer::model {
namespace {

constexpr const char* kCopyOfRows = "a copy of rows";

}  // namespace

template <class T>
void CopiedRows::copy(const MatrixView<const T>& X, solver::RowSet rows, Context& context) {
  Matrix<T> part(rows.count, X.cols, context, kCopyOfRows);
  for (int64_t i = 0; i < rows.count; ++i) std::copy_n(X.row(rows[i]), X.cols, part.view().row(i));
  storage_ = std::move(part);
}

template <class T>
void CopiedRows::copy(const CsrView<T>& X, solver::RowSet rows, Context& context) {
  int64_t listed = 0;
  for (int64_t i = 0; i < rows.count; ++i) listed += X.end(rows[i]) - X.begin(rows[i]);
  Sparse<T> part{X.cols,
                 {rows.count + 1, context, kCopyOfRows},
                 {listed, context, kCopyOfRows},
                 {listed, context, kCopyOfRows}};
  int64_t at = part.offsets[0] = 0;
  for (int64_t i = 0; i < rows.count; ++i) {
    for_each_listed(X, rows[i], [&](int64_t j, T value) {
      part.indices[at] = j;
      part.values[at++] = value;
    });
    part.offsets[i + 1] = at;
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
          return CsrView<std::remove_cvref_t<decltype(part.values[0])>>{
              part.offsets.size() - 1, part.cols, part.offsets.data(), part.indices.data(),
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
