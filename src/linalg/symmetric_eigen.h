// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Symmetric eigendecomposition within a stated memory.
#pragma once

#include <span>

#include "base/aligned.h"
#include "base/matrix_view.h"

namespace mercer::linalg {

/// A = V diag(values) V', values ascending. Reads the lower triangle, destroys A. Row i of the result V' is eigenvector i.
/// Memory: 8 D^2 bytes for V' plus O(D). NOT_CONVERGED names LAPACK's info.
Matrix<double> symmetric_eigen(MatrixView<double> A, std::span<double> values);

}  // namespace mercer::linalg
