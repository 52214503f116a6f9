// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Quantities derived from a learnt vector field: divergence, curl, potential, stream function.
#pragma once

#include "feature/feature_products.h"
#include "model/model.h"

namespace mercer::model {

/// feature::field_numbers of the model's field; UNSUPPORTED for a kernel that is not of vector
/// fields, or for transformed targets.
int64_t field_numbers(const Model& model, feature::FieldKind kind);

/// out: n x field_numbers, in units of the original inputs. The field's constant part contributes a
/// linear term, 0 at the origin, to the stream function (divergence_free) or the potential (other
/// kernels). Nothing is clipped. NaN stays in its row.
void predict_field(const Model& model, const Rows& X, feature::FieldKind kind, Context& context,
                   MatrixView<double> out);

}  // namespace mercer::model
