// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Predictive uncertainty of a Gaussian process. Inputs are not clipped to the training range, which
// would understate it, but to 10,000 times that range: beyond, features are rounding errors.
// Errors: UNSUPPORTED for a model without a posterior, DIMENSION_MISMATCH.
#pragma once

#include <cstdint>
#include <span>

#include "model/model.h"

namespace mercer::model {

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
