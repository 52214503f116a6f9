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
struct EstimatorFit;
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

/// What an estimator has learnt becomes the model's, and what it reports the report's. Lambda, its
/// path and warnings stay the caller's.
void take_fit(EstimatorFit& learned, Model& model, FitReport& report);

/// What inputs are clipped to: the ranges of the training rows, of few rows of a regression widened
/// (rows/clipping.h) where the kernel takes all numbers.
std::vector<Range> clip_ranges(const Model& model);

/// The limits of scores where predictions are clipped; for log means the logs of the limits of means.
std::vector<Limits> score_limits(const Model& model);

/// The coefficients of a model that is linear in the features; UNSUPPORTED for others.
const solver::Weights& linear_weights(const Model& model);

/// scores: n x outputs(): predictions, or one score per class. `extrapolation` (default: the
/// model's) says whether inputs outside the training range are clipped, left or refused. With
/// clipping, predictions of a regression are limited to the targets' range widened by half of it on
/// either side (for loss = "poisson", to its logarithm). A model without ranges clips nothing and
/// refuses to be asked for it. Without clipping, inputs outside the kernel's domain are refused,
/// naming row and column.
RangeViolations predict(const Model& model, const Rows& X, Context& context,
                        MatrixView<double> scores, std::optional<Extrapolation> extrapolation = {});

/// out: n x inputs(), rows reconstructed from the scores of X, in the inputs' units. UNSUPPORTED
/// for a model without pre-images.
RangeViolations preimages(const Model& model, const Rows& X, Context& context,
                          MatrixView<double> out, std::optional<Extrapolation> extrapolation = {});

/// Class of the largest score (the lowest on a tie); classification only. Refuses NaN or Inf in X
/// and NaN scores, naming the row.
RangeViolations classify(const Model& model, const Rows& X, Context& context,
                         std::span<int32_t> classes,
                         std::optional<Extrapolation> extrapolation = {});

}  // namespace mercer::model
