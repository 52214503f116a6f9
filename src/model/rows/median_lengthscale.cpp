// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The median heuristic on a subsample of prepared rows, or on sampled pairs of these if rows are
// so wide that all pairs would cost more than the search.
#include "model/rows/median_lengthscale.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/size.h"
#include "kernel/median_heuristic.h"
#include "model/prepare/row_coding.h"
#include "model/rows/row_sets.h"

namespace mercer::model {
namespace {

constexpr int64_t kMedianNumbers = int64_t{1} << 29;  // half a second on one core
constexpr int64_t kLeastPairs = 1000;

/// At least half of all pairs are equal rows, so that their median distance is 0.
bool mostly_equal(MatrixView<const double> rows) {
  std::vector<const double*> sorted(rows.rows);
  for (int64_t i = 0; i < rows.rows; ++i) sorted[i] = rows.row(i);
  const auto less = [&](const double* a, const double* b) {
    return std::lexicographical_compare(a, a + rows.cols, b, b + rows.cols);
  };
  std::sort(sorted.begin(), sorted.end(), less);
  int64_t equal_pairs = 0, run = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    run = less(sorted[i - 1], sorted[i]) ? 0 : run + 1;
    equal_pairs += run;
  }
  return 4 * equal_pairs >= rows.rows * (rows.rows - 1);
}

std::vector<double> inverse_scales(const Preparation& preparation, int64_t d) {
  std::vector<double> inverse(d, 1.0);
  for (size_t j = 0; j < preparation.scale.size(); ++j) inverse[j] = 1 / preparation.scale[j];
  return inverse;
}

/// The squared distance of two prepared rows, whose means cancel. Several sums for SIMD lanes.
template <class T>
double squared_distance(const T* a, const T* b, const std::vector<double>& inverse) noexcept {
  constexpr size_t kSums = 8;
  double sums[kSums] = {};
  const auto add = [&](size_t j, double& sum) {
    const double t = (static_cast<double>(a[j]) - static_cast<double>(b[j])) * inverse[j];
    sum += t * t;
  };
  size_t j = 0;
  for (; j + kSums <= inverse.size(); j += kSums) {
    for (size_t k = 0; k < kSums; ++k) add(j + k, sums[k]);
  }
  for (; j < inverse.size(); ++j) add(j, sums[0]);
  return std::accumulate(sums, sums + kSums, 0.0);
}

template <class T>
double lengthscale_of_pairs(const Preparation& preparation, MatrixView<const T> X,
                            const std::vector<int64_t>& rows, int64_t pairs, uint64_t seed,
                            Context& context) {
  const std::vector<double> inverse = inverse_scales(preparation, X.cols);
  const auto distance = [&](int64_t i, int64_t j) noexcept {
    return squared_distance(X.row(rows[i]), X.row(rows[j]), inverse);
  };
  const double median =
      kernel::median_of_pairs(std::ssize(rows), pairs, seed, X.cols, context, distance);
  return median > 0 ? median : std::sqrt(2.0 * static_cast<double>(X.cols));
}

int64_t sampled_pairs(int64_t rows) {
  const int64_t sampled = std::min(rows, kMedianRows);
  return sampled * (sampled - 1) / 2;
}

bool all_are_affordable(int64_t rows, int64_t columns) {
  return sampled_pairs(rows) <= kMedianNumbers / columns;
}

}  // namespace

int64_t median_pairs(int64_t rows, int64_t columns) {
  const int64_t all = sampled_pairs(rows);
  if (all_are_affordable(rows, columns)) return all;
  return std::max(kMedianNumbers / columns, std::min(all, kLeastPairs));
}

