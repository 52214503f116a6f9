// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernel error that closed-form variances predict for a map.
#pragma once

#include "feature/feature_map.h"

namespace mercer::statistic {

/// sqrt(E ||K^ - K||_F^2) / ||K||_F over all n^2 pairs of rows of X, from the map's variance and
/// bias. Errors: UNSUPPORTED (a map without a closed form), INVALID_ARGUMENT (a Gram matrix of
/// zeros).
double predicted_error(const feature::FeatureMap& map, MatrixView<const double> X,
                       Context& context);

}  // namespace mercer::statistic
