// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What features and their slopes are multiplied by to become derivatives: monomials of the
// frequencies, one row of them for each block of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/derivative.h"
#include "projection/projection.h"
#include "transform/epilogue_gradient.h"

namespace mercer::feature {

/// Block b of the derivative is, column by column, table row b times the slopes if takes_slope[b],
/// else times the features.
template <class T>
struct FrequencyWeights {
  Matrix<T> table;  // a number for each number of a part of a row, padded to whole blocks
  std::vector<uint8_t> takes_slope;
};

/// `reals`: numbers of a feature. Memory is charged to the context. Cost: the projection's
/// transpose of one unit vector for each column: as much as d rows of a dense projection of d =
/// shape.columns inputs, F columns each.
template <class T>
FrequencyWeights<T> frequency_weights(const projection::Projection& projection,
                                      const transform::EpilogueGradient& gradient, int reals,
                                      const Derivative& what, Context& context);

}  // namespace mercer::feature
