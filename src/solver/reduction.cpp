// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums statistics of several processes: agrees on an origin first, then adds up.
#include "solver/reduction.h"

#include <algorithm>
#include <vector>

#include "solver/row_statistics.h"

namespace mercer::solver {
namespace {

/// The mean of all processes' rows by sums about zero, which is accurate enough for an origin.
MeanRow common_mean(const RowStatistics& statistics, Reduction& reduction) {
  std::vector<double> sums = plain_sum_features(statistics);
  const std::vector<double> outputs = plain_sum_outputs(statistics);
  sums.insert(sums.end(), outputs.begin(), outputs.end());
  sums.push_back(statistics.weight());
  reduction.sum(sums);
  const double n = sums.back();
  if (n > 0)
    for (double& sum : sums) sum /= n;
  const auto split = sums.begin() + statistics.features();
  return {{sums.begin(), split}, {split, sums.end() - 1}};
}

/// Packs rows of numbers into few messages: latency costs more than bytes.
class PackedSums {
 public:
  explicit PackedSums(Reduction& reduction) : reduction_(reduction) {}
  void add(std::span<double> row) {
    rows_.push_back(row);
    count_ += row.size();
    if (count_ >= kMostNumbers) sum();
  }
  void sum() {
    packed_.clear();
    for (const std::span<double> row : rows_) packed_.insert(packed_.end(), row.begin(), row.end());
    reduction_.sum(packed_);
    auto from = packed_.begin();
    for (const std::span<double> row : rows_) {
      std::copy_n(from, row.size(), row.begin());
      from += static_cast<std::ptrdiff_t>(row.size());
    }
    rows_.clear();
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMostNumbers = std::size_t{1} << 16;  // and a row
  Reduction& reduction_;
  std::vector<std::span<double>> rows_;
  std::vector<double> packed_;
  std::size_t count_ = 0;
};

}  // namespace

void all_reduce(RowStatistics& statistics, Reduction& reduction) {
  move_origin(statistics, common_mean(statistics, reduction));
  const RowStatistics::Parts parts = statistics.parts();
  double counts[] = {static_cast<double>(parts.rows), parts.weight};  // exact up to 2^53 rows
  PackedSums sums(reduction);
  for (int64_t i = 0; i < parts.gram.rows; ++i) {
    sums.add({parts.gram.row(i), static_cast<std::size_t>(i + 1)});
    sums.add({parts.cross.row(i), static_cast<std::size_t>(parts.cross.cols)});
  }
  sums.add(parts.sum_features);
  sums.add(parts.sum_outputs);
  sums.add(parts.sum_squared_outputs);
  sums.add(counts);
  sums.sum();
  parts.rows = static_cast<int64_t>(counts[0]);
  parts.weight = counts[1];
}

}  // namespace mercer::solver
