// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/kernel_error.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"

namespace mercer::statistic {
namespace {

/// Both triangles of Re ZZ^H. Real and imaginary parts lie side by side, so this is a product of
/// real matrices.
void estimate_gram(const feature::FeatureMap& map, const Rows& X, Context& context,
                   MatrixView<double> out) {
  const int64_t D = map.features(), reals = map.is_complex() ? 2 : 1;
  const int64_t width = std::min(D, kErrorColumns / reals);
  const Matrix<double> Z(map.outputs() * X.rows(), reals * width, context,
                         "the features of the rows");
  for (int64_t first = 0; first < D; first += width) {
    const feature::Columns columns{first, std::min(first + width, D)};
    const auto part = Z.view().block_cols(0, reals * (columns.end - columns.begin));
    map.apply(X, columns, context, part);
    linalg::multiply(1.0, linalg::Transpose::no, part, linalg::Transpose::yes, part,
                     first == 0 ? 0.0 : 1.0, out);
    context.checkpoint();
  }
}

/// The Gram matrix, value by value, of a map that estimates the kernel of changed rows.
void gram_of_shown(const feature::FeatureMap& map, const Rows& X, Context& context,
                   MatrixView<double> out) {
  const Matrix<double> dense(X.rows(), X.cols(), context, "the rows, dense");
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      double* const row = dense.view().row(i);
      std::fill_n(row, X.cols(), 0.0);
      if constexpr (kIsSparse<std::remove_cvref_t<decltype(rows)>>) {
        for_each_listed(rows, i, [&](int64_t k, auto value) { row[k] += value; });
      } else {
        std::copy_n(rows.row(i), X.cols(), row);
      }
    }
  });
  parallel_for(context, X.rows(), [&](int64_t i, int) noexcept {
    for (int64_t j = 0; j < X.rows(); ++j)
      out(i, j) = map.estimated_kernel(dense.view().row(i), dense.view().row(j));
  });
}

}  // namespace

KernelError kernel_error(MatrixView<const double> approximate, MatrixView<const double> exact) {
  require(approximate.rows == exact.rows && approximate.cols == exact.cols,
          MERCER_DIMENSION_MISMATCH,
          "approximate is %ld x %ld and exact %ld x %ld, expected the same shape", approximate.rows,
          approximate.cols, exact.rows, exact.cols);
  double difference = 0;
  double norm = 0;
  double largest = 0;
  for (int64_t i = 0; i < exact.rows; ++i) {
    double row_difference =
        0;  // rows apart: rounding grows with a row's length, not with the matrix's
    double row_norm = 0;
    for (int64_t j = 0; j < exact.cols; ++j) {
      const double error = approximate(i, j) - exact(i, j);
      row_difference += error * error;
      row_norm += exact(i, j) * exact(i, j);
      if (!(std::fabs(error) <= largest))
        largest = std::isnan(largest) ? largest : std::fabs(error);
    }
    difference += row_difference;
    norm += row_norm;
  }
  require(norm != 0, MERCER_INVALID_ARGUMENT,
          "the norm of exact is 0, expected a matrix that is not zero");
  return {std::sqrt(difference / norm), largest};
}

double measured_error(const feature::FeatureMap& map, const Rows& X, Context& context) {
  require(!map.has_kernel_columns(), MERCER_UNSUPPORTED,
          "the kernel error of map %s, expected a map of features: its columns are kernel values",
          std::string(map.name()).c_str());
  const int64_t n = X.rows();
  require(n >= 1, MERCER_INVALID_ARGUMENT, "n = %ld, expected at least 1 row", n);
  Stage stage(context, 2);
  stage.share(1);
  const int64_t size = checked_multiply(map.outputs(), n, "the Gram matrix");
  const Matrix<double> exact(size, size, context, "the Gram matrix");
  if (map.shows_other_rows()) {
    map.require_one_output();
    gram_of_shown(map, X, context, exact.view());
  } else {
    kernel::gram(map.kernel(), X, X, context, exact.view());
  }
  stage.advance(1);
  stage.share(1);
  const Matrix<double> estimate(size, size, context, "its estimate");
  estimate_gram(map, X, context, estimate.view());
  const double error = kernel_error(estimate.view(), exact.view()).relative_frobenius;
  require(std::isfinite(error), MERCER_INVALID_ARGUMENT,
          "X: the error of the map is %g, expected finite rows whose kernel does not overflow",
          error);
  stage.advance(1);
  return error;
}

}  // namespace mercer::statistic
