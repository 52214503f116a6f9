// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/ranges.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "model/prepare/preparation.h"
#include "model/prepare/row_coding.h"

namespace mercer::model {
namespace {

constexpr double kLow = 0.01, kHigh = 0.99;

/// For each column: the counts summed over processes, then the order statistics asked for.
enum Count : size_t { kStored, kNotBinary, kMissing, kWithNumbers, kWeight, kCounts };
enum Question : size_t { kLowest, kHighest, kBelow, kAbove, kQuestions };

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

ColumnRanges::ColumnRanges(int64_t columns, uint64_t seed, Context& context)
    : lowest_(static_cast<size_t>(columns), kInfinity),
      highest_(columns, -kInfinity),
      stored_(columns, 0),
      binary_(columns, 1),
      missing_(columns, 0),
      sample_(columns, seed, context) {}

void ColumnRanges::add(const Rows& block, std::span<const double> weights) {
  std::vector<double> sums(sum_count(block), 0.0);
  block.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      if (!weights.empty() && weights[i] == 0) continue;
      ++rows_;
      for_each_number(X, i, sums.data(), [&](int64_t column, double x) {
        const auto j = static_cast<size_t>(column);
        lowest_[j] = std::min(lowest_[j], x);  // a NaN changes neither
        highest_[j] = std::max(highest_[j], x);
        ++stored_[j];
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
    const bool zero = stored_[j] < rows_;  // some row does not store the column
    const double lowest = zero ? std::min(lowest_[j], 0.0) : lowest_[j];
    const double highest = zero ? std::max(highest_[j], 0.0) : highest_[j];
    if (lowest > highest) return;
    // Quantiles of the sample lie between the extremes of all rows.
    const bool shared = !low_.empty();
    ranges[j] = {lowest, shared ? low_[j] : sorted.quantile(kLow),
                 shared ? high_[j] : sorted.quantile(kHigh), highest};
  });
  return ranges;
}

std::vector<double> ColumnRanges::largest() const {
  std::vector<double> largest;
  for (size_t j = 0; j < lowest_.size(); ++j)
    largest.push_back(lowest_[j] > highest_[j] ? 0.0 : std::max(-lowest_[j], highest_[j]));
  return largest;
}

std::vector<double> ColumnRanges::shared_counts(std::span<const SortedColumn> sorted,
                                                solver::Reduction& reduction) const {
  std::vector<double> sums;
  for (size_t j = 0; j < sorted.size(); ++j)
    sums.insert(sums.end(), {static_cast<double>(stored_[j]), binary_[j] != 0 ? 0.0 : 1.0,
                             missing_[j] != 0 ? 1.0 : 0.0, lowest_[j] <= highest_[j] ? 1.0 : 0.0,
                             sample_.share() * sorted[j].weight()});
  sums.insert(sums.end(), {static_cast<double>(rows_), sparse_ ? 1.0 : 0.0});
  reduction.sum(sums);
  return sums;
}

double ColumnRanges::weight_up_to(std::span<const SortedColumn> sorted, size_t question,
                                  double x) const {
  const size_t j = question / kQuestions;
  const bool any = lowest_[j] <= highest_[j];
  switch (question % kQuestions) {
    case kLowest:
      return any && lowest_[j] <= x ? 1.0 : 0.0;
    case kHighest:
      return any && highest_[j] <= x ? 1.0 : 0.0;
    default:
      return sample_.share() * sorted[j].weight_up_to(x);
  }
}

void ColumnRanges::take_shared(std::span<const double> sums, std::span<const double> found) {
  const size_t columns = lowest_.size();
  for (size_t j = 0; j < columns; ++j) {
    const double *const sum = sums.data() + j * kCounts, *const of = found.data() + j * kQuestions;
    stored_[j] = static_cast<int64_t>(sum[kStored]);
    binary_[j] = sum[kNotBinary] == 0;
    missing_[j] = sum[kMissing] > 0;
    if (sum[kWithNumbers] > 0) {
      lowest_[j] = of[kLowest];
      highest_[j] = of[kHighest];
    }
    low_.push_back(of[kBelow]);
    high_.push_back(of[kAbove]);
  }
  rows_ = static_cast<int64_t>(sums[columns * kCounts]);
  sparse_ = sums[columns * kCounts + 1] > 0;
}

/// A process's sample counts by the rows that it stands for.
void ColumnRanges::reduce(solver::Reduction& reduction, Context& context) {
  if (lowest_.empty()) return;
  std::vector<SortedColumn> sorted;
  sample_.for_each_column([&](int64_t, const SortedColumn& column) { sorted.push_back(column); });
  const std::vector<double> sums = shared_counts(sorted, reduction);
  std::vector<double> wanted;
  for (size_t j = 0; j < sorted.size(); ++j) {
    const double* const sum = sums.data() + j * kCounts;
    wanted.insert(wanted.end(), {std::min(1.0, sum[kWithNumbers]), sum[kWithNumbers],
                                 kLow * sum[kWeight], kHigh * sum[kWeight]});
  }
  const auto up_to = [&](size_t question, double x) { return weight_up_to(sorted, question, x); };
  take_shared(sums, shared_order(wanted, up_to, reduction, context));
}

void ColumnRanges::require_numbers() const {
  for (size_t j = 0; j < lowest_.size(); ++j) {
    require(lowest_[j] <= highest_[j] || stored_[j] < rows_, MERCER_INVALID_ARGUMENT, at_column(j),
            "X holds no number in any row, expected one at least");
  }
}

Ranges ranges_of(const Rows& X, MatrixView<const double> targets, uint64_t seed, Context& context,
                 std::span<const double> weights) {
  RangeCollector collector(X.cols(), targets.cols, seed, context);
  collector.add(X, targets, weights);
  return collector.ranges();
}

}  // namespace mercer::model
