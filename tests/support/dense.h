// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Small dense matrices for tests: random entries, plain products in long double, the entry where
// two differ most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"

namespace mercer::test {

/// Entries uniform in (-1, 1): any law will do, and this one is the same on every machine.
template <class T = double>
Matrix<T> random_matrix(int64_t rows, int64_t cols, uint64_t seed) {
  std::mt19937_64 words(seed);
  Matrix<T> A(rows, cols);
  for (int64_t i = 0; i < rows * cols; ++i)
    A.data()[i] = static_cast<T>(static_cast<double>(words() >> 11) * 0x1p-52 - 1.0);
  return A;
}

/// rows x cols entries entry(i, j).
template <class Entry>
Matrix<double> filled(int64_t rows, int64_t cols, const Entry& entry) {
  Matrix<double> result(rows, cols);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) result(i, j) = static_cast<double>(entry(i, j));
  return result;
}

template <class T>
Matrix<double> copy(MatrixView<T> A) {
  return filled(A.rows, A.cols, A);
}

template <class T>
Matrix<double> transposed(MatrixView<T> A) {
  return filled(A.cols, A.rows, [&](int64_t i, int64_t j) { return A(j, i); });
}

/// A B, accumulated in long double.
inline Matrix<double> product(MatrixView<const double> A, MatrixView<const double> B) {
  Matrix<double> C(A.rows, B.cols);
  std::vector<long double> row(B.cols);
  for (int64_t i = 0; i < A.rows; ++i) {
    std::fill(row.begin(), row.end(), 0.0L);
    for (int64_t k = 0; k < A.cols; ++k)
      for (int64_t j = 0; j < B.cols; ++j) row[j] += static_cast<long double>(A(i, k)) * B(k, j);
    for (int64_t j = 0; j < B.cols; ++j) C(i, j) = static_cast<double>(row[j]);
  }
  return C;
}

/// Copies the lower triangle of A over its upper one.
inline void mirror_lower(MatrixView<double> A) {
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < i; ++j) A(j, i) = A(i, j);
}

inline double largest(MatrixView<const double> A) {
  double value = 0;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) value = std::max(value, std::abs(A(i, j)));
  return value;
}

/// "" if |A - B| <= bound everywhere (lower triangle only, if so asked), else the worst entry. NaN
/// is never within.
inline std::string difference(MatrixView<const double> A, MatrixView<const double> B, double bound,
                              bool lower_only = false) {
  if (A.rows != B.rows || A.cols != B.cols) return "shapes differ";
  double worst = -1;
  int64_t row = 0, column = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    for (int64_t j = 0; j < (lower_only ? i + 1 : A.cols); ++j) {
      const double distance = std::abs(A(i, j) - B(i, j));
      if (!(distance <= worst)) {
        worst = distance, row = i, column = j;
        if (std::isnan(distance)) break;
      }
    }
    if (std::isnan(worst)) break;
  }
  if (worst <= bound || worst == -1) return "";
  // Not "(" + ...: g++ 12 then warns of a copy that cannot happen.
  return std::string("(") + std::to_string(row) + ", " + std::to_string(column) +
         "): " + std::to_string(A(row, column)) + " and " + std::to_string(B(row, column)) +
         " differ by " + std::to_string(worst / bound) + " bounds";
}

}  // namespace mercer::test
