// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Haar-distributed orthogonal matrices: the distribution of Q in a Gaussian matrix's Householder QR
// with the signs of R's diagonal absorbed (Mezzadri 2007), by drawing the reflections themselves
// (Stewart 1980). No LAPACK: its last bits depend on the BLAS behind it.
#pragma once

#include "base/context.h"
#include "base/views.h"
#include "random/stream.h"

namespace mercer::projection {

/// Fills the square Q from the stream's normals: Q'Q = I to rounding. 4/3 d^3 operations, d =
/// Q.rows, and 32 d numbers of memory; runs on the context's threads and polls it; the bytes do not
/// depend on threads. Errors: INVALID_ARGUMENT (not square), OUT_OF_MEMORY (memory cap), CANCELLED.
void fill_haar_orthogonal(const random::Stream& stream, Context& context, MatrixView<double> Q);

}  // namespace mercer::projection
