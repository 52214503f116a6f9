// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of powers of the modulus of two projections, z_j = scale (P_0j^2 + P_1j^2)^half.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "feature/derivative_calls.h"
#include "projection/projection.h"

namespace mercer::feature {

struct ModulusParts {
  const projection::Projection& re;
  const projection::Projection& im;
  int64_t half;
  double scale;
};

/// As in Derivatives.
MERCER_DERIVATIVES(ModulusParts)

}  // namespace mercer::feature
