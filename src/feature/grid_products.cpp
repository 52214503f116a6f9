// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// cos(a'x) and sin(a'x) are sums of products of one cosine or sine of each input: W in terms of
// these is a small array, which a row multiplies input by input.
#include "feature/grid_products.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/size.h"
#include "kernel/lane_fold.h"
#include "transform/narrow_products.h"

namespace mercer::feature {
namespace {

constexpr const char* kWeightsOnGrid = "weights on a grid";
constexpr int64_t kProductRows = 32;
constexpr double kFeatureCost = 6;  // multiply-adds that forming a feature takes the time of

std::vector<int64_t> odd_counts(const FrequencyGrid& grid) {
  std::vector<int64_t> counts;
  for (const int64_t largest : grid.largest_odd()) counts.push_back((largest + 1) / 2);
  return counts;
}

/// Cosines and sines of 1, 3, 5, ... times an angle.
void fill_odd_multiples(double angle, int64_t count, double* basis) noexcept {
  const double c = std::cos(angle), s = std::sin(angle);
  const double cosine = c * c - s * s, sine = 2 * c * s;
  double* const sines = basis + count;
  basis[0] = c;
  sines[0] = s;
  for (int64_t m = 1; m < count; ++m) {
    basis[m] = basis[m - 1] * cosine - sines[m - 1] * sine;
    sines[m] = sines[m - 1] * cosine + basis[m - 1] * sine;
  }
}

}  // namespace

bool GridProducts::pays(const FrequencyGrid& grid, int64_t columns) {
  const auto D = static_cast<double>(2 * grid.count()), c = static_cast<double>(columns);
  double products = c;
  for (const int64_t largest : grid.largest_odd()) products *= static_cast<double>(largest + 1);
  return products <= D * (c + kFeatureCost);
}

GridProducts::GridProducts(const FrequencyGrid& grid, double at_zero, MatrixView<const double> W,
                           Context& context)
    : step_(grid.step().begin(), grid.step().end()), counts_(odd_counts(grid)) {
  const size_t d = counts_.size();
  for (size_t k = 0; k + 1 < d; ++k)
    left_ = checked_multiply(left_, 2 * counts_[k], kWeightsOnGrid);
  W_ = Matrix<double>(checked_multiply(W.cols, left_, kWeightsOnGrid), 2 * counts_.back(), context,
                      kWeightsOnGrid);
  W_.fill(0);
  const int64_t F = grid.count();
  for (int64_t j = 0; j < F; ++j) {
    const double scale = std::sqrt(at_zero * grid.weights()[j]);
    for (size_t sines = 0; sines < size_t{1} << d; ++sines) {
      int64_t row = 0, column = 0;
      size_t power = 0;  // of i, in exp(i a'x)
      for (size_t k = 0; k < d; ++k) {
        const int64_t odd = grid.odd()[static_cast<size_t>(j) * d + k];
        const bool sine = (sines >> k & 1) != 0;
        if (sine) power += odd < 0 ? 3 : 1;
        column = (std::abs(odd) - 1) / 2 + (sine ? counts_[k] : 0);
        if (k + 1 < d) row = row * 2 * counts_[k] + column;
      }
      const double factor = power % 4 < 2 ? scale : -scale;
      for (int64_t o = 0; o < W.cols; ++o)
        W_(o * left_ + row, column) += factor * W(power % 2 == 0 ? j : F + j, o);
    }
  }
}

void GridProducts::multiply_rows(MatrixView<const double> X, double* scratch,
                                 MatrixView<double> out) const noexcept {
  const int64_t n = X.rows, last = X.cols - 1;
  const MatrixView<double> right(scratch, n, 2 * counts_.back());
  const MatrixView<double> middle(scratch + n * right.cols, n, W_.rows());
  double* const basis = middle.data + n * middle.cols;
  for (int64_t i = 0; i < n; ++i)
    fill_odd_multiples(0.5 * step_[last] * X(i, last), counts_[last], right.row(i));
  transform::row_products(transform::RowProducts<double>{right, W_.view(), middle});
  for (int64_t i = 0; i < n; ++i) {
    // The sums over the inputs before the last, one by one, of all outputs.
    double* const numbers = middle.row(i);
    int64_t rows = W_.rows();
    for (int64_t k = last - 1; k >= 0; --k) {
      const int64_t width = 2 * counts_[k];
      fill_odd_multiples(0.5 * step_[k] * X(i, k), counts_[k], basis);
      rows /= width;
      for (int64_t r = 0; r < rows; ++r) {
        const double* const own = numbers + r * width;
        numbers[r] =
            kernel::lane_fold<kernel::Sum>(width, [&](int64_t m) { return own[m] * basis[m]; });
      }
    }
    std::copy_n(numbers, out.cols, out.row(i));
  }
}

void GridProducts::multiply(MatrixView<const double> X, Context& context,
                            MatrixView<double> out) const {
  const int64_t chunks = ceil_divide(X.rows, kProductRows);
  int64_t widest = 0;
  for (const int64_t count : counts_) widest = std::max(widest, 2 * count);
  const int64_t rows = std::min(X.rows, kProductRows);
  const int64_t each = checked_add(checked_multiply(rows, W_.rows() + widest, kWeightsOnGrid),
                                   widest, kWeightsOnGrid);
  const Matrix<double> scratch(worker_count(context, chunks), each, context, kWeightsOnGrid);
  parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
    const int64_t begin = chunk * kProductRows, end = std::min(X.rows, begin + kProductRows);
    multiply_rows(X.block_rows(begin, end), scratch.view().row(worker), out.block_rows(begin, end));
  });
}

}  // namespace mercer::feature
