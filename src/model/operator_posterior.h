// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Posterior covariances of fields and functions of several outputs that squares learn: which way to
// them (solver/operator_posterior.h).
#pragma once

#include "operator/operator_map.h"

namespace mercer::model {

/// Row i of out (n x p p): Cov f at row i of `at`, given targets at X observed where Y (N x p; no
/// rows: everywhere) is not NaN, of noise variance `noise` > 0, with the prior covariance
/// noise/(N lambda) K~ of f, lambda > 0. By stein.h where the map is decomposable and nothing is
/// missing: O(N D^2 + D^3); else by a factor of r x r numbers up to r = kMostFactored, where they
/// have room: O(N p r^2 + r^3), then p r^2 a row; else by conjugate gradients, p systems a row.
inline constexpr int64_t kMostFactored = 8192;
void posterior_covariance(const operators::OperatorMap& map, MatrixView<const double> X,
                          MatrixView<const double> Y, double lambda, double noise,
                          MatrixView<const double> at, Context& context, MatrixView<double> out);

}  // namespace mercer::model
