// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/rows.h for C++17: views of memory that belongs to someone else, a matrix that owns its
// numbers, and Rows (read) and Result (written), to which these convert implicitly.
//
// Example: a view of rows with gaps, and an owning matrix.
//
//   mercer::MatrixView<const double> X(data, 10, 3, 4);
//   mercer::Matrix<double> K(10, 10);
//   kernel.gram(X, X, K);
#ifndef MERCER_VIEW_HPP
#define MERCER_VIEW_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/rows.h"

namespace mercer {
inline namespace hpp {

/// Consecutive numbers that belong to someone else. Made from any container with data() and size(),
/// from one number, or, for the call it is written in, from a list in braces or a temporary.
template <class T>
class Span {
 public:
  Span() = default;
  Span(T* data, int64_t size) : data_(data), size_(size) {}
  template <class Container, class = decltype(static_cast<T*>(std::declval<Container&>().data())),
            class = decltype(std::declval<Container&>().size())>
  Span(Container& container)
      : data_(container.data()), size_(static_cast<int64_t>(container.size())) {}
  template <class Container,
            class = decltype(static_cast<T*>(std::declval<const Container&>().data())),
            class = decltype(std::declval<const Container&>().size())>
  Span(const Container& container)
      : data_(container.data()), size_(static_cast<int64_t>(container.size())) {}
  Span(std::initializer_list<std::remove_const_t<T>> list)
      : data_(std::data(list)), size_(static_cast<int64_t>(list.size())) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  Span(Span<U> other) : data_(other.data()), size_(other.size()) {}
  Span(const std::remove_const_t<T>& one) : data_(&one), size_(1) {}
  T* data() const noexcept { return data_; }
  int64_t size() const noexcept { return size_; }

 private:
  T* data_ = nullptr;
  int64_t size_ = 0;
};

/// A row-major matrix that belongs to someone else: element (i, j) is data[i * ld + j].
template <class T>
struct MatrixView {
  using value_type = std::remove_const_t<T>;
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;

  MatrixView() = default;
  MatrixView(T* data_in, int64_t rows_in, int64_t cols_in, int64_t ld_in)
      : data(data_in), rows(rows_in), cols(cols_in), ld(ld_in) {}
  MatrixView(T* data_in, int64_t rows_in, int64_t cols_in)
      : MatrixView(data_in, rows_in, cols_in, cols_in) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  MatrixView(const MatrixView<U>& o) : MatrixView(o.data, o.rows, o.cols, o.ld) {}
  /// Of a row-major matrix or Map of Eigen's, whose rows are contiguous, or of a column of it.
  template <class M, bool column = std::decay_t<M>::ColsAtCompileTime == 1,
            class = std::enable_if_t<column || bool(std::decay_t<M>::IsRowMajor)>>
  explicit MatrixView(M&& m)
      : MatrixView(m.data(), m.rows(), m.cols(), column ? m.innerStride() : m.outerStride(),
                   column ? 1 : m.innerStride()) {}
  /// Of a std::mdspan of rank 2, whose rows are contiguous.
  template <class M, class = decltype(std::declval<M&>().data_handle()), class = void>
  explicit MatrixView(const M& m)
      : MatrixView(m.data_handle(), static_cast<int64_t>(m.extent(0)),
                   static_cast<int64_t>(m.extent(1)), static_cast<int64_t>(m.stride(0)),
                   static_cast<int64_t>(m.stride(1))) {}
  T& operator()(int64_t i, int64_t j) const { return data[i * ld + j]; }

 private:
  MatrixView(T* data_in, int64_t rows_in, int64_t cols_in, int64_t ld_in, int64_t step)
      : MatrixView(data_in, rows_in, cols_in, ld_in) {
    if (step != 1 && cols_in > 1)
      throw std::invalid_argument("mercer::MatrixView: a step of " + std::to_string(step) +
                                  " between the numbers of a row, expected 1");
  }
};

/// Sparse rows (CSR) that belong to someone else: row i holds values[p] in column indices[p] for p
/// in [offsets[i], offsets[i + 1]), as mercer_rows says; Index is int32_t or int64_t.
template <class T, class Index>
struct CsrView {
  using value_type = T;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t nonzeros = 0;
  const Index* offsets = nullptr;
  const Index* indices = nullptr;
  const T* values = nullptr;
};

/// A matrix that owns its rows x cols numbers, zero at first.
template <class T>
class Matrix {
 public:
  using value_type = T;
  Matrix(int64_t rows, int64_t cols)
      : values_(static_cast<size_t>(rows * cols)), rows_(rows), cols_(cols) {}
  T& operator()(int64_t i, int64_t j) { return values_[static_cast<size_t>(i * cols_ + j)]; }
  const T& operator()(int64_t i, int64_t j) const {
    return values_[static_cast<size_t>(i * cols_ + j)];
  }
  int64_t rows() const noexcept { return rows_; }
  int64_t cols() const noexcept { return cols_; }
  operator MatrixView<T>() { return {values_.data(), rows_, cols_}; }
  operator MatrixView<const T>() const { return {values_.data(), rows_, cols_}; }
  MatrixView<T> view() { return *this; }
  MatrixView<const T> view() const { return *this; }

 private:
  std::vector<T> values_;
  int64_t rows_, cols_;
};

namespace detail {
template <class T>
constexpr int32_t number() {
  if constexpr (std::is_same_v<T, float>) return MERCER_NUMBER_F32;
  if constexpr (std::is_same_v<T, double>) return MERCER_NUMBER_F64;
  if constexpr (std::is_same_v<T, int32_t>) return MERCER_NUMBER_I32;
  if constexpr (std::is_same_v<T, std::complex<float>>) return MERCER_NUMBER_C32;
  if constexpr (std::is_same_v<T, std::complex<double>>) return MERCER_NUMBER_C64;
  return -1;
}
template <class T>
inline constexpr bool is_real = number<T>() == MERCER_NUMBER_F32
                                || number<T>() == MERCER_NUMBER_F64;
}  // namespace detail

/// Argument of every function that reads rows: a view of dense or sparse rows of float or double.
class Rows {
 public:
  template <class T, class = std::enable_if_t<detail::is_real<std::remove_const_t<T>>>>
  Rows(MatrixView<T> X)
      : view_(mercer_rows_dense(detail::number<std::remove_const_t<T>>(), X.rows, X.cols, X.data)) {
    view_.ld = X.ld;
  }
  template <class T>
  Rows(const Matrix<T>& X) : Rows(X.view()) {}
  template <class T, class Index, class = std::enable_if_t<detail::is_real<T>>>
  Rows(const CsrView<T, Index>& X)
      : view_(mercer_rows_csr(detail::number<T>(),
                              sizeof(Index) == 4 ? MERCER_INDEX_I32 : MERCER_INDEX_I64, X.rows,
                              X.cols, X.nonzeros, X.offsets, X.indices, X.values)) {
    static_assert(std::is_same_v<Index, int32_t> || std::is_same_v<Index, int64_t>,
                  "indices are int32_t or int64_t");
  }
  int64_t rows() const noexcept { return view_.n; }
  int64_t cols() const noexcept { return view_.d; }
  const mercer_rows& get() const noexcept { return view_; }

 private:
  mercer_rows view_;
};

/// Argument of every function that writes: a view of float, double or their complex numbers.
class Result {
 public:
  template <class T, class = std::enable_if_t<detail::number<T>() >= 0>>
  Result(MatrixView<T> Z) : view_(mercer_matrix_of(detail::number<T>(), Z.rows, Z.cols, Z.data)) {
    view_.ld = Z.ld;
  }
  template <class T>
  Result(Matrix<T>& Z) : Result(Z.view()) {}
  const mercer_matrix& get() const noexcept { return view_; }

 private:
  mercer_matrix view_;
};

}  // namespace hpp
}  // namespace mercer
#endif
