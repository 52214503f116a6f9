// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A product over inputs is one of two numbers, the product over all inputs but the last and the
// last's factor: sums over rows are one matrix product.
#include <algorithm>

#include "base/parallel.h"
#include "base/size.h"
#include "feature/grid_sums.h"
#include "linalg/blas.h"

namespace mercer::feature {
namespace {

constexpr const char* kAxisSums = "sums over rows on a grid";
constexpr int64_t kAxisColumns = 64;

}  // namespace

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
