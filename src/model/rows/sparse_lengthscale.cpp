// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The median heuristic of sparse rows: the pairs of the same dense rows, of rows that are sorted by
// column once and merged.
// Means cancel in differences, so rows are only scaled.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/size.h"
#include "kernel/lengthscale.h"
#include "model/prepare/row_coding.h"
#include "model/rows/central_lengthscale.h"
#include "model/rows/row_sets.h"

namespace mercer::model {
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
double central_lengthscale(const Preparation& preparation, const CsrView<T>& X,
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
  int64_t listed = 0;
  for (const int64_t row : chosen) {
    sample.push_back(sorted_row(preparation, X, row, sums.data()));
    listed += std::ssize(sample.back());
    context.checkpoint();
  }
  const int64_t n = std::ssize(sample);
  if (n < 2) return of_standardised;
  const int64_t each = 1 + 2 * (listed / n);  // numbers that a pair compares
  const auto distance = [&](int64_t i, int64_t j) noexcept {
    return squared_distance(sample[i], sample[j]);
  };
  const double median = kernel::median_of_pairs(n, median_pairs(n, preparation.prepared(X.cols)),
                                                seed, each, context, distance);
  return median > 0 ? median : of_standardised;
}

template double central_lengthscale(const Preparation&, const CsrView<float>&,
                                    const std::vector<int64_t>&, uint64_t, Context&);
template double central_lengthscale(const Preparation&, const CsrView<double>&,
                                    const std::vector<int64_t>&, uint64_t, Context&);

}  // namespace mercer::model
