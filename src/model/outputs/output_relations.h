// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How outputs belong together, p x p numbers, from targets in units of their standard deviations,
// of which some are missing, or from a graph.
#pragma once

#include <span>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::model {

/// C, weighted means of products over the rows where both were observed (no weights: 1 each),
/// negative eigenvalues 0. An output that does not vary has 1 with itself, 0 with others; two that
/// never were observed together are uncorrelated.
Matrix<double> output_correlations(MatrixView<const double> scaled, std::span<const double> weights,
                                   Context& context);

/// S, mean squared distances, of the same pairs; 2 of what is uncorrelated.
Matrix<double> output_distances(MatrixView<const double> scaled, std::span<const double> weights,
                                Context& context);

/// The Laplacian of a graph of p outputs over its mean degree, W symmetric, >= 0, the diagonal not
/// read. Errors: DIMENSION_MISMATCH; INVALID_ARGUMENT naming a weight, or for no edges.
Matrix<double> mean_laplacian(MatrixView<const double> W, int64_t p, Context& context);

/// Negative eigenvalues, which what was observed pair by pair may have, become 0.
void make_semidefinite(MatrixView<double> A, Context& context);

}  // namespace mercer::model
