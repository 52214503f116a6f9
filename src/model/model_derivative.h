// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of a model's scores in its original inputs, and the quantities of fields made of
// them.
#pragma once

#include "base/context.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_operator.h"
#include "model/model.h"

namespace mercer::model {

// Derivatives of a model's scores with respect to its original inputs.

/// Whether there are any of this kind: the model is linear in its features and these have them. Of
/// map exact of several outputs the gradient alone, their Jacobian.
bool has_derivatives(const Model& model, feature::Derivative::Kind kind);

/// out(i, b m + o) = partial derivative b of score o of m at X_i (rows x what.blocks(d) m). Scores
/// are not clipped or limited, and are of transformed targets if these were; a filled NaN has
/// derivative 0. Kind::gradient serves every preparation, the other kinds scaled inputs alone. Cost
/// of a gradient: m pull-backs; else per block a projection and D m. Errors: DIMENSION_MISMATCH;
/// UNSUPPORTED (a model that is not linear in its features; a map without derivatives; inputs
/// filled, transformed or of unit rows, except for the gradient), OUT_OF_MEMORY, CANCELLED.
void differentiate(const Model& model, const feature::Derivative& what, MatrixView<const double> X,
                   Context& context, MatrixView<double> out);

/// Posterior variances of the gradient, in its order: of a Gaussian process, O(n d m D^2). On map
/// exact UNSUPPORTED of a kernel without second derivatives.
void gradient_variance(const Model& model, MatrixView<const double> X, Context& context,
                       MatrixView<double> out);

// Quantities derived from a learnt vector field: divergence, curl, potential, stream function.

/// The norm in the kernel's space of each output's scores less their intercept, as a function of
/// prepared rows; of a kernel of several outputs one, in its own space. Of features it is the
/// weights', of map exact (a'K a)^{1/2}: n^2 kernel values. UNSUPPORTED for a model that is not
/// linear in its features, or has several centres.
std::vector<double> norms(const Model& model, Context& context);

/// feature::field_numbers of the model's field; UNSUPPORTED for a kernel that is not of vector
/// fields, for transformed targets, and where feature::require_kernel_field says so.
int64_t field_numbers(const Model& model, feature::FieldKind kind);

/// out: n x field_numbers, in units of the original inputs. The field's constant part contributes a
/// linear term, 0 at the origin, to the stream function (divergence_free) or the potential (other
/// kernels). Nothing is clipped. NaN stays in its row.
void predict_field(const Model& model, const Rows& X, feature::FieldKind kind, Context& context,
                   MatrixView<double> out);

}  // namespace mercer::model
