// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With C_j = s_j (a_j - i b_j) the function f = Z theta of weights a of cosines and b of sines is Re
// sum_j C_j exp(i omega_j'x), and Z'W f has s_j times the real and the imaginary part of
// sum_i w_i f(x_i) exp(i omega_j'x_i). Of such functions and exponentials, all of odd multiples of
// half a step, the sum over rows is the sum over E > 2 K points of a period, weighted by
//   p_m = E^{-d} sum_c T(c) exp(-i c'x_m), T(c) = sum_i w_i exp(i c'x_i),
// with c over all whole multiples of the steps up to K, the largest that their products hold.
#include "feature/grid_gram.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/parallel.h"

namespace mercer::feature {

bool has_grid_transforms(const FrequencyGrid& grid) noexcept {
  return transform::has_box_fft() && grid.inputs() <= transform::kMostAxes;
}

namespace {

constexpr const char* kGridGram = "products with Z'Z of a grid";
constexpr double kTolerance = 1e-12;
constexpr int64_t kChunk = 1024;

std::vector<int64_t> doubled(std::vector<int64_t> numbers) {
  for (int64_t& number : numbers) number *= 2;
  return numbers;
}

std::vector<int64_t> product_lengths(const std::vector<int64_t>& largest) {
  std::vector<int64_t> lengths;
  for (const int64_t most : largest) lengths.push_back(transform::fft_length(2 * most + 1));
  return lengths;
}

std::vector<double> scales(const FrequencyGrid& grid, double at_zero) {
  std::vector<double> scale;
  for (const double weight : grid.weights()) scale.push_back(std::sqrt(at_zero * weight));
  return scale;
}

}  // namespace

GridRows::GridRows(const FrequencyGrid& grid, double at_zero, int64_t outputs, Context& context)
    : grid_(grid),
      at_zero_(at_zero),
      outputs_(outputs),
      largest_(grid.largest_odd()),
      points_(grid.step(), doubled(largest_), kTolerance),
      sums_(points_, 1 + outputs, context) {}

void GridRows::add(MatrixView<const double> X, MatrixView<const double> Y,
                   std::span<const double> weights, Context& context) {
  const Matrix<double> strengths(X.rows, 1 + outputs_, context, kGridGram);
  for (int64_t i = 0; i < X.rows; ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    strengths(i, 0) = weight;
    for (int64_t o = 0; o < outputs_; ++o) strengths(i, 1 + o) = weight * Y(i, o);
  }
  sums_.add(X, strengths.view(), context);
  context.checkpoint();
}

SumTable GridRows::whole(Context& context) {
  SumTable table(largest_, context);
  sums_.even(largest_, context, table.numbers());
  return table;
}

void GridRows::finish(Context& context, MatrixView<double> cross, std::span<double> sums) {
  const int64_t F = grid_.count();
  const std::vector<double> scale = scales(grid_, at_zero_);
  std::vector<std::complex<double>> own(F);
  for (int64_t o = 0; o <= outputs_; ++o) {
    sums_.odd(o, grid_.odd(), context, own);
    for (int64_t j = 0; j < F; ++j) {
      (o == 0 ? sums[j] : cross(j, o - 1)) = scale[j] * own[j].real();
      (o == 0 ? sums[F + j] : cross(F + j, o - 1)) = scale[j] * own[j].imag();
    }
  }
}

GridGram::GridGram(const FrequencyGrid& grid, double at_zero, const SumTable& sums,
                   Context& context)
    : fft_(product_lengths(grid.largest_odd())),
      scale_(scales(grid, at_zero)),
      density_(2 * fft_.size(), context, kGridGram),
      scratch_(2 * fft_.size(), context, kGridGram) {
  const std::vector<int64_t> largest = grid.largest_odd(), lengths = product_lengths(largest);
  const size_t d = lengths.size();
  for (int64_t j = 0; j < grid.count(); ++j)
    places_.push_back(fft_.place(&grid.odd()[j * grid.inputs()]));
  const transform::BoxFft box(lengths);
  const AlignedBuffer<double> z(2 * box.size(), context, kGridGram);
  std::fill(z.begin(), z.end(), 0.0);
  const auto numbers = sums.numbers();
  for (int64_t p = 0; p < std::ssize(numbers); ++p) {
    int64_t rest = p, at = 0, step = 1;
    for (size_t k = d; k-- > 0; step *= lengths[k]) {
      const int64_t n = rest % (2 * largest[k] + 1) - largest[k];
      rest /= 2 * largest[k] + 1;
      at += step * (n < 0 ? n + lengths[k] : n);
    }
    z[2 * at] = numbers[p].real();
    z[2 * at + 1] = -numbers[p].imag();
  }
  box.transform(z.data(), context);
  const int64_t E = lengths.back();
  for (int64_t m = 0; m < box.size(); ++m) {
    const int64_t own = m % E;
    density_[m - own + (own < E / 2 ? 2 * own : 2 * own - E + 1)] =
        z[2 * m] / static_cast<double>(box.size());
  }
}

void GridGram::multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const {
  const AlignedBuffer<double>& z = scratch_;
  const int64_t F = std::ssize(scale_), chunks = ceil_divide(F, kChunk);
  for (int64_t k = 0; k < X.cols; ++k) {
    std::fill(z.begin(), z.end(), 0.0);
    parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
      for (int64_t j = chunk * kChunk; j < std::min(F, (chunk + 1) * kChunk); ++j) {
        const auto [at, conjugate] = places_[j];
        z[2 * at] = scale_[j] * X(j, k);
        z[2 * at + 1] = (conjugate ? scale_[j] : -scale_[j]) * X(F + j, k);
      }
    });
    fft_.to_points(z.data(), density_.data(), context);
    fft_.to_sums(z.data(), context);
    parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
      for (int64_t j = chunk * kChunk; j < std::min(F, (chunk + 1) * kChunk); ++j) {
        const auto [at, conjugate] = places_[j];
        Y(j, k) = scale_[j] * z[2 * at];
        Y(F + j, k) = (conjugate ? -scale_[j] : scale_[j]) * z[2 * at + 1];
      }
    });
  }
}

std::vector<double> grid_gram_diagonal(const FrequencyGrid& grid, double at_zero,
                                       const SumTable& sums) {
  const int64_t F = grid.count();
  std::vector<double> diagonal(2 * F);
  for (int64_t j = 0; j < F; ++j) {
    const double half = 0.5 * at_zero * grid.weights()[j], near = sums.at(0).real();
    const double far = sums.at(2 * sums.offset(&grid.odd()[j * grid.inputs()])).real();
    diagonal[j] = half * (near + far);
    diagonal[F + j] = half * (near - far);
  }
  return diagonal;
}

GridScores::GridScores(const FrequencyGrid& grid, double at_zero, MatrixView<const double> W,
                       Context& context)
    : points_(grid.step(), grid.largest_odd(), kTolerance) {
  const int64_t F = grid.count();
  const std::vector<double> scale = scales(grid, at_zero);
  const Matrix<std::complex<double>> numbers(W.cols, F, context, kGridGram);
  for (int64_t o = 0; o < W.cols; ++o)
    for (int64_t j = 0; j < F; ++j) numbers(o, j) = {scale[j] * W(j, o), -scale[j] * W(F + j, o)};
  functions_ = std::make_unique<const transform::GridFunctions>(
      points_, grid.odd(), MatrixView<const std::complex<double>>(numbers.view()), context);
}

void GridScores::multiply(MatrixView<const double> X, Context& context,
                          MatrixView<double> out) const {
  functions_->evaluate(X, context, out);
}

}  // namespace mercer::feature
