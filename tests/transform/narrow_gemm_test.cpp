// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inner products of rows and of columns of panels.

#include "transform/narrow_gemm.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "support/dense.h"
#include "support/simd_target.h"
#include "support/worst.h"

namespace narrow_gemm_test {
using namespace mercer;
using namespace mercer::test;

template <class T>
void check(int64_t rows, int64_t cols, int64_t outputs) {
  const Matrix<T> Z = random_matrix<T>(rows, cols, 1), W = random_matrix<T>(outputs, cols, 2);
  Matrix<T> out(rows, outputs), alone(1, 1);
  transform::row_products(transform::RowProducts<T>{Z.view(), W.view(), out.view()});
  double worst = 0;
  bool same = true;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t o = 0; o < outputs; ++o) {
      long double exact = 0, size = 0;
      for (int64_t j = 0; j < cols; ++j) {
        const long double term =
            static_cast<long double>(Z(i, j)) * static_cast<long double>(W(o, j));
        exact += term;
        size += std::fabs(term);
      }
      const auto error = static_cast<double>(std::fabs(out(i, o) - exact));
      const auto bound = static_cast<double>(static_cast<long double>(cols) *
                                             std::numeric_limits<T>::epsilon() * size);
      keep_worst(worst, cols == 0 ? error : error / bound);
      transform::row_products(transform::RowProducts<T>{
          Z.view().block_rows(i, i + 1), W.view().block_rows(o, o + 1), alone.view()});
      same = same && std::memcmp(alone.data(), &out(i, o), sizeof(T)) == 0;
    }
  }
  INFO(rows << " x " << cols << " x " << outputs);
  CHECK(worst <= 1);
  CHECK(same);
}

TEST_CASE("inner products of rows") {
  on_every_target([] {
    for (const int64_t cols : {0, 1, 7, 33, 512, 513, 1500}) {
      for (const int64_t outputs : {1, 2, 3, 8}) {
        check<float>(7, cols, outputs);
        check<double>(7, cols, outputs);
      }
    }
  });
}

constexpr int64_t kSlice = transform::kColumnProductRows;

template <class T>
Matrix<double> from_ones(MatrixView<const T> Z, MatrixView<const T> Y) {
  Matrix<double> sums(Y.cols, Z.cols);
  sums.fill(1);
  transform::add_column_products(transform::ColumnProducts<T>{Z, Y, sums.view()});
  return sums;
}

/// The largest error over its bound: of a slice's sums kSlice roundings, one of each sum of slices.
template <class T>
double worst_error(MatrixView<const T> Z, MatrixView<const T> Y, const Matrix<double>& sums) {
  double worst = 0;
  for (int64_t o = 0; o < Y.cols; ++o) {
    for (int64_t j = 0; j < Z.cols; ++j) {
      long double exact = 1, size = 1;
      for (int64_t i = 0; i < Z.rows; ++i) {
        const long double term =
            static_cast<long double>(Z(i, j)) * static_cast<long double>(Y(i, o));
        exact += term;
        size += std::fabs(term);
      }
      const double roundings = static_cast<double>(kSlice) * std::numeric_limits<T>::epsilon() +
                               static_cast<double>(Z.rows / kSlice + 2) * 0x1p-53;
      const auto error = static_cast<double>(std::fabs(sums(o, j) - exact));
      keep_worst(worst, error / (roundings * static_cast<double>(size)));
    }
  }
  return worst;
}

template <class T>
void check_columns(int64_t rows, int64_t columns, int64_t outputs) {
  const Matrix<T> whole = random_matrix<T>(rows, columns + 3, 1),
                  targets = random_matrix<T>(rows, outputs + 1, 2);
  // No column begins at a cache line, and rows are longer than they are wide.
  const MatrixView<const T> Z = whole.view().block_cols(1, 1 + columns),
                            Y = targets.view().block_cols(1, 1 + outputs);
  const Matrix<double> sums = from_ones(Z, Y);
  INFO(rows << " x " << columns << " x " << outputs);
  CHECK(worst_error(Z, Y, sums) <= 1);
  bool same = true;
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t j = 0; j < columns; ++j) {
      const Matrix<double> alone = from_ones(Z.block_cols(j, j + 1), Y.block_cols(o, o + 1));
      same = same && std::memcmp(alone.data(), &sums(o, j), sizeof(double)) == 0;
    }
  }
  CHECK(same);
  if (rows <= kSlice) return;
  Matrix<double> parts(outputs, columns);
  parts.fill(1);
  for (const auto& [begin, end] : {std::pair(int64_t{0}, kSlice), std::pair(kSlice, rows)})
    transform::add_column_products(transform::ColumnProducts<T>{
        Z.block_rows(begin, end), Y.block_rows(begin, end), parts.view()});
  CHECK(std::memcmp(parts.data(), sums.data(),
                    static_cast<size_t>(outputs * columns) * sizeof(double)) == 0);
}

TEST_CASE("inner products of columns, added up") {
  on_every_target([] {
    for (const int64_t rows : {0, 1, 5, 64, 65, 200}) {
      for (const int64_t columns : {1, 7, 33, 64, 151}) {
        for (const int64_t outputs : {1, 2, 3, 4, 7}) {
          check_columns<float>(rows, columns, outputs);
          check_columns<double>(rows, columns, outputs);
        }
      }
    }
  });
}

TEST_CASE("a NaN stays in its column and its output") {
  on_every_target([] {
    Matrix<double> Z = random_matrix(70, 40, 1), Y = random_matrix(70, 6, 2);
    const Matrix<double> clean = from_ones<double>(Z.view(), Y.view());
    Z(66, 9) = std::numeric_limits<double>::quiet_NaN();
    Y(3, 4) = std::numeric_limits<double>::quiet_NaN();
    const Matrix<double> sums = from_ones<double>(Z.view(), Y.view());
    bool right = true;
    for (int64_t o = 0; o < 6; ++o)
      for (int64_t j = 0; j < 40; ++j)
        right = right && (o == 4 || j == 9 ? std::isnan(sums(o, j)) : sums(o, j) == clean(o, j));
    CHECK(right);
  });
}

}  // namespace narrow_gemm_test
