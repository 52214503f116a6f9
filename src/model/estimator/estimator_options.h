// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The options of a fit, as its parts read them.
#pragma once

#include <vector>

#include "base/parameters.h"
#include "feature/feature_map.h"
#include "model/outputs/outputs.h"
#include "model/prepare/preparation.h"
#include "model/rows/clipping.h"
#include "model/select/selection.h"
#include "solver/ridge_system.h"

namespace mercer::model {

// Options of the estimator that learns on features.

struct ModelEntry;  // model_entry.h
class Predictor;    // predictor.h
const ModelEntry& ridge_model();

struct EstimatorOptions {
  const ModelEntry* entry = &ridge_model();
  Parameters parameters = {};  // the entry's own fields except lambda
  bool center = true;          // an intercept
  feature::Precision precision =
      feature::Precision::f32;  // of the features; statistics are always double
  std::shared_ptr<const solver::Coupling> coupling = nullptr;  // of outputs; null: independent
  const feature::FeatureMap* map = nullptr;  // for models of its derivatives; only for the fit
  std::shared_ptr<const Predictor> given = nullptr;  // in place of learnt ones; likewise

  solver::RidgeProblem problem() const;
};

// All options of a fit, for entry points and files. Functions that do the work take single parts.

/// What a model keeps of its rows: nothing, or their sums, by which it is updated (update.h).
enum class Keep { nothing, sums };

struct FitOptions {
  EstimatorOptions estimate = {};
  PreparationOptions prepare = {};
  TargetOptions coding = {};
  Outputs outputs = {};
  SelectionOptions select = {};
  Keep keep = Keep::nothing;
};
/// The keys of every fitted model but its entry's own.
OptionTable<FitOptions> fit_options();

}  // namespace mercer::model
