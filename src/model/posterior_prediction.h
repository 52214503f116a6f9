// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How sure a Gaussian process is of its predictions, at inputs as they are: clipped ones would be
// surer than the rows allow. Inputs farther than 10,000 times the training range are taken there,
// since features of larger ones are those of rounding. Errors: UNSUPPORTED for a model without a
// posterior, DIMENSION_MISMATCH.
#pragma once

#include <cstdint>
#include <span>

#include "model/model.h"

namespace mercer::model {

/// Of f, or of a new target of the mean weight, whose noise is added.
enum class Spread { latent, predictive };

/// out: n x p variances.
void variance(const Model& model, const Rows& X, Spread of, Context& context,
              MatrixView<double> out);
/// The predictive ones; no rows where the model has no posterior.
Matrix<double> variances_of(const Model& model, const Rows& X, Context& context);
/// out: n x p p, Cov f at each row.
void covariance(const Model& model, const Rows& X, Context& context, MatrixView<double> out);
/// out: n x n p p, Cov(f(X_i), f(X_j)). O(n D + n^2) numbers.
void joint_covariance(const Model& model, const Rows& X, Context& context, MatrixView<double> out);
/// out: n x p levels, quantiles of new targets, those of an output side by side. levels between 0
/// and 1, else INVALID_ARGUMENT. The mean is that of predict.
Outside quantiles(const Model& model, const Rows& X, std::span<const double> levels,
                  Context& context, MatrixView<double> out,
                  std::optional<Extrapolation> extrapolation = {});
/// out: n x p count, draws of f from its posterior, the outputs of a draw side by side. Draw s is
/// one function, whatever the rows and the count: it depends on seed and s alone.
void samples(const Model& model, const Rows& X, uint64_t seed, int64_t count, Context& context,
             MatrixView<double> out);
/// The share of the prior's variance that is left far from all rows, which of the kernel itself is
/// 1: few features are pinned down everywhere by many rows. At 100 drawn places; NaN of a kernel
/// that does not fall off with distance.
double share_far_away(const Model& model, Context& context);

}  // namespace mercer::model
