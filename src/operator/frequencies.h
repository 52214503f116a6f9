// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The frequencies omega_j of operator-valued maps as numbers, which B(omega_j) needs: drawn by any
// projection.
#pragma once

#include "base/aligned.h"
#include "base/context.h"
#include "base/parameters.h"
#include "kernel/kernel.h"
#include "projection/projections.h"

namespace mercer::operators {

struct Frequencies {
  Matrix<double> W;  // F x d, row j is omega_j
  const projection::ProjectionEntry* entry;
};

/// Those that canonical parameters with "inputs", "features", "seed" and the fields of
/// feature::projection_fields say: of the kernel's spectral law, or, `bounded`, of the law of
/// density proportional to ||omega||^2 times that of gaussian of one lengthscale: uniform
/// direction, norm chi_{d+2}/l. The same columns as of the map fourier. Cost: d rows of the
/// projection. Errors: INVALID_ARGUMENT for odd features; UNSUPPORTED for kernels without a
/// spectral law or that warp their inputs, and for projections that cannot have the law: the norm
/// of the bounded one knows the dimension, so blocks that pad d would draw another, and its
/// coordinates depend on each other.
Frequencies draw_frequencies(const Parameters& canonical, const kernel::Kernel& kernel,
                             bool bounded, Context& context);

}  // namespace mercer::operators
