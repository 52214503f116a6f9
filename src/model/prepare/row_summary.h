// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One pass over training rows, which fits their preparation and ranges, and the moments of columns
// that it needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/preparation.h"
#include "solver/block_source.h"

namespace mercer::model {

// Ranges of the training rows, by which predictions recognise extrapolation.

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
  /// Writes or reads all of it.
  void keep(StateBytes& state);
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
  void keep(StateBytes& state) {
    inputs_.keep(state);
    targets_.keep(state);
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

// Means and standard deviations of columns over blocks of rows.

/// A deviation below this times a column's largest magnitude is rounding error.
inline constexpr double kConstantColumn = 1e-14;
/// What a column is divided by: its deviation; 1 where that is rounding error, unless the last digits
/// of the column are larger.
inline double divisor_of(double deviation, double largest) {
  return deviation > kConstantColumn * largest ? deviation : std::max(1.0, deviation);
}

class ColumnMoments {
 public:
  explicit ColumnMoments(int64_t columns);
  /// Adds rows, weighted or not: two passes about the block's mean, then a merge (Chan, Golub,
  /// LeVeque 1983), so that columns with a large offset lose no digits.
  void add(const Rows& block, std::span<const double> weights = {});
  /// Merges the moments of all processes. largest: each column's largest magnitude in any process.
  void reduce(solver::Reduction& reduction, std::span<const double> largest);
  /// Writes or reads all of it.
  void keep(StateBytes& state);
  int64_t rows() const noexcept { return rows_; }
  double weight() const noexcept { return weight_; }
  /// Means and deviations (divided by the sum of the weights). For sparse rows only scales: the
  /// root mean square distance of a column's stored non-zeros from its mean. For a full column this
  /// is its deviation; a rare column's entries become about 1, whereas dividing by its tiny
  /// deviation would let it outweigh all others.
  Preparation preparation() const;
  /// Root mean squares of the columns; for sparse rows over stored non-zeros.
  std::vector<double> root_mean_squares() const;

 private:
  struct Column {
    double mean = 0, squares = 0, largest = 0;  // squares: about the mean
    double stored = 0;                          // weight of the rows that list it
  };
  template <class T>
  std::vector<Column> of_block(const MatrixView<const T>& X, std::span<const double> weights) const;
  template <class T>
  std::vector<Column> of_block(const CsrView<T>& X, std::span<const double> weights) const;
  double stored_deviation(const Column& column) const;

  std::vector<Column> columns_;
  int64_t rows_ = 0;
  double weight_ = 0;
  bool sparse_ = false;
};

// One pass over training rows, which fits their preparation and ranges.

/// Rows are in memory or come block by block. Targets have no columns for classification.
class RowSummary {
 public:
  /// The context is kept, and charged with a sample of the rows, chosen by seed.
  RowSummary(const PreparationOptions& asked, const PreparationFacts& found, uint64_t seed,
             int64_t inputs, int64_t targets, Context& context);
  /// Rows in memory.
  RowSummary(const PreparationOptions& asked, const PreparationFacts& found, uint64_t seed,
             const Rows& X, MatrixView<const double> Y, std::span<const double> weights,
             Context& context)
      : RowSummary(asked, found, seed, X.cols(), Y.cols, context) {
    add(X, Y, weights);
  }
  /// INVALID_ARGUMENT for a column that is missing in every row.
  void require_numbers() const { ranges_.inputs().require_numbers(); }
  /// Adds the next rows. UNSUPPORTED for sparse rows that would have to be centred or ranked.
  void add(const Rows& X, MatrixView<const double> Y, std::span<const double> weights);
  void keep(StateBytes& state) {
    moments_.keep(state);
    ranges_.keep(state);
  }
  /// Merges the summaries of all processes. Curves, medians and robust scales stay those of this
  /// process's rows.
  void reduce(solver::Reduction& reduction, Context& context) {
    ranges_.reduce(reduction, context);
    moments_.reduce(reduction, ranges_.inputs().largest());
  }
  /// Sparse rows are scaled only. Means and deviations are those of all rows for
  /// the standard scale without curves or missing numbers, else those of the sample.
  Preparation preparation() const;
  /// Preparation::flagged and Preparation::targets.
  std::vector<int64_t> flagged() const;
  std::vector<Curve> target_curves() const;
  bool has_skewed_targets() const;
  Ranges ranges() const { return ranges_.ranges(); }
  int64_t rows() const noexcept { return moments_.rows(); }
  double weight() const noexcept { return moments_.weight(); }

 private:
  void fit_curves(Preparation& to) const;
  void fit_fill(Preparation& to) const;
  void fit_scale(Preparation& to) const;
  void fit_root_mean_squares(Preparation& to) const;
  PreparationOptions asked_;
  PreparationFacts found_;
  uint64_t seed_;
  ColumnMoments moments_;
  RangeCollector ranges_;
};

/// The least number of rows with a flag in a search, one per fold: fewer teach nothing about it,
/// and a held-out row would lie far from all others.
inline constexpr int64_t kLeastFlagged = 5;
/// If missing = flag names no inputs: flags those that kLeastFlagged rows of positive weight miss,
/// or sets missing = fill if there are none. Returns the number of inputs that fewer rows miss.
int64_t leave_out_rare_flags(PreparationOptions& asked, std::vector<int64_t>& flagged,
                             const Rows& X, std::span<const double> weights = {});

/// The number of prepared inputs of X, before anything is fitted. flagged: as in PreparationFacts.
int64_t prepared_inputs(const PreparationOptions& asked, std::span<const int64_t> flagged,
                        const Rows& X, std::span<const double> weights = {});

}  // namespace mercer::model
