// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear scores of a source, row after row.
#pragma once

#include <functional>
#include <span>

#include "solver/block_source.h"
#include "solver/ridge.h"

namespace mercer::model {

/// A row, its coded target, its weight and its scores, one set of coefficients after the other.
using ScoredRow =
    std::function<void(int64_t row, const double* code, double weight, const double* scores)>;

/// One pass over the rows for all sets of coefficients: features are computed once. weights must
/// not be empty.
void for_each_scored(const solver::BlockSource& rows, std::span<const solver::Weights> weights,
                     Context& context, const ScoredRow& body);

}  // namespace mercer::model
