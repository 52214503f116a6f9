// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From a projection to feature columns: tiles of rows, blocks of frequencies, epilogue, and the
// slice of columns asked for.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/csr_view.h"
#include "base/matrix_view.h"
#include "feature/column_numbers.h"
#include "feature/feature_map.h"
#include "projection/projection.h"
#include "transform/epilogue.h"

namespace mercer::feature {

/// What each frequency becomes. A map with F frequencies has parts * F columns, part by part; each
/// column is `reals` numbers.
template <class T>
struct Finish {
  transform::Epilogue<T> epilogue;
  int parts;  // pair: 2 ([cos | sin])
  int reals;  // complex: 2 (interleaved)
  const ColumnNumbers<T>& columns;
  kernel::InputWarp warp;
};

/// Columns [c.begin, c.end) of the map for the rows of X.
void apply_tiles(const projection::Projection& projection, const Finish<float>& finish,
                 MatrixView<const float> X, Columns c, Context& context, MatrixView<float> Z);
void apply_tiles(const projection::Projection& projection, const Finish<double>& finish,
                 MatrixView<const double> X, Columns c, Context& context, MatrixView<double> Z);

/// The same for sparse rows; projection.sparse() is not null and there is no warp.
void apply_tiles(const projection::Projection& projection, const Finish<float>& finish,
                 const CsrView<float>& X, Columns c, Context& context, MatrixView<float> Z);
void apply_tiles(const projection::Projection& projection, const Finish<double>& finish,
                 const CsrView<double>& X, Columns c, Context& context, MatrixView<double> Z);

}  // namespace mercer::feature
