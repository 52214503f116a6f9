// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tr A^{-1} from a Cholesky factor: exact of small ones, else by random probes (Hutchinson 1990).
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::solver {

/// Up to D = 256 the sum of |L^{-1}e_j|^2; above the mean of v'A^{-1}v = |L^{-1}v|^2 over 16 sign
/// vectors v, always the same ones. Unbiased; its variance is 2/16 of the sum of squares off the
/// diagonal of A^{-1}. L: the lower triangle of A = L L'. O(16 D^2).
double inverse_trace(MatrixView<const double> L, Context& context);

}  // namespace mercer::solver
