// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is said of a learnt field beside its values.
#pragma once

#include "feature/field_kind.h"
#include "model/model.h"

namespace mercer::model {

/// feature::field_numbers of the model's field; UNSUPPORTED for a model whose kernel is not one of
/// fields, or whose targets were transformed.
int64_t field_numbers(const Model& model, feature::FieldKind kind);

/// out: n x that many, in units of the inputs as they are given. Of the stream function of
/// divergence_free, and the potential of any other kernel, the constant part of the field, which
/// neither divergence nor curl sees, is a part that grows with x and is 0 at the origin. Nothing is
/// clipped. NaN stays in its row.
void predict_field(const Model& model, const Rows& X, feature::FieldKind kind, Context& context,
                   MatrixView<double> out);

}  // namespace mercer::model
