// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variances summed over the pairs of a sample of rows are the expected squared Frobenius error of
// its Gram matrix (SPEC section 11).
#include "statistic/predicted_error.h"

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"

namespace mercer::statistic {
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
