// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The frequencies omega_j of operator-valued maps as numbers, which B(omega_j) needs: drawn by any
// projection.
#pragma once

#include <cstdint>
#include <memory>

#include "base/aligned.h"
#include "base/context.h"
#include "projection/projections.h"

namespace mercer::operators {

/// F x d, row j is omega_j. Cost: d rows of the projection. Errors: those of
/// ProjectionEntry::make.
Matrix<double> drawn_frequencies(const projection::ProjectionEntry& entry,
                                 const projection::ProjectionArguments& arguments,
                                 Context& context);

/// The law of density (||omega||^2/d) N(0, I): uniform direction, norm chi_{d+2}.
std::shared_ptr<const random::Law> bounded_law();
/// UNSUPPORTED, naming the projection, where its columns cannot have that law: the norm knows the
/// dimension, so blocks that pad d draw another, and its coordinates are dependent.
void require_bounded(const projection::ProjectionEntry& entry, int64_t d);

}  // namespace mercer::operators
