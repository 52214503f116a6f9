// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Haar-distributed orthogonal matrices: Householder QR of a Gaussian matrix with the signs of R's diagonal absorbed
// (Mezzadri 2007). Own QR, because LAPACK's bytes depend on the BLAS behind it.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "random/stream.h"

namespace mercer::random {

/// Fills the square Q from the stream's normals: Q'Q = I to rounding. O(d^3), d = Q.rows; polls `context`.
void fill_haar_orthogonal(const Stream& stream, Context& context, MatrixView<double> Q);

}  // namespace mercer::random
