// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From the JSON of a fit to its options, and the fit by them.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "model/hermite.h"
#include "model/row_stream.h"
#include "model/search/partial_map.h"
#include "model/search/search.h"

namespace mercer::spec {

// The spec of a fit: the model and the map, how rows are prepared, what is searched and how lambda
// is chosen. Every key has a default.

struct FitPlan {
  Parameters given;             // the spec as written, which tells given keys from defaults
  Parameters map;               // to be completed by partial_map
  model::SearchOptions search;  // search.fit also serves a fit that chooses only lambda
  bool searches = true;         // more than lambda is searched
  bool names_model = false;     // false: the search chooses the estimator of classes

  bool asks(std::string_view key) const { return given.find(key) != nullptr; }
};

/// Errors: INVALID_ARGUMENT naming key, value and what is allowed; VERSION; UNSUPPORTED for
/// "needs":"data".
FitPlan fit_plan(std::string_view json);

/// UNSUPPORTED if the spec names one of these keys, or one of a search: "key of `of`".
void refuse_keys(const FitPlan& plan, std::initializer_list<const char*> keys, const char* of,
                 const char* expected);
void refuse_search_keys(const FitPlan& plan, const char* of);

/// The caller's map; null: the plan's.
using GivenMap = std::shared_ptr<const feature::FeatureMap>;

/// Fits rows in memory; weights and groups: one per row, or none. plan.search.report is called.
/// Errors: UNSUPPORTED for options that a caller's map excludes; those of search and fit.
model::Model fit(FitPlan plan, const GivenMap& map, const Rows& X, MatrixView<const double> Y,
                 std::span<const double> weights, Context& context,
                 std::span<const double> groups = {});

/// If the spec leaves it open: lambda is chosen by folds for rows that are not exchangeable.
void settle_selection(FitPlan& plan, bool exchangeable);

/// The map for streamed rows; the plan is adapted to its kernel. UNSUPPORTED for a search, and for
/// a map made from rows.
GivenMap map_of_stream(FitPlan& plan, const GivenMap& map, int64_t inputs);

/// Options of Hermite learning. UNSUPPORTED for other keys than "model", "center" and "lambda",
/// which is required.
model::HermiteOptions hermite_options(const FitPlan& plan);

/// Sets task and classes of the plan from "task" and "classes", or the largest class number of Y
/// (null for streamed rows). 0 classes: regression.
void set_classes(FitPlan& plan, int64_t targets, const MatrixView<const double>* Y);

}  // namespace mercer::spec
