// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Views of memory that belongs to someone else, and a matrix that owns its numbers.
#ifndef MERCER_VIEW_HPP
#define MERCER_VIEW_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace mercer {
inline namespace hpp {

/// Numbers one after the other that belong to someone else. Made from any container with data() and
/// size(), or one number.
template <class T>
class Span {
 public:
  Span() = default;
  Span(T* data, int64_t size) : data_(data), size_(size) {}
  template <class Container, class = decltype(static_cast<T*>(std::declval<Container&>().data())),
            class = decltype(std::declval<Container&>().size())>
  Span(Container& container)
      : data_(container.data()), size_(static_cast<int64_t>(container.size())) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  Span(Span<U> other) : data_(other.data()), size_(other.size()) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  Span(const U& one) : data_(&one), size_(1) {}
  T* data() const noexcept { return data_; }
  int64_t size() const noexcept { return size_; }

 private:
  T* data_ = nullptr;
  int64_t size_ = 0;
};

/// A row-major matrix that belongs to someone else: element (i, j) is data[i * ld + j].
template <class T>
struct MatrixView {
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
  T& operator()(int64_t i, int64_t j) const { return data[i * ld + j]; }
};

/// Sparse rows that belong to someone else (mercer_map_apply_csr32_f32 says how they are laid out);
/// Index is int32_t or int64_t.
template <class T, class Index>
struct CsrView {
  int64_t rows = 0;
  int64_t nonzeros = 0;
  const Index* offsets = nullptr;
  const Index* indices = nullptr;
  const T* values = nullptr;
};

/// rows x cols numbers of its own, zero at first.
template <class T>
class Matrix {
 public:
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

}  // namespace hpp
}  // namespace mercer
#endif
