// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier transforms between rows of one to three inputs and frequencies on a grid, of types 1 and 2:
// O(rows width^d + N log N).
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "transform/fft.h"

namespace mercer::transform {

// The inner loops (spread.cpp): a row is spread over some grid points about it, or a function on the
// grid is interpolated there.

/// The function that is spread, at the points of one axis: polynomials in 2 (u - floor u) - 1, one
/// for each point, u the row's place in units of points. Points beyond `width` have the value 0.
struct SpreadFunction {
  int64_t width;
  int64_t lanes;  // 8 or 16: the points of the last axis that are touched, width or more
  int64_t degree;
  const double* coefficients;  // (degree + 1) x lanes, of power 0 first
};

/// Rows as records: places u >= 0 along each axis, then a choice of the first grid or the second,
/// 0 or 1, then strengths.
struct SpreadCall {
  SpreadFunction function;
  int64_t axes;
  const int64_t* strides;  // of each axis but the last, whose points follow each other
  const double* records;
  int64_t record;        // numbers in each
  const int32_t* order;  // the rows' numbers
  int64_t rows;
  double* const* grids;  // the first strength's two, then one for each of the others
};
/// Adds the rows to the grids, in order. Points from floor(u) on are touched.
void spread_rows(const SpreadCall& call) noexcept;

struct InterpolationCall {
  SpreadFunction function;
  int64_t axes;
  const int64_t* strides;
  const double* places;  // rows x axes
  int64_t rows;
  const double* const* grids;
  int64_t count;  // of grids
  double* out;    // rows x count
};
void interpolate_rows(const InterpolationCall& call) noexcept;

// The transforms.

/// A function of a few grid points' width, exp(beta (sqrt(1 - z^2) - 1)), by polynomials between the
/// points.
class SemicircleKernel {
 public:
  /// tolerance: of sums relative to the sum of the strengths' magnitudes, for frequencies of up to
  /// a quarter of a turn from point to point.
  explicit SemicircleKernel(double tolerance);
  SpreadFunction function() const noexcept { return {width_, lanes_, degree_, table_.data()}; }
  int64_t width() const noexcept { return width_; }
  int64_t lanes() const noexcept { return lanes_; }
  double beta() const noexcept { return beta_; }
  /// Its Fourier transform at so many turns from point to point, the sum over points being 1 at 0.
  double transform(double turns) const noexcept;

 private:
  int64_t width_, lanes_, degree_;
  double beta_;
  std::vector<double> table_;
  std::vector<double> values_;  // from the middle on, kPart to a point's distance
  static constexpr int64_t kPart = 16;
};

/// The grid for frequencies a_k = o_k step_k/2, o_k whole, |o_k| <= largest_k, of rows of any
/// distance: points of one period 2 pi/step_k, and what rows near its end touch beyond.
class NufftGrid {
 public:
  /// UNSUPPORTED for more than kMostAxes inputs.
  NufftGrid(std::span<const double> step, std::span<const int64_t> largest, double tolerance);
  size_t axes() const noexcept { return step_.size(); }
  const std::vector<int64_t>& lengths() const noexcept { return lengths_; }
  const SemicircleKernel& kernel() const noexcept { return kernel_; }
  /// Numbers of a grid, with those beyond the period; between its lines along each axis.
  int64_t padded() const noexcept { return padded_; }
  const std::vector<int64_t>& strides() const noexcept { return strides_; }

  /// The places of a row, at most the lengths; whether it is an odd number of periods away, all
  /// axes together. NaN where a coordinate is not finite.
  bool place(const double* x, double* places) const noexcept;
  /// What sums over points are multiplied by at frequency o, and coefficients of a function on them.
  std::complex<double> factor(const int32_t* odd) const noexcept;

 private:
  std::vector<double> step_;
  SemicircleKernel kernel_;
  std::vector<int64_t> lengths_, strides_;
  int64_t padded_ = 1;
  std::vector<std::vector<std::complex<double>>> factors_;  // of each axis, of o = 0, 1, ...
};

/// Type 1: sums_i s_i exp(i a'x_i) for frequencies of odd o; of the first strengths, for even, too.
/// The number of threads changes no bit. Memory: strengths + 1 grids and a block of rows.
class RowSums {
 public:
  RowSums(const NufftGrid& grid, int64_t strengths, Context& context);
  /// Rows of X (n x d) with their strengths (n x strengths). One number that is not finite makes all
  /// sums NaN.
  void add(MatrixView<const double> X, MatrixView<const double> strengths, Context& context);
  /// Sums of one strength at frequencies o (F x d, odd).
  void odd(int64_t strength, std::span<const int32_t> odd, Context& context,
           std::span<std::complex<double>> out);
  /// Sums of the first strength at all whole multiples of the steps, |n_k| <= most_k, the last axis
  /// contiguous.
  void even(std::span<const int64_t> most, Context& context, std::span<std::complex<double>> out);

 private:
  void spread(Context& context);
  int64_t tile(const double* places) const noexcept;
  template <class Body>
  void for_each_line(Context& context, const Body& body) const;
  double* grid_of(int64_t k) const noexcept { return grids_.view().row(k); }

  const NufftGrid& grid_;
  int64_t strengths_;
  Matrix<double> grids_;    // of the first strength two, of rows an even and an odd way off
  Matrix<double> records_;  // rows that are not spread yet
  AlignedBuffer<int32_t> tiles_, order_;
  int64_t held_ = 0;
  std::vector<int64_t> edges_, counts_;  // of tiles: points, and how many there are
  bool finite_ = true;
};

/// Type 2: f(x) = Re sum_j C_j exp(i a_j'x) for odd o, of some functions f.
class GridFunctions {
 public:
  /// coefficients: a row for each function, F complex numbers.
  GridFunctions(const NufftGrid& grid, std::span<const int32_t> odd,
                MatrixView<const std::complex<double>> coefficients, Context& context);
  /// out (n x functions). A row of out depends on its row of X alone, bit for bit; NaN stays in it.
  void evaluate(MatrixView<const double> X, Context& context, MatrixView<double> out) const;

 private:
  void fill(const double* z, double* grid, Context& context) const;
  const NufftGrid& grid_;
  Matrix<double> grids_;
};

}  // namespace mercer::transform
