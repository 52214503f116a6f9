// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of numbers as callers have them: dense or CSR, single or double. Functions that read rows
// take this one type and dispatch once per block.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "base/csr_view.h"
#include "base/matrix_view.h"

namespace mercer {

/// Non-owning.
class Rows {
 public:
  Rows() = default;
  // Implicit, so that a view can be passed as rows.
  Rows(MatrixView<const float> X) : view_(X) {}                       // NOLINT
  Rows(MatrixView<const double> X) : view_(X) {}                      // NOLINT
  Rows(MatrixView<float> X) : view_(MatrixView<const float>(X)) {}    // NOLINT
  Rows(MatrixView<double> X) : view_(MatrixView<const double>(X)) {}  // NOLINT
  Rows(const CsrView<float>& X) : view_(X) {}                         // NOLINT
  Rows(const CsrView<double>& X) : view_(X) {}                        // NOLINT

  /// The view if it has this type, else NULL.
  template <class View>
  const View* get_if() const noexcept {
    return std::get_if<View>(&view_);
  }
  /// Calls body(view) with a MatrixView<const T> or a CsrView<T>.
  template <class Body>
  decltype(auto) visit(Body&& body) const {
    return std::visit(static_cast<Body&&>(body), view_);
  }
  int64_t rows() const {
    return visit([](const auto& X) { return X.rows; });
  }
  int64_t cols() const {
    return visit([](const auto& X) { return X.cols; });
  }
  bool sparse() const noexcept { return view_.index() >= 2; }
  Rows block_rows(int64_t i0, int64_t i1) const {
    return visit([=](const auto& X) { return Rows(X.block_rows(i0, i1)); });
  }

 private:
  std::variant<MatrixView<const double>, MatrixView<const float>, CsrView<float>, CsrView<double>>
      view_;
};

/// T of a MatrixView<const T> or CsrView<T>.
template <class View>
struct RowNumber;
template <class T>
struct RowNumber<MatrixView<const T>> {
  using type = T;
};
template <class T>
struct RowNumber<CsrView<T>> {
  using type = T;
};
template <class View>
using RowNumberOf = typename RowNumber<std::remove_cvref_t<View>>::type;

template <class View>
inline constexpr bool kIsSparse =
    std::is_same_v<std::remove_cvref_t<View>, CsrView<RowNumberOf<View>>>;

/// Calls body(column, value) for the stored entries of row i: every column of a dense row.
template <class T, class Body>
void for_each_listed(const MatrixView<const T>& X, int64_t i, const Body& body) {
  const T* row = X.row(i);
  for (int64_t j = 0; j < X.cols; ++j) body(j, row[j]);
}
template <class T, class Body>
void for_each_listed(const CsrView<T>& X, int64_t i, const Body& body) {
  X.indices.visit([&](const auto* indices) {
    for (int64_t p = X.begin(i); p < X.end(i); ++p) body(int64_t{indices[p]}, X.values[p]);
  });
}

}  // namespace mercer
