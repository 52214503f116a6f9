// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gamma, the p x p matrix of a decomposable kernel k Gamma, and a root of it.
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.h"
#include "base/matrix_view.h"

namespace mercer::kernel {

/// The p with p p numbers. INVALID_ARGUMENT if there is none.
int64_t outputs_of(std::span<const double> gamma);

/// Gamma = B B' + what was left out.
struct OutputRoot {
  Matrix<double> B;    // p x rank
  double dropped = 0;  // trace of what was left out, over the trace of Gamma
};

/// B by Cholesky factorisation with pivoting: the first column, and those whose pivots exceed
/// `cutoff` times the largest diagonal entry of Gamma. Errors: INVALID_ARGUMENT for a Gamma that is
/// not symmetric (to 1e-12 of its largest entry), has entries that are not finite, or is 0 or as
/// good as that (halves of its entries underflow to 0);
/// NOT_POSITIVE_DEFINITE for one that is not positive semi-definite.
OutputRoot output_root(MatrixView<const double> gamma, double cutoff);

}  // namespace mercer::kernel
