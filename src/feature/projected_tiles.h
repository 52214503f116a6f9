// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From projections to feature columns: tiles of rows go through the row prologue, blocks of columns
// through the projections and, while in cache, the epilogue; the slice asked for goes into Z.
#pragma once

#include <memory>
#include <vector>

#include "base/context.h"
#include "base/csr_view.h"
#include "base/matrix_view.h"
#include "feature/column_numbers.h"
#include "feature/feature_map.h"
#include "projection/projection.h"
#include "transform/epilogue.h"
#include "transform/row_prologue.h"

namespace mercer::feature {

/// The parts of a projected map. The bits of a row of Z depend on its row of X alone.
struct ProjectedParts {
  /// As many as the epilogue has factors, all from d inputs to F columns and of one block shape.
  std::vector<std::shared_ptr<const projection::Projection>> projections;
  std::shared_ptr<const transform::Epilogue> epilogue;
  ColumnLaw columns{1.0};  // scale and phase of the F columns
  /// Null: rows as they are. It also makes the row numbers that the epilogue reads.
  std::shared_ptr<const transform::RowPrologue> prologue = nullptr;
  /// Null, or what makes P of dense rows in place of the only projection, which differs by whole
  /// turns.
  std::shared_ptr<const projection::Projection> reduced = nullptr;

  /// What makes P of rows for a factor.
  const projection::Projection& of_rows(size_t factor) const noexcept {
    return reduced != nullptr ? *reduced : *projections[factor];
  }
};

/// Columns [c.begin, c.end) of the map for the rows of X.
template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z);

/// The same for sparse rows: every projection reads them, and the prologue, if any, keeps zeros.
template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z);

}  // namespace mercer::feature
