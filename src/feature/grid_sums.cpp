// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// cos(a'x) cos(b'x) = (cos((a - b)'x) + cos((a + b)'x))/2 and its like make Z'WZ of frequencies a, b
// a table of the sums C + i S = sum_i w_i exp(i c'x_i) over the frequencies c = a - b and a + b,
// which lie on a grid again, of whole steps and twice the extent: Toeplitz and Hankel matrices. The
// exponentials factor over the inputs, so that their sums over rows are products of matrices of one
// input's numbers each: n (4 M)^d multiply-adds for M steps on either side in place of n D^2/2.
#include "feature/grid_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "base/size.h"
#include "feature/grid_gram.h"
#include "kernel/entry.h"
#include "linalg/blas.h"
#include "transform/narrow_gemm.h"

namespace mercer::feature {
namespace {

constexpr const char* kGridSums = "sums over rows on a grid";
constexpr int64_t kGridColumns = 64;
constexpr int64_t kGramRowsPerChunk = 16;
constexpr double kWorthSumming = 4;
constexpr int64_t kMostAxes = 8;
constexpr int64_t kMostProducts = int64_t{1} << 21;  // 16 MiB

std::vector<int64_t> whole_counts(std::span<const int64_t> largest) {
  std::vector<int64_t> counts;
  for (const int64_t K : largest) counts.push_back(K + 1);  // multiples 0, ..., K
  return counts;
}

std::vector<int64_t> half_counts(std::span<const int64_t> largest) {
  std::vector<int64_t> counts;
  for (const int64_t K : largest) counts.push_back((K + 1) / 2);  // 1/2, 3/2, ..., K/2
  return counts;
}

std::vector<Matrix<double>> bases_of(std::span<const int64_t> counts, int64_t rows,
                                     Context& context) {
  std::vector<Matrix<double>> bases;
  for (const int64_t count : counts) bases.emplace_back(2 * count, rows, context, kGridSums);
  return bases;
}

/// A block's products stay below kMostProducts.
int64_t block_rows(std::span<const int64_t> largest, int64_t outputs) {
  const int64_t each = std::max(AxisProducts::products(whole_counts(largest), 1),
                                AxisProducts::products(half_counts(largest), 1 + outputs));
  return std::clamp(kMostProducts / each, kGridColumns, GridSums::kRows);
}

std::vector<MatrixView<const double>> first_columns(const std::vector<Matrix<double>>& bases,
                                                    int64_t n) {
  std::vector<MatrixView<const double>> views;
  for (const Matrix<double>& basis : bases) views.push_back(basis.view().block_cols(0, n));
  return views;
}

/// next = (c + i s) (cosine + i sine), of columns [begin, end).
void turn(const double* __restrict c, const double* __restrict s, const double* __restrict cosine,
          const double* __restrict sine, double* __restrict next_c, double* __restrict next_s,
          int64_t begin, int64_t end) noexcept {
  for (int64_t i = begin; i < end; ++i) {
    next_c[i] = c[i] * cosine[i] - s[i] * sine[i];
    next_s[i] = s[i] * cosine[i] + c[i] * sine[i];
  }
}

/// Rows `first`, first + 1, ... of the cosines and of the sines in `basis`, each one turn after the
/// one before.
void fill_multiples(MatrixView<double> basis, int64_t first, const double* cosine,
                    const double* sine, int64_t begin, int64_t end) noexcept {
  const int64_t count = basis.rows / 2;
  for (int64_t m = first; m < count; ++m)
    turn(basis.row(m - 1), basis.row(count + m - 1), cosine, sine, basis.row(m),
         basis.row(count + m), begin, end);
}

std::complex<double> number_of(const AxisProducts& sums, std::span<const int64_t> largest,
                               int64_t p) noexcept {
  int64_t entry[kMostAxes];
  bool negative[kMostAxes];
  for (size_t k = largest.size(); k-- > 0; p /= 2 * largest[k] + 1) {
    const int64_t at = p % (2 * largest[k] + 1) - largest[k];
    negative[k] = at < 0;
    entry[k] = std::abs(at);
  }
  return sums.sum(0, {entry, largest.size()}, {negative, largest.size()});
}

// cos(a'x) and sin(a'x) are sums of products of one cosine or sine of each input: W in terms of
// these is a small array, which a row multiplies input by input.
constexpr const char* kWeightsOnGrid = "weights on a grid";
constexpr int64_t kProductRows = 32;
constexpr double kFeatureCost = 6;  // multiply-adds that forming a feature takes the time of

std::vector<int64_t> odd_counts(const FrequencyGrid& grid) {
  std::vector<int64_t> counts;
  for (const int64_t largest : grid.largest_odd()) counts.push_back((largest + 1) / 2);
  return counts;
}

double products_of_row(const FrequencyGrid& grid) {
  double products = 1;
  for (const int64_t largest : grid.largest_odd()) products *= static_cast<double>(largest + 1);
  return products;
}

bool transforms(const FrequencyGrid& grid) {
  return has_grid_transforms(grid) && products_of_row(grid) > GridProducts::kTransformed;
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

// A product over inputs is one of two numbers, the product over all inputs but the last and the
// last's factor: sums over rows are one matrix product.
constexpr const char* kAxisSums = "sums over rows on a grid";
constexpr int64_t kAxisColumns = 64;

}  // namespace

bool GridSums::pays(const FrequencyGrid& grid) {
  if (grid.inputs() > kMostAxes) return false;
  double products = 1;
  const auto D = static_cast<double>(2 * grid.count());
  for (const int64_t K : grid.largest_odd()) products *= static_cast<double>(2 * (K + 1));
  return kWorthSumming * products <= 0.5 * D * D;
}

GridSums::GridSums(const FrequencyGrid& grid, double at_zero, int64_t outputs, Context& context)
    : grid_(grid),
      at_zero_(at_zero),
      outputs_(outputs),
      largest_(grid.largest_odd()),
      rows_(block_rows(largest_, outputs)),
      whole_(whole_counts(largest_), 1, rows_, context),
      halves_(half_counts(largest_), 1 + outputs, rows_, context),
      whole_bases_(bases_of(whole_counts(largest_), rows_, context)),
      half_bases_(bases_of(half_counts(largest_), rows_, context)),
      seeds_(1 + outputs, rows_, context, kGridSums) {}

void GridSums::fill_bases(MatrixView<const double> X, int64_t begin, int64_t end) const noexcept {
  for (int64_t k = 0; k < X.cols; ++k) {
    const MatrixView<double> whole = whole_bases_[k].view(), half = half_bases_[k].view();
    const int64_t M = half.rows / 2, K = whole.rows / 2;
    double* const cosine = whole.row(1);
    double* const sine = whole.row(K + 1);
    for (int64_t i = begin; i < end; ++i) {
      const double angle = 0.5 * grid_.step()[k] * X(i, k);
      const double c = std::cos(angle), s = std::sin(angle);
      half(0, i) = c;
      half(M, i) = s;
      whole(0, i) = 1;
      whole(K, i) = 0;
      cosine[i] = c * c - s * s;
      sine[i] = 2 * c * s;
    }
    fill_multiples(half, 1, cosine, sine, begin, end);
    fill_multiples(whole, 2, cosine, sine, begin, end);
  }
}

void GridSums::add(MatrixView<const double> X, MatrixView<const double> Y,
                   std::span<const double> weights, Context& context) {
  for (int64_t first = 0; first < X.rows; first += rows_) {
    const int64_t n = std::min(rows_, X.rows - first);
    const MatrixView<const double> rows = X.block_rows(first, first + n);
    parallel_for(context, ceil_divide(n, kGridColumns), [&](int64_t chunk, int) noexcept {
      const int64_t begin = chunk * kGridColumns, end = std::min(n, begin + kGridColumns);
      fill_bases(rows, begin, end);
      for (int64_t i = begin; i < end; ++i) {
        const double weight = weights.empty() ? 1 : weights[first + i];
        seeds_(0, i) = weight;
        for (int64_t o = 0; o < outputs_; ++o) seeds_(1 + o, i) = weight * Y(first + i, o);
      }
    });
    const MatrixView<const double> seeds = seeds_.view().block_cols(0, n);
    whole_.add(seeds.block_rows(0, 1), first_columns(whole_bases_, n), context);
    halves_.add(seeds, first_columns(half_bases_, n), context);
    context.checkpoint();
  }
}

SumTable::SumTable(std::span<const int64_t> largest, Context& context) : strides_(largest.size()) {
  int64_t size = 1;
  for (size_t k = largest.size(); k-- > 0;) {
    strides_[k] = size;
    origin_ += size * largest[k];
    size = checked_multiply(size, 2 * largest[k] + 1, kGridSums);
  }
  sums_ = AlignedBuffer<std::complex<double>>(size, context, kGridSums);
}

int64_t SumTable::offset(const int32_t* odd) const noexcept {
  int64_t sum = 0;
  for (size_t k = 0; k < strides_.size(); ++k) sum += strides_[k] * odd[k];
  return sum;
}

void add_grid_gram(const FrequencyGrid& grid, double at_zero, const SumTable& sums, int64_t F,
                   Context& context, MatrixView<double> gram) {
  const int64_t d = grid.inputs();
  std::vector<double> scale(F);
  std::vector<int64_t> offset(F);
  for (int64_t j = 0; j < F; ++j) {
    scale[j] = std::sqrt(at_zero * grid.weights()[j]);
    offset[j] = sums.offset(&grid.odd()[j * d]);
  }
  parallel_for(context, ceil_divide(F, kGramRowsPerChunk), [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(F, (chunk + 1) * kGramRowsPerChunk);
    for (int64_t a = chunk * kGramRowsPerChunk; a < end; ++a) {
      for (int64_t b = 0; b < F; ++b) {
        const double half = 0.5 * scale[a] * scale[b];
        const std::complex<double> far = sums.at(offset[a] + offset[b]),
                                   near = sums.at(offset[a] - offset[b]);
        gram(F + a, b) += half * (far.imag() + near.imag());
        if (b > a) continue;
        gram(a, b) += half * (near.real() + far.real());
        gram(F + a, F + b) += half * (near.real() - far.real());
      }
    }
  });
}

void GridSums::add_to(Context& context, MatrixView<double> gram, MatrixView<double> cross,
                      std::span<double> sums) const {
  const SumTable table(largest_, context);
  const auto numbers = table.numbers();
  const int64_t F = grid_.count(), d = grid_.inputs(), size = std::ssize(numbers);
  parallel_for(context, ceil_divide(size, int64_t{1024}), [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(size, (chunk + 1) * 1024);
    for (int64_t p = chunk * 1024; p < end; ++p) numbers[p] = number_of(whole_, largest_, p);
  });
  add_grid_gram(grid_, at_zero_, table, F, context, gram);
  int64_t entry[kMostAxes];
  bool negative[kMostAxes];
  for (int64_t j = 0; j < F; ++j) {
    const double scale = std::sqrt(at_zero_ * grid_.weights()[j]);
    for (int64_t k = 0; k < d; ++k) {
      const int64_t odd = grid_.odd()[j * d + k];
      negative[k] = odd < 0;
      entry[k] = (std::abs(odd) - 1) / 2;
    }
    for (int64_t o = 0; o <= outputs_; ++o) {
      const auto sum = scale * halves_.sum(o, {entry, static_cast<size_t>(d)},
                                           {negative, static_cast<size_t>(d)});
      (o == 0 ? sums[j] : cross(j, o - 1)) += sum.real();
      (o == 0 ? sums[F + j] : cross(F + j, o - 1)) += sum.imag();
    }
  }
}

bool GridProducts::pays(const FrequencyGrid& grid, int64_t columns) {
  const auto D = static_cast<double>(2 * grid.count()), c = static_cast<double>(columns);
  return transforms(grid) || c * products_of_row(grid) <= D * (c + kFeatureCost);
}

GridProducts::GridProducts(const FrequencyGrid& grid, double at_zero, MatrixView<const double> W,
                           Context& context)
    : step_(grid.step().begin(), grid.step().end()), counts_(odd_counts(grid)) {
  if (transforms(grid)) {
    scores_ = std::make_shared<const GridScores>(grid, at_zero, W, context);
    return;
  }
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
    // Sums over the inputs before the last, one by one, for all outputs.
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
  if (scores_ != nullptr) return scores_->multiply(X, context, out);
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

int64_t AxisProducts::products(std::span<const int64_t> counts, int64_t seeds) {
  int64_t rows = seeds;
  for (const int64_t count : counts.first(counts.size() - 1))
    rows = checked_multiply(rows, 2 * count, kAxisSums);
  return rows;
}

AxisProducts::AxisProducts(std::vector<int64_t> counts, int64_t seeds, int64_t rows,
                           Context& context)
    : counts_(std::move(counts)),
      left_(products(counts_, seeds), rows, context, kAxisSums),
      sums_(left_.rows(), 2 * counts_.back(), context, kAxisSums) {
  sums_.fill(0);
}

void AxisProducts::fill_left(MatrixView<const double> seeds,
                             std::span<const MatrixView<const double>> bases, int64_t begin,
                             int64_t end) const noexcept {
  const int64_t each = left_.rows() / seeds.rows;
  for (int64_t r = 0; r < left_.rows(); ++r) {
    double* const out = left_.view().row(r);
    std::copy(seeds.row(r / each) + begin, seeds.row(r / each) + end, out + begin);
    int64_t rest = r % each;
    for (size_t k = bases.size() - 1; k-- > 0; rest /= bases[k].rows) {
      const double* const factor = bases[k].row(rest % bases[k].rows);
      for (int64_t i = begin; i < end; ++i) out[i] *= factor[i];
    }
  }
}

void AxisProducts::add(MatrixView<const double> seeds,
                       std::span<const MatrixView<const double>> bases, Context& context) {
  const int64_t n = seeds.cols;
  parallel_for(context, ceil_divide(n, kAxisColumns), [&](int64_t chunk, int) noexcept {
    fill_left(seeds, bases, chunk * kAxisColumns, std::min(n, (chunk + 1) * kAxisColumns));
  });
  linalg::multiply(1, linalg::kPlain, left_.view().block_cols(0, n), linalg::kTransposed,
                   bases.back(), 1, sums_.view());
}

std::complex<double> AxisProducts::sum(int64_t seed, std::span<const int64_t> entry,
                                       std::span<const bool> negative) const noexcept {
  static constexpr std::complex<double> kPowers[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const size_t d = counts_.size();
  std::complex<double> total = 0;
  for (size_t sines = 0; sines < size_t{1} << d; ++sines) {
    int64_t row = seed, column = 0;
    size_t power = 0;  // of i
    for (size_t k = 0; k < d; ++k) {
      const bool sine = (sines >> k & 1) != 0;
      const int64_t at = entry[k] + (sine ? counts_[k] : 0);
      if (sine) power += negative[k] ? 3 : 1;
      if (k + 1 < d) row = row * 2 * counts_[k] + at;
      column = at;
    }
    total += kPowers[power % 4] * sums_(row, column);
  }
  return total;
}

}  // namespace mercer::feature
