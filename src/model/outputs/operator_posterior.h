// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Posterior covariances of fields and functions of several outputs that squares learn: which way to
// them (solver/operator_posterior.h).
#pragma once

#include "feature/field/field_map.h"

namespace mercer::model {

/// A covariance noise/(rows lambda) K~ of f, and the variance of targets about it.
struct OperatorPrior {
  double lambda = 0;  // > 0
  int64_t rows = 0;   // N that a model of lambda was learnt from
  double noise = 0;   // > 0
};

/// Row i of out (n x p p): Cov f at row i of `at`, given targets at X observed where Y (as many
/// rows or none: everywhere) is not NaN. By stein.h where the map is decomposable and nothing is
/// missing: O(n D^2 + D^3) for n rows of X; else by a factor of r x r numbers up to r =
/// kMostFactored, where it has room: O(n p r^2 + r^3), then p r^2 a row; else by conjugate
/// gradients, p systems a row. Errors: UNSUPPORTED for lambda 0; INVALID_ARGUMENT for rows that are
/// not summable or outside the kernel's domain; those of solver/operator_posterior.h.
inline constexpr int64_t kMostFactored = 8192;
void posterior_covariance(const feature::FieldMap& map, MatrixView<const double> X,
                          MatrixView<const double> Y, const OperatorPrior& prior,
                          MatrixView<const double> at, Context& context, MatrixView<double> out);

}  // namespace mercer::model
