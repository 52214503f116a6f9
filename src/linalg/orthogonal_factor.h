// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The triangular factor of an orthogonal factorisation.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::linalg {

/// Replaces A (r x D, r <= D) by R, upper trapezoidal: R(j, l) = 0 for l < j and R'R = A'A, up to
/// rounding of the norm of A. 2 r^2 D operations. Errors: OUT_OF_MEMORY, UNSUPPORTED (32 bits).
void upper_trapezoid(MatrixView<double> A, Context& context);

}  // namespace mercer::linalg
