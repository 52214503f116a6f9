// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products with the features of rows, formed block by block and never as a whole.
#pragma once

#include "feature/feature_map.h"
#include "feature/field_kind.h"

namespace mercer::feature {

/// out row i: for each column theta_k of theta (D x m) the numbers of `kind` of the field f_k(x) =
/// Phi(x)'theta_k at X_i, one after the other; of the precision of X. A row of out depends on its
/// row of X alone, bit for bit, whatever the split of rows and the number of threads; NaN stays in
/// its row. Errors: DIMENSION_MISMATCH; UNSUPPORTED for complex maps, for kinds other than value
/// unless features are cosines and sines of frequencies() side by side, and where field_numbers
/// says so; OUT_OF_MEMORY, CANCELLED.
void multiply(const FeatureMap& map, const Rows& X, MatrixView<const double> theta, FieldKind kind,
              Context& context, const ResultView& out);
/// theta (D x m) = sum_i Phi(X_i) Y_i, a row of Y holding m vectors of p numbers one after the
/// other; Y dense, of the precision of X. The number of threads changes no bit. Cost and errors
/// as of multiply.
void adjoint(const FeatureMap& map, const Rows& X, const Rows& Y, Context& context,
             MatrixView<double> theta);

// The same for a real map of one output; X has its inputs.

/// out = Z W, W D x c. With B (w x q), every q numbers of a row of Z W are multiplied by B' (the
/// operators of Brault et al. 2016, appendix D).
void multiply_features(const FeatureMap& map, const Rows& X, MatrixView<const double> W,
                       MatrixView<const double> B, Context& context, const ResultView& out);

/// sums (c x D) += Y'Z, Y n x c. With B (p x q), every p numbers of a row of Y are multiplied by B'
/// first. UNSUPPORTED for a Y that is not dense or not of the precision of X.
void add_feature_sums(const FeatureMap& map, const Rows& X, const Rows& Y,
                      MatrixView<const double> B, Context& context, MatrixView<double> sums);

}  // namespace mercer::feature
