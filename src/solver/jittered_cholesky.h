// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cholesky factorisation that survives a semidefinite matrix. Private to solver.
#pragma once

#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

/// A + jitter I = L L' in the lower triangle of A; the upper one is scratch. jitter is the first of
/// 0, 1e-15, 1e-14, ... 1e-9 times the mean diagonal that works; else NOT_POSITIVE_DEFINITE naming
/// the pivot.
void jittered_cholesky(MatrixView<double> A, Context& context);

}  // namespace mercer::solver
