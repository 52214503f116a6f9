// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of numbers as callers have them: dense or CSR, single or double. Functions that read rows
// take this one type and dispatch once per block.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/context.h"

namespace mercer {

// Non-owning row-major matrices. MatrixView<const T> reads, MatrixView<T> writes.

template <class T>
struct MatrixView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;  // elements from one row to the next, >= cols

  constexpr MatrixView() = default;
  constexpr MatrixView(T* data_in, int64_t rows_in, int64_t cols_in, int64_t ld_in)
      : data(data_in), rows(rows_in), cols(cols_in), ld(ld_in) {}
  constexpr MatrixView(T* data_in, int64_t rows_in, int64_t cols_in)
      : MatrixView(data_in, rows_in, cols_in, cols_in) {}

  constexpr operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, ld};
  }

  constexpr T* row(int64_t i) const { return data + i * ld; }
  constexpr T& operator()(int64_t i, int64_t j) const { return data[i * ld + j]; }

  /// Rows [i0, i1) and columns [j0, j1) of this matrix.
  constexpr MatrixView block_rows(int64_t i0, int64_t i1) const {
    return {data + i0 * ld, i1 - i0, cols, ld};
  }
  constexpr MatrixView block_cols(int64_t j0, int64_t j1) const {
    return {data + j0, rows, j1 - j0, ld};
  }
};

/// True for no rows; false if there is a NaN.
template <class T>
bool column_is_constant(const MatrixView<T>& A, int64_t j) {
  for (int64_t i = 1; i < A.rows; ++i)
    if (A(i, j) != A(0, j)) return false;
  return true;
}

// Non-owning sparse rows (CSR). Offsets and indices are 32- or 64-bit integers, both of one width
// as in SciPy; either width is read in place, without copy or conversion.

/// An array of integers of either width.
class IntegerView {
 public:
  constexpr IntegerView() = default;
  constexpr IntegerView(const int32_t* data) : narrow_(data) {}  // NOLINT: implicit
  constexpr IntegerView(const int64_t* data) : wide_(data) {}    // NOLINT: implicit

  constexpr int64_t operator[](int64_t i) const noexcept {
    return wide_ != nullptr ? wide_[i] : narrow_[i];
  }
  constexpr IntegerView from(int64_t i) const noexcept {
    return wide_ != nullptr ? IntegerView(wide_ + i) : IntegerView(narrow_ + i);
  }
  /// body(pointer): selects the width once per loop instead of once per element.
  template <class Body>
  decltype(auto) visit(Body&& body) const {
    return wide_ != nullptr ? body(wide_) : body(narrow_);
  }

 private:
  const int32_t* narrow_ = nullptr;
  const int64_t* wide_ = nullptr;
};

/// Row i holds values[p] in column indices[p] for p in [offsets[i], offsets[i + 1]), in any order;
/// a column named twice counts as the sum. Offsets need not start at 0, so a range of rows is a
/// view of the same arrays. Invariant, checked where callers' arrays enter: offsets ascend, indices
/// are in [0, cols).
template <class T>
struct CsrView {
  int64_t rows = 0;
  int64_t cols = 0;
  IntegerView offsets;  // rows + 1
  IntegerView indices;
  const T* values = nullptr;

  constexpr int64_t begin(int64_t i) const noexcept { return offsets[i]; }
  constexpr int64_t end(int64_t i) const noexcept { return offsets[i + 1]; }
  constexpr int64_t nonzeros() const noexcept { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
  constexpr CsrView block_rows(int64_t i0, int64_t i1) const noexcept {
    return {i1 - i0, cols, offsets.from(i0), indices, values};
  }
};

/// x[indices[p]] += values[p] over row i.
template <class T, class U>
void add_row(const CsrView<T>& X, int64_t i, U* x) noexcept {
  X.indices.visit([&](const auto* indices) {
    for (int64_t p = X.begin(i); p < X.end(i); ++p) x[indices[p]] += X.values[p];
  });
}

/// x[indices[p]] = 0 over row i: undoes add_row on zeros, at the cost of the row's non-zeros.
template <class T, class U>
void clear_row(const CsrView<T>& X, int64_t i, U* x) noexcept {
  X.indices.visit([&](const auto* indices) {
    for (int64_t p = X.begin(i); p < X.end(i); ++p) x[indices[p]] = U{0};
  });
}

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
void for_each_stored(const MatrixView<const T>& X, int64_t i, const Body& body) {
  const T* row = X.row(i);
  for (int64_t j = 0; j < X.cols; ++j) body(j, row[j]);
}
template <class T, class Body>
void for_each_stored(const CsrView<T>& X, int64_t i, const Body& body) {
  X.indices.visit([&](const auto* indices) {
    for (int64_t p = X.begin(i); p < X.end(i); ++p) body(int64_t{indices[p]}, X.values[p]);
  });
}

// A matrix that a call fills, single or double: the output counterpart of MatrixView.

/// Non-owning.
class ResultView {
 public:
  ResultView() = default;
  // Implicit, so that a view can be passed as a result.
  ResultView(MatrixView<float> Z) : view_(Z) {}   // NOLINT
  ResultView(MatrixView<double> Z) : view_(Z) {}  // NOLINT

  /// The view if it has this type, else NULL.
  template <class T>
  const MatrixView<T>* get_if() const noexcept {
    return std::get_if<MatrixView<T>>(&view_);
  }
  int64_t rows() const {
    return std::visit([](const auto& Z) { return Z.rows; }, view_);
  }
  int64_t cols() const {
    return std::visit([](const auto& Z) { return Z.cols; }, view_);
  }

 private:
  std::variant<MatrixView<double>, MatrixView<float>> view_;
};

// Checks that numbers are finite and small enough to sum their squares: others are refused by row
// and column on entry, so that a NaN or an overflow never becomes a weight or a score.

/// Beyond this magnitude sums of squares over rows may overflow a double.
inline constexpr double kLargestSummed = 1e150;

/// Whether NaN is an error or a missing number.
enum class MissingNumbers { refused, allowed };

/// INVALID_ARGUMENT naming the first entry of X, by row, that is NaN (unless allowed), infinite or
/// beyond kLargestSummed in magnitude; rows and columns count from 0. One pass over X, two over
/// rows with a NaN.
void require_summable(const char* name, const Rows& X,
                      MissingNumbers missing = MissingNumbers::refused);

}  // namespace mercer
