// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What fit and search refuse before any work: what is asked, shapes, NaN, labels.
#pragma once

#include <vector>

#include "model/estimator/fitting.h"
#include "solver/reduction.h"

namespace mercer::model {

/// What is asked, by itself.
void check(const Coding& coding);
void check(const Preparing& preparing, const Coding& coding);
void check(const Selecting& selecting);
void check(const Fitting& asked);  // all of these, and by the estimator
/// At least two rows, as many targets, and one column of them alone for classification.
void check_shapes(const Coding& coding, int64_t rows, int64_t inputs, MatrixView<const double> Y);
/// At least one column of targets, and one alone for classification; `what` counts them.
void check_target_columns(const Coding& coding, const char* what, int64_t columns);
/// Two rows at least, and some of them with a weight.
void check_rows(const char* what, int64_t rows, double weight);
/// No more folds than rows.
void check_folds(const Selecting& selecting, int64_t rows);
/// Group numbers are finite, and at least two differ; rows in groups are in no order, and neither are
/// left out one by one (UNSUPPORTED).
void check_dependence(const Selecting& selecting, std::span<const double> groups);
/// A map's inputs are as many as X has columns.
void check_inputs(int64_t inputs, int64_t columns);
/// Real, of as many inputs as X has columns.
void check_map(const feature::FeatureMap& map, int64_t columns);
/// What the map's kernel and what is asked leave of each other: a field keeps one unit for all
/// inputs, and outputs are joined in one way. UNSUPPORTED.
void check_outputs(const kernel::Kernel& kernel, const Fitting& asked);
/// Inputs summable (base/finite.h); NaN is allowed where missing numbers are filled.
void check_numbers(Missing missing, const Rows& X);
/// Summable (base/finite.h); NaN is a target that was not observed, where may_miss; for
/// classification whole numbers in [0, classes).
void check_targets(const Coding& coding, MatrixView<const double> Y, bool may_miss = false);
/// What was observed of each column, block by block, in one process or several.
class ObservedTargets {
 public:
  explicit ObservedTargets(int64_t columns) : counts_(static_cast<size_t>(columns) + 1, 0.0) {}
  void add(MatrixView<const double> Y);
  void reduce(solver::Reduction& reduction);
  /// Errors: INVALID_ARGUMENT naming a column of NaN alone.
  void require_some() const;
  bool is_complete() const noexcept { return counts_.back() == 0; }

 private:
  std::vector<double> counts_;  // of each column, then of what is missing in all of them
};
ObservedTargets observed_of(MatrixView<const double> Y);
/// Targets may be NaN: those of a regression by squares.
bool may_miss_targets(const Coding& coding, const ModelEntry& entry);

}  // namespace mercer::model
