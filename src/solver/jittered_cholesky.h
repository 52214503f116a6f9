// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cholesky that survives a semidefinite matrix. Private to solver.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::solver {

/// A + jitter I = L L' in the lower triangle of A (only it is read). jitter is 0 if that works,
/// else 1e-15, 1e-14, ... 1e-9 times the mean diagonal; then NOT_POSITIVE_DEFINITE naming the
/// pivot. The upper triangle is used as scratch.
void jittered_cholesky(MatrixView<double> A, Context& context);

}  // namespace mercer::solver
