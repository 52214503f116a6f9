// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How far an approximate Gram matrix is from the exact one (SPEC section 11).
#pragma once

#include "base/matrix_view.h"

namespace mercer::statistic {

struct KernelError {
  double relative_frobenius;  // ||approximate - exact||_F / ||exact||_F
  double largest;             // max |approximate - exact|
};

/// NaN in either matrix gives NaN. Errors: DIMENSION_MISMATCH (shapes differ), INVALID_ARGUMENT
/// (empty, or exact is zero).
KernelError kernel_error(MatrixView<const double> approximate, MatrixView<const double> exact);

}  // namespace mercer::statistic
