// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of a projected map in its inputs: values of partial derivatives, and the map's
// differential along a direction for each row.
#pragma once

#include "base/context.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/tiles.h"

namespace mercer::feature {

/// The derivative of the prologue; null: there is none, or it has none.
const transform::RowDerivative* row_derivative(const ProjectedParts& parts) noexcept;

/// For a map of one projection whose epilogue has a gradient, and its prologue, if any, a
/// derivative; shapes as for Derivatives::differentiate.
template <class T>
void differentiate_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                             const Derivative& what, MatrixView<const T> X, Context& context,
                             MatrixView<T> out);

/// The derivative along V; shapes as for Derivatives::push_forward.
template <class T>
void push_forward_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                            MatrixView<const T> X, MatrixView<const T> V, Context& context,
                            MatrixView<T> out);

// From cotangents of features to cotangents of rows: tiles of rows through the projection, the
// epilogue's derivative and the projection's transpose, block by block of columns.

/// out = the pull-back of G through a map of one projection, without prologue, whose epilogue has a
/// gradient; shapes as for Derivatives::pull_back.
template <class T>
void pull_back_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                         MatrixView<const T> X, MatrixView<const T> G, Context& context,
                         MatrixView<T> out);

}  // namespace mercer::feature
