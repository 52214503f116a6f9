// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The mean squared error of sketches of a power series, degree by degree, over the pairs of a sample
// of rows (SPEC section 5).
#pragma once

#include <cstdint>
#include <vector>

#include "base/context.h"
#include "base/matrix_view.h"
#include "kernel/kernel.h"
#include "projection/sketch_kind.h"

namespace mercer::moment {

/// Each degree of sum_n a_n (x'y)^n has a sketch of its own, of this kind.
struct SeriesSketch {
  const projection::SketchKind& kind;  // independent, or in blocks
  projection::SketchField field;
  int64_t padded;  // columns of a block
};

/// Means over the pairs x_i, x_j, i != j, with the radial factors of the series.
struct SeriesError {
  /// [n - 1]: of a_n times one column of the sketch of degree n the variance, and the covariance of
  /// two columns of one block. A complex column that is laid out as two real ones counts as one.
  std::vector<double> variance;
  std::vector<double> covariance;
  /// [p]: the square of what the series loses after degree p.
  std::vector<double> bias;
};

/// Degrees 1 to `most`. X: rows over the lengthscale, at least two. Cost: m^2 d by BLAS, then m^2/2
/// pairs of a few operations for each degree; memory O(m) for each row of a block. Errors:
/// INVALID_ARGUMENT where a mean is not finite, OUT_OF_MEMORY, CANCELLED.
SeriesError series_error(const kernel::PowerSeries& series, const SeriesSketch& sketch,
                         int64_t most, MatrixView<const double> X, Context& context);

}  // namespace mercer::moment
