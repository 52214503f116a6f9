// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Factors that turn features and their slopes into derivatives: monomials of the frequencies, one
// row for each monomial sum of a derivative's terms.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/derivative_terms.h"
#include "projection/projection.h"
#include "transform/epilogue_gradient.h"

namespace mercer::feature {

/// Row m: monomials[m] of every frequency, times the factor of f^(|q|) over f or f', repeated for
/// each number of a part of a row of features and padded to whole blocks. `reals`: numbers of a
/// feature. Memory is charged to the context. Cost: the projection's transpose of one unit vector
/// for each column, as much as d rows of a dense projection of d = shape.columns inputs, F columns
/// each.
template <class T>
Matrix<T> frequency_weights(const projection::Projection& projection,
                            const transform::EpilogueGradient& gradient, int reals,
                            const std::vector<MonomialSum>& monomials, Context& context);

}  // namespace mercer::feature
