// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ranges of the training rows, by which predictions recognise extrapolation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "model/prepare/preparation.h"
#include "solver/block_source.h"

namespace mercer::model {

/// One column over the training rows of positive weight: the extremes, and the 1 % and 99 %
/// quantiles (of a sample if rows are many).
struct Range {
  double lowest, low, high, highest;
};

/// Ranges of the original inputs, before preparation.
struct Ranges {
  std::vector<Range> inputs;   // empty: unknown, as in old files
  std::vector<Range> targets;  // regression

  bool known() const noexcept { return !inputs.empty(); }
};

/// INVALID_ARGUMENT unless every range is finite and in order.
void check_ranges(std::span<const Range> ranges, const char* what);

/// Ranges of the columns of rows that arrive in blocks.
class ColumnRanges {
 public:
  /// The context is kept, and charged with the sample of the rows.
  ColumnRanges(int64_t columns, uint64_t seed, Context& context);
  /// Adds the next rows, weighted or not.
  void add(const Rows& block, std::span<const double> weights);
  /// Merges the ranges of all processes; the sample stays this process's.
  void reduce(solver::Reduction& reduction, Context& context);
  /// A column without any number has a range of zeros.
  std::vector<Range> ranges() const;
  /// The largest magnitude of each column; 0 for an empty one.
  std::vector<double> largest() const;
  void require_numbers() const;
  /// body(column, sorted sample) in order.
  template <class Body>
  void for_each_column(const Body& body) const {
    sample_.for_each_column(body);
  }
  /// Every number is 0 or 1.
  bool is_binary(int64_t column) const { return binary_[column] != 0; }
  bool has_missing(int64_t column) const { return missing_[column] != 0; }
  bool sparse() const noexcept { return sparse_; }
  int64_t columns() const noexcept { return std::ssize(stored_); }

 private:
  std::vector<double> shared_counts(std::span<const SortedColumn> sorted,
                                    solver::Reduction& reduction) const;
  double weight_up_to(std::span<const SortedColumn> sorted, std::size_t question, double x) const;
  void take_shared(std::span<const double> sums, std::span<const double> found);

  std::vector<double> lowest_, highest_;
  std::vector<int64_t> stored_;  // rows of positive weight that store the column
  std::vector<char> binary_, missing_;
  int64_t rows_ = 0;  // of positive weight
  bool sparse_ = false;
  ColumnSample sample_;
  std::vector<double> low_, high_;  // of all processes; empty: take the sample's
};

class RangeCollector {
 public:
  RangeCollector(int64_t inputs, int64_t targets, uint64_t seed, Context& context)
      : inputs_(inputs, seed, context), targets_(targets, seed, context) {}
  void add(const Rows& X, MatrixView<const double> targets, std::span<const double> weights) {
    inputs_.add(X, weights);
    targets_.add(targets, weights);
  }
  void reduce(solver::Reduction& reduction, Context& context) {
    inputs_.reduce(reduction, context);
    targets_.reduce(reduction, context);
  }
  Ranges ranges() const { return {inputs_.ranges(), targets_.ranges()}; }
  const ColumnRanges& inputs() const noexcept { return inputs_; }
  const ColumnRanges& targets() const noexcept { return targets_; }

 private:
  ColumnRanges inputs_, targets_;
};

/// Ranges of training rows in memory. targets: no columns for classification.
Ranges ranges_of(const Rows& X, MatrixView<const double> targets, uint64_t seed, Context& context,
                 std::span<const double> weights = {});

}  // namespace mercer::model
