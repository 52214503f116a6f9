// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z'WZ of frequencies on a grid as an operator, the sums that it takes of rows, and scores, all by
// Fourier transforms (Greengard, Rachh, Barnett, "Equispaced Fourier representations for efficient
// Gaussian process regression from a billion data points", 2022).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/frequency_grid.h"
#include "feature/grid_sums.h"
#include "linalg/conjugate_gradient.h"
#include "transform/nufft.h"

namespace mercer::feature {

/// Whether this grid has transforms: one to three inputs, and the build has FFTW.
bool has_grid_transforms(const FrequencyGrid& grid) noexcept;

/// Sums over rows for Z'WZ, Z'WY and Z'W1, to 1e-12 of the sum of weights, or of their products with
/// |Y|: O(n + F log F) of fixed width.
class GridRows {
 public:
  GridRows(const FrequencyGrid& grid, double at_zero, int64_t outputs, Context& context);
  /// Rows of X (n x d) and Y (n x outputs); a weight for each row, or none. NaN makes all sums NaN.
  void add(MatrixView<const double> X, MatrixView<const double> Y, std::span<const double> weights,
           Context& context);
  /// The sums at whole multiples of the steps.
  SumTable whole(Context& context);
  /// cross = Z'WY, sums = Z'W1.
  void finish(Context& context, MatrixView<double> cross, std::span<double> sums);

 private:
  const FrequencyGrid& grid_;
  double at_zero_;
  int64_t outputs_;
  std::vector<int64_t> largest_;
  transform::NufftGrid points_;
  transform::RowSums sums_;
};

/// Z'WZ, a Toeplitz and a Hankel matrix of the sums at whole multiples: products by two Fourier
/// transforms of twice the grid, one product at a time: they share their scratch.
class GridGram final : public linalg::LinearOperator {
 public:
  GridGram(const FrequencyGrid& grid, double at_zero, const SumTable& sums, Context& context);
  int64_t rows() const override { return 2 * std::ssize(scale_); }

 private:
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override;
  transform::OddFft fft_;
  std::vector<double> scale_;
  std::vector<transform::OddFft::Place> places_;
  AlignedBuffer<double> density_;  // of the weights, on points of one period
  AlignedBuffer<double> scratch_;
};
/// The diagonal of Z'WZ.
std::vector<double> grid_gram_diagonal(const FrequencyGrid& grid, double at_zero,
                                       const SumTable& sums);

/// Z W without Z, to 1e-12 of the sum of a column's weights times its features' scales.
class GridScores {
 public:
  GridScores(const FrequencyGrid& grid, double at_zero, MatrixView<const double> W,
             Context& context);
  /// out (n x c) = Z W at the rows of X. A row of out depends on its row of X alone, bit for bit;
  /// NaN stays in its row.
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> out) const;

 private:
  transform::NufftGrid points_;
  std::unique_ptr<const transform::GridFunctions> functions_;
};

}  // namespace mercer::feature
