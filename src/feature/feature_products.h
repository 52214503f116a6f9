// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of the features Z of rows, block by block: Z is never formed as a whole. The map is real
// and of one output; X has its inputs.
#pragma once

#include "feature/feature_map.h"

namespace mercer::feature {

/// out = Z W, W D x c; with B (w x q) every q numbers of a row of it times B' (the operators of
/// Brault et al. 2016, appendix D).
void multiply_features(const FeatureMap& map, const Rows& X, MatrixView<const double> W,
                       MatrixView<const double> B, Context& context, const ResultView& out);

/// sums (c x D) += Y'Z, Y n x c; with B (p x q) every p numbers of a row of Y go through B' first.
/// UNSUPPORTED for a Y that is not dense or not of the precision of X.
void add_feature_sums(const FeatureMap& map, const Rows& X, const Rows& Y,
                      MatrixView<const double> B, Context& context, MatrixView<double> sums);

/// S += Z'Z, the lower triangle.
void add_feature_gram(const FeatureMap& map, const Rows& X, Context& context, MatrixView<double> S);

}  // namespace mercer::feature
