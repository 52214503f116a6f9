// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The spec of a fit, the one door to what is fitted: which model on which map, how rows are
// prepared, what is searched and how lambda is chosen. Every key has a default.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "model/hermite.h"
#include "model/row_stream.h"
#include "model/search/partial_map.h"
#include "model/search/search.h"

namespace mercer::spec {

struct FitPlan {
  Parameters given;             // as it was written, to tell what was asked from what is a default
  Parameters map;               // what partial_map completes
  model::SearchOptions search;  // its .fit is the plan of a fit that searches for lambda alone
  bool searches = true;         // for more than lambda
  bool names_model = false;     // else the search chooses the estimator of classes

  bool asks(std::string_view key) const { return given.find(key) != nullptr; }
};

/// Errors: INVALID_ARGUMENT naming key, value and what is allowed; VERSION; UNSUPPORTED for
/// "needs":"data".
FitPlan fit_plan(std::string_view json);

/// Where the features come from: a map of the caller's, or null for the plan's own.
using GivenMap = std::shared_ptr<const feature::FeatureMap>;

/// Rows in memory; weights and groups: one for each, or none. `search`.report and its user stand in the plan.
/// Errors: UNSUPPORTED for what goes on with a map of the caller's; those of search and fit.
model::Model fit(FitPlan plan, const GivenMap& map, const Rows& X, MatrixView<const double> Y,
                 std::span<const double> weights, Context& context,
                 std::span<const double> groups = {});

/// Where the spec leaves it open, lambda of rows that are not exchangeable is chosen by folds.
void settle_selection(FitPlan& plan, bool exchangeable);

/// The map of rows that are not in memory, whose kernel the plan then follows. UNSUPPORTED for a search, and for a map made from rows.
GivenMap map_of_stream(FitPlan& plan, const GivenMap& map, int64_t inputs);

/// Values and derivatives. UNSUPPORTED for any key but "model", "lambda", which is required, and
/// "center".
model::HermiteOptions hermite_options(const FitPlan& plan);

/// 0: regression. Sets task and classes of the plan from "task" and "classes", or the largest class
/// number of Y, which is none for rows that are not in memory.
void set_classes(FitPlan& plan, int64_t targets, const MatrixView<const double>* Y);

}  // namespace mercer::spec
