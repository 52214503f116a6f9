// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Where a search for the lengthscale starts.
#pragma once

#include <vector>

#include "model/model.h"

namespace mercer::model {

/// The median distance of up to 1000 of the rows, standardised; sqrt(2 d), the distance of
/// standardised rows, where most pairs of rows are equal.
template <class T>
double central_lengthscale(const Standardizer& standardizer, MatrixView<const T> X,
                           const std::vector<int64_t>& rows, uint64_t seed, Context& context);

}  // namespace mercer::model
