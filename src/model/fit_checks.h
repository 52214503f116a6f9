// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Argument checks of fit and search: options, shapes, NaN, labels; and what they warn of.
#pragma once

#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "model/estimator/estimator_options.h"
#include "model/model.h"
#include "model/prepare/preparation.h"
#include "model/report.h"
#include "model/rows/row_sets.h"
#include "solver/block_source.h"

namespace mercer::model {

/// Options by themselves, without data.
void check(const TargetOptions& coding);
void check(const PreparationOptions& preparing, const TargetOptions& coding);
void check(const SelectionOptions& selecting);
/// 0 < smallest <= largest of the path of lambda, and at least one.
void check_path(const SelectionOptions& selecting);
void check(const FitOptions& asked);  // all of the above, and the estimator's own checks
/// At least two rows, equally many targets, and a single column of them for classification.
void check_shapes(const TargetOptions& coding, int64_t rows, int64_t inputs,
                  MatrixView<const double> Y);
/// At least one column of targets, exactly one for classification; `what` names their count.
void check_target_columns(const TargetOptions& coding, const char* what, int64_t columns);
/// At least two rows, and one of positive weight.
void check_rows(const char* what, int64_t rows, double weight);
/// No more folds than rows.
void check_folds(const SelectionOptions& selecting, int64_t rows);
/// Group numbers are finite, and at least two differ. UNSUPPORTED: groups of ordered rows, and
/// leave-one-out of grouped or ordered rows.
void check_dependence(const SelectionOptions& selecting, std::span<const double> groups);
/// INVALID_ARGUMENT for a kernel of unit rows where preparation makes no such rows.
void check_row_norms(const kernel::Kernel& kernel, const Preparation& preparation);
/// The map has as many inputs as X has columns.
void check_inputs(int64_t inputs, int64_t columns);
/// Rows in memory and their targets, whatever the map.
void check_data(const FitOptions& asked, const TargetedRows& rows);
/// UNSUPPORTED for options that need rows or targets before they are read or, of rows that several
/// processes share, more than sums, extremes and quantiles of each other's inputs. prepared: the
/// preparation is there.
void check_streamed(const FitOptions& asked, bool shared, bool prepared = false);
/// UNSUPPORTED for options that contradict the kernel: a vector field needs one scale for all
/// inputs, and outputs are coupled in one way only.
void check_outputs(const kernel::Kernel& kernel, const FitOptions& asked);
/// Inputs summable (base/views.h); NaN is allowed where missing numbers are filled.
void check_numbers(Missing missing, const Rows& X);
/// Targets summable (base/views.h), or NaN (missing) where may_miss; for classification whole
/// numbers in [0, classes).
void check_targets(const TargetOptions& coding, MatrixView<const double> Y, bool may_miss = false);
/// Adds a warning if some are missing, in place of one of fewer rows.
void warn_of_missing(double missing, double targets, FitReport& report);
/// Counts observed targets of rows of positive weight by column, block by block, in one process or
/// several.
class ObservedTargets {
 public:
  explicit ObservedTargets(int64_t columns)
      : counts_(static_cast<size_t>(columns) + 1, 0.0),
        largest_(static_cast<size_t>(columns), 0.0) {}
  void add(MatrixView<const double> Y, std::span<const double> weights);
  void reduce(solver::Reduction& reduction);
  void keep(StateBytes& state);
  /// Errors: INVALID_ARGUMENT naming a column of NaN alone, or of numbers whose squares vanish.
  void require_some() const;
  bool is_complete() const noexcept { return counts_.back() == 0; }
  /// Adds a warning if some are missing.
  void warn(FitReport& report) const;

 private:
  std::vector<double> counts_;   // observed per column, then the number of missing targets
  std::vector<double> largest_;  // |y| per column; of processes that share rows their sum
};
ObservedTargets observed_of(MatrixView<const double> Y, std::span<const double> weights);
/// Whether targets may be NaN: in regressions by least squares or another loss.
bool may_miss_targets(const TargetOptions& coding, const ModelEntry& entry);

// Features that vanish where the kernel does not: away from the origin those of a power series,
// positive ones of large norms, those of few landmarks.

/// Adds a warning to model.report where ||z(x)||^2 is far below k(x, x) for many of a sample of the
/// training rows, but not for others: f has no variance there but the intercept's. Of local fits
/// each row counts from its centre.
void warn_of_vanishing(Model& model, const Rows& X, Context& context);

}  // namespace mercer::model
