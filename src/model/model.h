// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fitted model: preparation of inputs, a feature map, and a predictor on its features.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "model/estimator/estimator_options.h"
#include "model/estimator/predictor.h"
#include "model/prepare/preparation.h"
#include "model/report.h"
#include "model/select/calibration.h"
#include "solver/normal_density.h"
#include "solver/posterior.h"

namespace mercer::model {

struct Local;
struct KeptSums;

struct Model {
  std::shared_ptr<const feature::FeatureMap> map;
  Preparation preparation;
  Ranges ranges;                               // of the training rows
  std::shared_ptr<const Predictor> predictor;  // one output per class for classification
  FitOptions fit;                              // options; lambda is the chosen one
  int64_t rows = 0;                            // rows it was fitted on
  std::vector<PathPoint> path;
  FitReport report;
  std::string metadata;  // the caller's text, kept in files (the command stores names in it)
  std::shared_ptr<const solver::Posterior> posterior;  // null: not asked for
  std::shared_ptr<const Local> local;         // fits about several centres (local.h); null: one
  std::shared_ptr<const Predictor> preimage;  // prepared inputs from scores; null: not asked for
  Calibration calibration;                    // of class scores; empty: no probabilities
  /// Of prepared inputs: its logarithm is part of the values; null: there is none.
  std::shared_ptr<const solver::NormalDensity> base;
  std::shared_ptr<const KeptSums> sums;  // of all rows (update.h); null: not asked for

  int64_t inputs() const { return preparation.inputs_of(map->inputs()); }
  int64_t outputs() const { return predictor->outputs(); }  // scores per row
};

}  // namespace mercer::model
