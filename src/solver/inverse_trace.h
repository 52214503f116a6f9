// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tr A^{-1} from a Cholesky factor: exact for small A, else by random probes (Hutchinson 1990).
#pragma once

#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

/// The sum of |L^{-1}e_j|^2 up to D = 256; above, the mean of v'A^{-1}v = |L^{-1}v|^2 over 16 fixed
/// sign vectors v: unbiased, with variance 2/16 of the sum of squares off the diagonal of A^{-1}.
/// L: the lower triangle of A = L L'. O(16 D^2).
double inverse_trace(MatrixView<const double> L, Context& context);
/// |L^{-1}|^2 itself: where what is left of a difference counts. D^3/3.
double exact_inverse_trace(MatrixView<const double> L, Context& context);

}  // namespace mercer::solver
