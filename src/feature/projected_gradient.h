// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From cotangents of features to cotangents of rows: tiles of rows through the projection, the
// epilogue's derivative and the projection's transpose, block by block of columns.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/column_numbers.h"
#include "feature/projected_tiles.h"

namespace mercer::feature {

/// out = the pull-back of G through a map of one projection, without prologue, whose epilogue has a
/// gradient; shapes as for Derivatives::pull_back.
template <class T>
void pull_back_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                         MatrixView<const T> X, MatrixView<const T> G, Context& context,
                         MatrixView<T> out);

}  // namespace mercer::feature
