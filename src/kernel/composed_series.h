// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Power series of sums and products of kernels.
#pragma once

#include <memory>

#include "kernel/kernel.h"

namespace mercer::kernel {

/// The power series of a composed kernel in unscaled rows. Null if a part has none or has a
/// lengthscale per input, if summands have different radial factors, or if it would take a degree
/// above 1,024, more than 1,024 exponentials, or numbers that are not finite.
std::unique_ptr<const PowerSeries> composed_series(const Composition& composition, double variance);

}  // namespace mercer::kernel
