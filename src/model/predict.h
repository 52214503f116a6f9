// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Predictions of a model, and their uncertainty.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"

namespace mercer::model {

struct EstimatorFit;

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

// Predictive uncertainty of a Gaussian process. Inputs are not clipped to the training range, which
// would understate it, but to 10,000 times that range: beyond, features are rounding errors.
// Errors: UNSUPPORTED for a model without a posterior, DIMENSION_MISMATCH.

/// The distribution of f, or of a new target of mean weight, which adds its noise.
enum class Spread { latent, predictive };

/// Outputs of a posterior, or processes of classes (solver/latent_processes.h); 0: the model has
/// neither.
int64_t latent_count(const Model& model);
/// out: n x latent_count: E f, without calibration of probabilities.
void latent_mean(const Model& model, const Rows& X, Context& context, MatrixView<double> out);
/// out: n x latent_count variances; predictive ones of a posterior alone.
void variance(const Model& model, const Rows& X, Spread of, Context& context,
              MatrixView<double> out);
/// Predictive variances; no rows for a model without a posterior.
Matrix<double> variances_of(const Model& model, const Rows& X, Context& context);
/// out: n x p p, Cov f at each row.
void covariance(const Model& model, const Rows& X, Context& context, MatrixView<double> out);
/// out: n x n p p, Cov(f(X_i), f(X_j)). O(n D + n^2) numbers.
void joint_covariance(const Model& model, const Rows& X, Context& context, MatrixView<double> out);
/// out: n x p levels, quantiles of new targets, those of an output side by side, about the mean of
/// predict. INVALID_ARGUMENT unless levels are between 0 and 1.
RangeViolations quantiles(const Model& model, const Rows& X, std::span<const double> levels,
                          Context& context, MatrixView<double> out,
                          std::optional<Extrapolation> extrapolation = {});
/// out: n x p count, draws of f from its posterior, the outputs of a draw side by side. Draw s is a
/// function that depends on seed and s alone, not on rows or count. Of the map exact it is drawn at
/// the rows X together: what it is at the first of them does not depend on those that follow.
void samples(const Model& model, const Rows& X, uint64_t seed, int64_t count, Context& context,
             MatrixView<double> out);
/// Says that the posterior variance far from all rows is too small a share of the prior's.
std::vector<std::string> far_warnings(const Model& model, Context& context);

}  // namespace mercer::model
