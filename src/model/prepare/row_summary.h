// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One pass over training rows: how they are prepared, and where they lay.
#pragma once

#include <cstdint>
#include <span>

#include "model/prepare/column_moments.h"
#include "model/prepare/found.h"
#include "model/prepare/preparing.h"
#include "model/prepare/ranges.h"

namespace mercer::model {

/// What one pass over the training rows finds: in memory, or block by block. Targets are those of a
/// regression: no columns of a classification.
class RowSummary {
 public:
  /// The context is kept, and charged with a sample of the rows, which seed fixes.
  RowSummary(const Preparing& asked, const Found& found, uint64_t seed, int64_t inputs,
             int64_t targets, Context& context);
  /// Of rows in memory.
  RowSummary(const Preparing& asked, const Found& found, uint64_t seed, const Rows& X,
             MatrixView<const double> Y, std::span<const double> weights, Context& context)
      : RowSummary(asked, found, seed, X.cols(), Y.cols, context) {
    add(X, Y, weights);
  }
  /// INVALID_ARGUMENT for a column that holds no number in any row.
  void require_numbers() const { ranges_.inputs().require_numbers(); }
  /// The next rows. UNSUPPORTED for sparse ones that would have to be centred or ranked.
  void add(const Rows& X, MatrixView<const double> Y, std::span<const double> weights);
  /// Of the rows of all processes: each has the same afterwards. Curves, medians and robust scales
  /// stay those of this process's rows.
  void reduce(solver::Reduction& reduction, Context& context) {
    ranges_.reduce(reduction, context);
    moments_.reduce(reduction, ranges_.inputs().largest());
  }
  /// Sparse rows are scaled only (column_moments.h). Means and
  /// deviations are of all rows for the standard scale of rows without curves or missing numbers,
  /// else those of the sample that quantiles come from.
  Preparation preparation() const;
  /// Of it the inputs with a flag, and the curves of targets.
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
  Preparing asked_;
  Found found_;
  uint64_t seed_;
  ColumnMoments moments_;
  RangeCollector ranges_;
};

/// Rows that a flag takes in a search: one for each fold that judges it. What a flag of fewer
/// rows means is learnt from next to none, and a row held out then lies where no other does.
inline constexpr int64_t kLeastFlagged = 5;
/// Where missing = flag leaves open which inputs: flagged becomes those that enough rows of a
/// weight miss, or missing = fill if there are none. The number of inputs that fewer rows miss.
int64_t leave_out_rare_flags(Preparing& asked, std::vector<int64_t>& flagged, const Rows& X,
                             std::span<const double> weights = {});

/// The number of prepared inputs of X, before anything is fitted. flagged: as Found has them.
int64_t prepared_inputs(const Preparing& asked, std::span<const int64_t> flagged, const Rows& X,
                        std::span<const double> weights = {});

}  // namespace mercer::model
