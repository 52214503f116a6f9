// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Proposition 33 of Brault, Heinonen, d'Alche-Buc 2016 for a map and pairs of rows.
#pragma once

#include "feature/field/field_map.h"
#include "statistic/operator_bound.h"

namespace mercer::statistic {

/// Row i of out, p p numbers: the bound on the operator variance E (K~ - K)^2 at (X_i, Y_i); where
/// all A(omega) are one matrix, the variance itself. O(d^3) a row. Errors: those of
/// FeatureMap::variances.
void operator_variance_bound(const feature::FieldMap& map, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context, MatrixView<double> out);

}  // namespace mercer::statistic