template <class T>
double median_lengthscale(const Preparation& preparation, MatrixView<const T> X,
                          const std::vector<int64_t>& rows, uint64_t seed, Context& context) {
  const auto sample = sample_rows(rows, kMedianRows, seed);
  const int64_t n = std::ssize(sample);
  const int64_t pairs = median_pairs(n, preparation.prepared(X.cols));
  if (preparation.is_affine() && !all_are_affordable(n, X.cols))
    return lengthscale_of_pairs(preparation, X, sample, pairs, seed, context);
  const Matrix<double> inputs(std::ssize(sample), preparation.prepared(X.cols), context,
                              "rows whose distances have a median");
  for (int64_t i = 0; i < inputs.rows(); ++i) {
    prepare_row(preparation, X, sample[i], inputs.view().row(i));
  }
  if (inputs.rows() < 2 || mostly_equal(inputs.view())) {
    return std::sqrt(2.0 * static_cast<double>(X.cols));
  }
  return kernel::median_heuristic(inputs.view(), pairs, seed, context);
}

template double median_lengthscale(const Preparation&, MatrixView<const float>,
                                   const std::vector<int64_t>&, uint64_t, Context&);
template double median_lengthscale(const Preparation&, MatrixView<const double>,
                                   const std::vector<int64_t>&, uint64_t, Context&);

// The median heuristic of sparse rows: the pairs of the same dense rows, of rows that are sorted by
// column once and merged.
// Means cancel in differences, so rows are only scaled.

namespace {

struct Entry {
  int64_t column;
  double value;
};
using SparseRow = std::vector<Entry>;  // by column, each once

template <class T>
SparseRow sorted_row(const Preparation& preparation, const CsrView<T>& X, int64_t i, double* sums) {
  SparseRow row;
  for_each_prepared(preparation, X, i, sums, [&](int64_t j, double value) {
    row.push_back({j, value});
  });
  std::ranges::sort(row, {}, &Entry::column);
  size_t last = 0;  // in hashed rows several entries may share a bucket
  for (size_t k = 1; k < row.size(); ++k) {
    if (row[k].column == row[last].column) {
      row[last].value += row[k].value;
    } else {
      row[++last] = row[k];
    }
  }
  if (!row.empty()) row.resize(last + 1);
  return row;
}

double squared_distance(const SparseRow& a, const SparseRow& b) noexcept {
  double sum = 0;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const bool take_x = y == b.end() || (x != a.end() && x->column <= y->column);
    const bool take_y = x == a.end() || (y != b.end() && y->column <= x->column);
    const double difference = (take_x ? x->value : 0) - (take_y ? y->value : 0);
    sum += difference * difference;
    x += take_x;
    y += take_y;
  }
  return sum;
}

}  // namespace

template <class T>
double median_lengthscale(const Preparation& preparation, const CsrView<T>& X,
                          const std::vector<int64_t>& rows, uint64_t seed, Context& context) {
  const double of_standardised = std::sqrt(2.0 * static_cast<double>(X.cols));
  const std::vector<int64_t> chosen = sample_rows(rows, kMedianRows, seed);
  int64_t most = 0;
  for (const int64_t row : chosen) most += X.end(row) - X.begin(row);
  constexpr int64_t kEntryBytes = 2 * sizeof(Entry);  // a vector that grows holds up to twice
  const MemoryCharge charge =
      context.charge(checked_multiply(most, kEntryBytes, "a sample"), "a sample of sparse rows");
  const Matrix<double> sums(1, X.cols, context, "sums of sparse rows");
  sums.fill(0);
  std::vector<SparseRow> sample;
  int64_t stored = 0;
  for (const int64_t row : chosen) {
    sample.push_back(sorted_row(preparation, X, row, sums.data()));
    stored += std::ssize(sample.back());
    context.checkpoint();
  }
  const int64_t n = std::ssize(sample);
  if (n < 2) return of_standardised;
  const int64_t each = 1 + 2 * (stored / n);  // numbers that a pair compares
  const auto distance = [&](int64_t i, int64_t j) noexcept {
    return squared_distance(sample[i], sample[j]);
  };
  const double median = kernel::median_of_pairs(n, median_pairs(n, preparation.prepared(X.cols)),
                                                seed, each, context, distance);
  return median > 0 ? median : of_standardised;
}

template double median_lengthscale(const Preparation&, const CsrView<float>&,
                                   const std::vector<int64_t>&, uint64_t, Context&);
template double median_lengthscale(const Preparation&, const CsrView<double>&,
                                   const std::vector<int64_t>&, uint64_t, Context&);

}  // namespace mercer::model
