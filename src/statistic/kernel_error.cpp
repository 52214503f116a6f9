// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/kernel_error.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
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
        for_each_stored(rows, i, [&](int64_t k, auto value) { row[k] += value; });
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

// Variances summed over the pairs of a sample of rows are the expected squared Frobenius error of
// its Gram matrix.

namespace {

using feature::FeatureMap;

struct Sums {
  double error = 0;   // squared: variances and squares of biases
  double square = 0;  // of the kernel
};

// Pairs (i, j) with j >= i, those with j > i counted twice.
Sums row_sums(const FeatureMap& map, MatrixView<const double> X, int64_t i,
              std::span<double> scratch) {
  const int64_t count = X.rows - i;
  const std::span<double> variances = scratch.first(count);
  const std::span<double> biases = scratch.last(count);
  // The same row against all later ones: a leading dimension of 0 repeats it.
  const MatrixView<const double> row(X.row(i), count, X.cols, 0);
  map.variance(row, X.block_rows(i, X.rows), variances);
  map.bias(row, X.block_rows(i, X.rows), biases);
  Sums sums;
  for (int64_t j = 0; j < count; ++j) {
    const double weight = j == 0 ? 1 : 2;
    const double k = map.estimated_kernel(X.row(i), X.row(i + j));
    const double bias = biases[j];
    sums.error += weight * (variances[j] + bias * bias);
    sums.square += weight * k * k;
  }
  return sums;
}

// NaN or infinite where rows are so, or where their kernel overflows.
double error_over_pairs(const FeatureMap& map, MatrixView<const double> X, Context& context) {
  require(X.rows >= 1, MERCER_INVALID_ARGUMENT, "n = %ld, expected at least 1 row", X.rows);
  // The first row runs on the calling thread: a map without a closed form is refused here.
  std::vector<Sums> sums(X.rows);
  const int64_t numbers = checked_multiply(2, X.rows, "variances of a row");
  const Matrix<double> scratch(worker_count(context, X.rows), numbers);
  sums[0] = row_sums(map, X, 0, std::span(scratch.data(), numbers));
  std::atomic<bool> failed{false};
  parallel_for(context, X.rows - 1, [&](int64_t i, int worker) noexcept {
    try {
      sums[i + 1] = row_sums(map, X, i + 1, std::span(scratch.view().row(worker), numbers));
    } catch (...) {  // nothing but memory can fail on a later row
      failed.store(true, std::memory_order_relaxed);
    }
  });
  require(!failed, MERCER_OUT_OF_MEMORY, "no memory for the variances of a row");
  Sums total;
  for (const Sums& row : sums) {
    total.error += row.error;
    total.square += row.square;
  }
  require(total.square != 0, MERCER_INVALID_ARGUMENT,
          "kernel %s is 0 for all pairs of rows, expected a Gram matrix that is not zero",
          std::string(map.kernel().name()).c_str());
  // Without error the quotient would be 0 even where the kernel overflows.
  return std::isfinite(total.square) ? std::sqrt(total.error / total.square) : kNaN;
}

}  // namespace

double predicted_error(const FeatureMap& map, MatrixView<const double> X, Context& context) {
  map.require_one_output();
  const double error = error_over_pairs(map, X, context);
  require(std::isfinite(error), MERCER_INVALID_ARGUMENT,
          "X: the predicted error is %g, expected finite rows whose kernel does not overflow",
          error);
  return error;
}

}  // namespace mercer::statistic
