// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What ridge needs of the features of rows, Z'WZ, Z'WY and Z'W1, for frequencies on a grid, without
// the features.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/state_bytes.h"
#include "feature/frequency_grid.h"

namespace mercer::feature {

class GridScores;

// Z W for frequencies on a grid, without Z.

class GridProducts {
 public:
  /// Whether that costs less than features do, for that many columns of W. From kTransformed
  /// products of a row on by Fourier transforms (grid_gram.h), where the build has them.
  static constexpr double kTransformed = 1 << 14;
  static bool pays(const FrequencyGrid& grid, int64_t columns);

  /// W: D x c, rows of all cosines, then of all sines; at_zero: k(0).
  GridProducts(const FrequencyGrid& grid, double at_zero, MatrixView<const double> W,
               Context& context);
  /// out (n x c) = Z W at the rows of X. A row of out depends on its row of X alone, bit for bit;
  /// NaN stays in its row.
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> out) const;

 private:
  void multiply_rows(MatrixView<const double> X, double* scratch,
                     MatrixView<double> out) const noexcept;
  std::vector<double> step_;
  std::vector<int64_t> counts_;               // cosines of each input, and as many sines
  int64_t left_ = 1;                          // products of all inputs' but the last's
  Matrix<double> W_;                          // (c left) x (2 counts of the last)
  std::shared_ptr<const GridScores> scores_;  // in place of these
};

/// sum_i s_i prod_k e_k(x_i), e_k each of the cosines and sines of one input: for every seed s.
class AxisProducts {
 public:
  /// counts: cosines of each input, and as many sines.
  AxisProducts(std::vector<int64_t> counts, int64_t seeds, int64_t rows, Context& context);
  /// The number of products that a row takes room for: those of all inputs but the last, for all
  /// seeds.
  static int64_t products(std::span<const int64_t> counts, int64_t seeds);
  /// seeds (one row each) and bases (of input k 2 counts_k rows, cosines first): a column per row
  /// of X, at most `rows` of them.
  void add(MatrixView<const double> seeds, std::span<const MatrixView<const double>> bases,
           Context& context);
  /// Writes or reads the sums.
  void keep(StateBytes& state) {
    state.numbers(std::span(sums_.data(), static_cast<size_t>(sums_.rows() * sums_.cols())));
  }
  /// sum_i s_i exp(i sum_k +-angle_k): entry[k] of input k, minus where negative[k].
  std::complex<double> sum(int64_t seed, std::span<const int64_t> entry,
                           std::span<const bool> negative) const noexcept;

 private:
  void fill_left(MatrixView<const double> seeds, std::span<const MatrixView<const double>> bases,
                 int64_t begin, int64_t end) const noexcept;
  std::vector<int64_t> counts_;
  Matrix<double> left_;
  Matrix<double> sums_;
};

/// C + i S, sums over rows of w exp(i c'x), at whole multiples n_k of the steps, |n_k| <= largest_k.
class SumTable {
 public:
  SumTable(std::span<const int64_t> largest, Context& context);
  /// All of them, the last input's multiples contiguous.
  std::span<std::complex<double>> numbers() const noexcept {
    return {sums_.data(), static_cast<size_t>(sums_.size())};
  }
  /// Twice the place of a frequency, of its odd numbers; of sums of frequencies the sum.
  int64_t offset(const int32_t* odd) const noexcept;
  std::complex<double> at(int64_t offset) const noexcept { return sums_[origin_ + offset / 2]; }

 private:
  std::vector<int64_t> strides_;
  int64_t origin_ = 0;
  AlignedBuffer<std::complex<double>> sums_;
};
/// The lower triangle of gram (2F x 2F) += Z'WZ of the grid's first F frequencies, all cosines, then
/// all sines.
void add_grid_gram(const FrequencyGrid& grid, double at_zero, const SumTable& sums, int64_t F,
                   Context& context, MatrixView<double> gram);

class GridSums {
 public:
  /// Whether this costs less than products of features, by a factor that is worth it.
  static bool pays(const FrequencyGrid& grid);

  /// The sums for features times scale^2 = k(0).
  GridSums(const FrequencyGrid& grid, double at_zero, int64_t outputs, Context& context);
  static constexpr int64_t kRows = 1024;  // of a block, at most

  /// Rows of X (n x d) and Y (n x outputs), finite or not; a weight for each row, or none.
  void add(MatrixView<const double> X, MatrixView<const double> Y, std::span<const double> weights,
           Context& context);
  /// Writes or reads the sums.
  void keep(StateBytes& state) {
    whole_.keep(state);
    halves_.keep(state);
  }
  /// Lower triangle of gram += Z'WZ, cross += Z'WY, sums += Z'W1; columns are all cosines, then all
  /// sines.
  void add_to(Context& context, MatrixView<double> gram, MatrixView<double> cross,
              std::span<double> sums) const;

 private:
  void fill_bases(MatrixView<const double> X, int64_t begin, int64_t end) const noexcept;
  const FrequencyGrid& grid_;
  double at_zero_;
  int64_t outputs_;
  std::vector<int64_t> largest_;  // the largest odd number of each input
  int64_t rows_;                  // of a block
  AxisProducts whole_;   // at whole multiples of a step: sums and differences of frequencies
  AxisProducts halves_;  // at the frequencies
  std::vector<Matrix<double>> whole_bases_, half_bases_;
  Matrix<double> seeds_;  // the weights, then the weights times each output
};

}  // namespace mercer::feature
