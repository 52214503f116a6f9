// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Models that keep the sums of their rows: further rows are added, or rows are taken away, without
// the others.
#pragma once

#include <memory>

#include "base/context.h"
#include "base/options.h"
#include "model/model.h"
#include "model/rows/row_sets.h"
#include "solver/block_source.h"
#include "solver/row_statistics.h"

namespace mercer::model {

/// Rows for each feature from which generalised cross-validation by sums serves.
inline constexpr double kGcvRows = 10;

struct KeptSums {
  solver::RowStatistics sums;  // of features and coded targets
  double unit = 1;             // the weight of a row that counts once: the mean of the fit's rows
};

struct UpdateOptions {
  double decay = 1;     // of the weights of all rows before
  bool remove = false;  // the rows instead of adding them
};
OptionTable<UpdateOptions> update_options();

/// UNSUPPORTED unless the fit is one that sums over its rows say all of; nothing is asked where
/// nothing is kept.
void check_kept(const FitOptions& asked);
void check_kept(const FitOptions& asked, const feature::FeatureMap& map);
/// Before there is a map: whether it will have a feature for each row, or several outputs.
void check_kept(const FitOptions& asked, bool of_rows, bool several_outputs);
/// The sums of these rows, where they are asked for; one pass. unit: as in KeptSums.
void keep_sums(const solver::BlockSource& rows, double unit, Context& context, Model& model);

/// The model of its rows, their weights times the decay, with these or without. Map and
/// preparation, and of classes the calibration, stay; ranges grow. A chosen lambda is chosen again
/// where the sums are of ten rows for each feature, by the evidence if it was before, else by
/// generalised cross-validation; n lambda stays where they are of fewer, and a given lambda stays.
/// The report is of this fit alone, without a score. Errors: UNSUPPORTED for a model without sums;
/// INVALID_ARGUMENT for rows that fits refuse, for removed rows that the sums do not hold, or of
/// which they leave so little that it is lost in rounding. Cost: n D^2 + D^3.
Model update(const Model& model, const UpdateOptions& asked, const TargetedRows& rows,
             Context& context);

}  // namespace mercer::model
