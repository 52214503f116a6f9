// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Views of vectors, short enough to be written inside a call, and sparse rows that own their
// arrays.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "mercer/derivative.h"
#include "mercer/map.h"

namespace mercer::test {

template <class T>
inline constexpr int32_t kNumber = std::is_same_v<T, float> ? MERCER_NUMBER_F32 : MERCER_NUMBER_F64;

/// Rows, whose address the operator functions want up to the end of the call.
struct RowsView : mercer_rows {
  RowsView(const mercer_rows& rows) : mercer_rows(rows) {}  // NOLINT: implicit
  operator const mercer_rows*() const { return this; }      // NOLINT: implicit
};
struct ResultView : mercer_matrix {
  ResultView(const mercer_matrix& matrix) : mercer_matrix(matrix) {}  // NOLINT: implicit
  operator const mercer_matrix*() const { return this; }              // NOLINT: implicit
};

struct TransformView : mercer_transform_options {
  operator const mercer_transform_options*() const { return this; }  // NOLINT: implicit
};
inline TransformView columns(int64_t begin, int64_t end) {
  return {{sizeof(mercer_transform_options), 0, begin, end, 0, {}}};
}
/// Right parts of rows, `locations` of which are summed. Not kept.
inline TransformView with_right(const mercer_rows& right, int64_t locations) {
  return {{sizeof(mercer_transform_options), 0, 0, 0, locations, right}};
}

/// A kind of derivatives, along vectors where it takes them.
inline mercer_derivative derivatives(int32_t kind, const mercer_rows& vectors = {}) {
  return {sizeof(mercer_derivative), kind, 0, nullptr, vectors};
}
inline mercer_derivative partial_derivatives(int64_t count, const int32_t* orders) {
  return {sizeof(mercer_derivative), MERCER_DERIVATIVE_PARTIALS, count, orders, {}};
}

/// ld = -1: rows without gaps.
template <class T>
RowsView rows_of(const T* X, int64_t n, int64_t d, int64_t ld = -1) {
  RowsView rows = mercer_rows_dense(kNumber<T>, n, d, X);
  if (ld != -1) rows.ld = ld;
  return rows;
}
template <class T>
RowsView rows_of(const std::vector<T>& X, int64_t d) {
  return rows_of(X.data(), std::ssize(X) / d, d);
}

/// `count` rows from row `first` on.
inline RowsView part_of(RowsView rows, int64_t first, int64_t count) {
  const auto after = [](const void* from, int64_t bytes) {
    return static_cast<const char*>(from) + bytes;
  };
  const int64_t size = rows.number == MERCER_NUMBER_F32 ? 4 : 8;
  if (rows.index == MERCER_INDEX_NONE) {
    rows.values = after(rows.values, first * rows.ld * size);
  } else {
    rows.offsets = after(rows.offsets, first * (rows.index == MERCER_INDEX_I32 ? 4 : 8));
  }
  rows.n = count;
  return rows;
}

/// complex: Z holds pairs of T.
template <class T>
ResultView result_of(T* Z, int64_t n, int64_t cols, int64_t ld = -1, bool complex = false) {
  const int32_t number = kNumber<T> + (complex ? MERCER_NUMBER_C32 : MERCER_NUMBER_F32);
  ResultView result = mercer_matrix_of(number, n, cols, Z);
  if (ld != -1) result.ld = ld;
  return result;
}
template <class T>
ResultView result_of(std::vector<T>& Z, int64_t cols) {
  return result_of(Z.data(), std::ssize(Z) / cols, cols);
}

/// n x d numbers in [-1, 1], the same in every run.
template <class T = double>
std::vector<T> numbers(int64_t n, int64_t d) {
  std::vector<T> X(n * d);
  for (size_t i = 0; i < X.size(); ++i) {
    X[i] = static_cast<T>(std::sin(1.0 + 12.9898 * static_cast<double>(i)));
  }
  return X;
}

template <class Index>
inline constexpr int32_t kIndex =
    std::is_same_v<Index, int32_t> ? MERCER_INDEX_I32 : MERCER_INDEX_I64;

/// CSR rows, and the dense ones that they stand for.
template <class T, class Index>
struct SparseRows {
  int64_t d;
  std::vector<Index> offsets{0}, indices{};
  std::vector<T> values{}, dense{};

  int64_t n() const { return std::ssize(offsets) - 1; }
  void add(int64_t column, T value) {
    indices.push_back(static_cast<Index>(column));
    values.push_back(value);
    dense.resize(std::ssize(offsets) * d);
    dense[n() * d + column] += value;
  }
  void end_row() {
    dense.resize(std::ssize(offsets) * d);
    offsets.push_back(static_cast<Index>(indices.size()));
  }
  /// Rows [first, n()) of the same arrays.
  RowsView view(int64_t first = 0) const {
    return mercer_rows_csr(kNumber<T>, kIndex<Index>, n() - first, d, std::ssize(values),
                           offsets.data() + first, indices.data(), values.data());
  }
  RowsView dense_view() const { return rows_of(dense, d); }
};

/// n rows of d columns, about one in three of them listed, in descending order, small multiples of
/// 1/64: exact in both precisions. Every fifth row is empty, every seventh names a column twice.
template <class T = double, class Index = int32_t>
SparseRows<T, Index> sparse_numbers(int64_t n, int64_t d) {
  SparseRows<T, Index> X{d};
  const auto noise = numbers(n, d);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = d - 1; j >= 0 && i % 5 != 4; --j) {
      const double x = std::round(64 * noise[i * d + j]) / 64;
      if (std::abs(x) > 0.85) X.add(j, static_cast<T>(x));
    }
    if (i % 7 == 3) {
      X.add(i % d, T{1});
      X.add(i % d, T{-0.25});
    }
    X.end_row();
  }
  return X;
}

}  // namespace mercer::test
