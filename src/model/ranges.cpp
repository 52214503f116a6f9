// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/listed_rows.h"

namespace mercer::model {
namespace {

constexpr double kLow = 0.01, kHigh = 0.99;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void check_ranges(std::span<const Range> ranges, const char* what) {
  for (size_t j = 0; j < ranges.size(); ++j) {
    const Range& r = ranges[j];
    const bool ordered = r.lowest <= r.low && r.low <= r.high && r.high <= r.highest;
    require(ordered && std::isfinite(r.lowest) && std::isfinite(r.highest), MERCER_INVALID_ARGUMENT,
            "%s: range %zu is %g, %g, %g, %g, expected finite numbers in ascending order", what, j,
            r.lowest, r.low, r.high, r.highest);
  }
}

ColumnRanges::ColumnRanges(int64_t columns, uint64_t seed)
    : lowest_(static_cast<size_t>(columns), kInfinity),
      highest_(static_cast<size_t>(columns), -kInfinity),
      listed_(static_cast<size_t>(columns), 0),
      binary_(static_cast<size_t>(columns), 1),
      missing_(static_cast<size_t>(columns), 0),
      sample_(columns, seed) {}

void ColumnRanges::add(const Rows& block, std::span<const double> weights) {
  std::vector<double> sums(static_cast<size_t>(sum_count(block)), 0.0);
  block.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      if (!weights.empty() && weights[static_cast<size_t>(i)] == 0) continue;
      ++rows_;
      for_each_number(X, i, sums.data(), [&](int64_t column, double x) {
        const auto j = static_cast<size_t>(column);
        lowest_[j] = std::min(lowest_[j], x);  // a NaN changes neither
        highest_[j] = std::max(highest_[j], x);
        ++listed_[j];
        if (std::isnan(x)) {
          missing_[j] = 1;
        } else if (x != 0 && x != 1) {
          binary_[j] = 0;
        }
      });
    }
  });
  sparse_ = sparse_ || block.sparse();
  sample_.add(block, weights);
}

std::vector<Range> ColumnRanges::ranges() const {
  std::vector<Range> ranges(lowest_.size(), Range{0, 0, 0, 0});
  sample_.for_each_column([&](int64_t column, const SortedColumn& sorted) {
    const auto j = static_cast<size_t>(column);
    const bool zero = listed_[j] < rows_;  // in a row that does not list it
    const double lowest = zero ? std::min(lowest_[j], 0.0) : lowest_[j];
    const double highest = zero ? std::max(highest_[j], 0.0) : highest_[j];
    if (lowest > highest) return;
    // Rows of the sample lie between the extremes of all rows.
    ranges[j] = {lowest, sorted.quantile(kLow), sorted.quantile(kHigh), highest};
  });
  return ranges;
}

void ColumnRanges::require_numbers() const {
  for (size_t j = 0; j < lowest_.size(); ++j) {
    require(lowest_[j] <= highest_[j] || listed_[j] < rows_, MERCER_INVALID_ARGUMENT,
            "X: column %zu (counted from 0) holds no number in any row, expected one at least", j);
  }
}

Ranges ranges_of(const Rows& X, MatrixView<const double> targets, uint64_t seed,
                 std::span<const double> weights) {
  RangeCollector collector(X.cols(), targets.cols, seed);
  collector.add(X, targets, weights);
  return collector.ranges();
}

}  // namespace mercer::model
