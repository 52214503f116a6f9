// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Where the Gamma of a decomposable kernel comes from.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::model {

/// Gamma (p x p) = (1/n) sum_i (y_i - mean)(y_i - mean)', Y n x p, n >= 1. Errors:
/// INVALID_ARGUMENT naming an entry that is not finite; CANCELLED.
void output_covariance(MatrixView<const double> Y, Context& context, MatrixView<double> gamma);

/// The largest weight. Errors: INVALID_ARGUMENT naming a weight that is not that of a graph (W
/// symmetric, >= 0, the diagonal not read), or for one without edges.
double check_graph(MatrixView<const double> W);

/// Gamma = the pseudo-inverse of the Laplacian diag(W 1) - W of a graph on p outputs, W symmetric
/// with weights >= 0 (the diagonal is not read): eigenvalues up to 1e-12 of the largest count as 0.
/// The norm of k Gamma then penalises differences along the edges (Evgeniou, Micchelli, Pontil
/// 2005). Errors: those of check_graph.
void laplacian_pseudo_inverse(MatrixView<const double> W, Context& context,
                              MatrixView<double> gamma);

/// Gamma(k, l) = exp(-scale ||y^k - y^l||^2), y^k column k of Y (n x p), scale > 0. Errors: as of
/// output_covariance.
void task_similarity(MatrixView<const double> Y, double scale, Context& context,
                     MatrixView<double> gamma);

/// The (T - 1) x T simplex code of T >= 2 classes: columns of norm 1 with inner products
/// -1/(T - 1) (Mroueh, Poggio, Rosasco, Slotine 2012).
void simplex_code(MatrixView<double> code);

}  // namespace mercer::model
