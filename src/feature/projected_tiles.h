// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From projections to feature columns: tiles of rows go through the row prologue, blocks of columns
// through the projections and, while in cache, the epilogue; the slice asked for goes into Z.
#pragma once

#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <type_traits>
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

/// Rows with a number beyond `most` in size, or NaN, are told of as they are computed.
template <class T>
struct RowWatch {
  T most;
  std::atomic<bool> found{false};
};

/// Whether some |x[k]| > most, or is NaN, read as integers, whose order is the same.
template <class T>
bool goes_beyond(const T* x, int64_t count, T most) noexcept {
  using Integer = std::conditional_t<sizeof(T) == sizeof(float), int32_t, int64_t>;
  const auto limit = std::bit_cast<Integer>(most);
  Integer sign = 0;
  for (int64_t k = 0; k < count; ++k)
    sign |= limit - (std::bit_cast<Integer>(x[k]) & std::numeric_limits<Integer>::max());
  return sign < 0;
}
/// The same of rows [i0, i1).
template <class T>
bool goes_beyond(MatrixView<const T> X, int64_t i0, int64_t i1, T most) noexcept {
  if (X.ld == X.cols) return goes_beyond(X.row(i0), (i1 - i0) * X.cols, most);
  for (int64_t i = i0; i < i1; ++i)
    if (goes_beyond(X.row(i), X.cols, most)) return true;
  return false;
}
template <class T>
bool goes_beyond(const CsrView<T>& X, int64_t i0, int64_t i1, T most) noexcept {
  return goes_beyond(X.values + X.begin(i0), X.begin(i1) - X.begin(i0), most);
}

/// Columns [c.begin, c.end) of the map for the rows of X.
template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z,
                     RowWatch<T>* watch = nullptr);

/// The same for sparse rows: every projection reads them, and the prologue, if any, keeps zeros.
template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z,
                     RowWatch<T>* watch = nullptr);

}  // namespace mercer::feature
