// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Relations of outputs (p x p), from targets in units of their standard deviations, of which some
// may be missing, or from a graph.
#pragma once

#include <span>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::model {

/// C: weighted means of products over rows where both targets are observed (no weights: 1 each),
/// with negative eigenvalues set to 0. A constant output, and two outputs never observed together,
/// are uncorrelated.
Matrix<double> output_correlations(MatrixView<const double> scaled, std::span<const double> weights,
                                   Context& context);

/// S: mean squared distances over the same rows; 2 for uncorrelated outputs.
Matrix<double> output_distances(MatrixView<const double> scaled, std::span<const double> weights,
                                Context& context);

/// The Laplacian of a graph of p outputs divided by its mean degree. W is symmetric and >= 0; its
/// diagonal is not read. Errors: DIMENSION_MISMATCH; INVALID_ARGUMENT naming a weight, or for no
/// edges.
Matrix<double> mean_laplacian(MatrixView<const double> W, int64_t p, Context& context);

/// Sets negative eigenvalues, which pairwise estimates may have, to 0.
void make_semidefinite(MatrixView<double> A, Context& context);

}  // namespace mercer::model
