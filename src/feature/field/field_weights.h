// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives and antiderivatives of a learnt field f(x) = sum_j (a_j cos omega_j'x + b_j sin
// omega_j'x), a_j and b_j in R^p: all are linear in cosines and sines again, so that only the
// weights change.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"
#include "feature/feature_map.h"
#include "feature/field_kind.h"

namespace mercer::feature {

/// Turns the weights of values into those of `kind`, which is not value. Rows c = j (cosine) and F
/// + j (sine) of `values` hold a_j and b_j (m fields of p numbers); `out` is alike, with
/// field_numbers for each field. W holds omega_j, F x d.
void field_weights(FieldKind kind, int64_t p, MatrixView<const double> W,
                   MatrixView<const double> values, MatrixView<double> out);

/// The same with the frequencies of a map, D rows. UNSUPPORTED where its features are not cosines
/// and sines side by side.
Matrix<double> field_weights_of(const FeatureMap& map, FieldKind kind, int64_t p,
                                MatrixView<const double> values, Context& context);

}  // namespace mercer::feature
