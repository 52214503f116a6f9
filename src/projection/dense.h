// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dense projections: W is given column by column, and packed group by group when first used.
#pragma once

#include <cstdint>
#include <memory>

#include "projection/projection.h"
#include "projection/projections.h"

namespace mercer::projection {

/// Where columns of W come from: i.i.d. draws from a distribution, or the caller's numbers.
class FrequencySource {
 public:
  virtual ~FrequencySource() = default;
  /// Row j - j0 of `omega` becomes omega_j, in radians per unit of input, for j in [j0, j0 +
  /// omega.rows). Calling thread only, one call at a time; may use the context's threads. A
  /// frequency depends on j alone, not on the range.
  virtual void fill(int64_t j0, Context& context, MatrixView<double> omega) const = 0;
};

/// Columns i.i.d. from arguments.law, over the lengthscale: column j is a function of seed and j.
std::unique_ptr<const FrequencySource> drawn_columns(const ProjectionArguments& arguments);

/// P = XW in `unit`, W of F columns from `source`; d*F multiply-adds per row, nnz*F for sparse
/// rows. Memory: d*F numbers per precision in use.
std::unique_ptr<Projection> make_dense(int64_t d, int64_t F,
                                       std::shared_ptr<const FrequencySource> source, Unit unit);

/// The maker of an entry: the same with a Source made from the arguments.
template <class Source>
std::unique_ptr<Projection> make_dense_of(const ProjectionArguments& arguments) {
  return make_dense(arguments.d, arguments.F, std::make_unique<Source>(arguments), arguments.unit);
}

}  // namespace mercer::projection
