// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The Walsh-Hadamard transform of every row of a matrix, in parallel.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::transform {

/// X(i, :) := H X(i, :); X.cols is a power of two. After cancellation every row is transformed or
/// untouched; bits do not depend on the number of threads.
void fwht_rows(MatrixView<float> X, Context& context);
void fwht_rows(MatrixView<double> X, Context& context);

}  // namespace mercer::transform
