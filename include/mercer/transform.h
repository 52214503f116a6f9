/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_TRANSFORM_H
#define MERCER_TRANSFORM_H

/* Fast transforms that stand on their own. */

#include "mercer/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Walsh-Hadamard transform of every row, in place and unnormalised: X(i, :) := H X(i, :), H(j, k)
 * = (-1)^popcount(j & k) (Sylvester's order), so that applying it twice multiplies by n.
 *
 *  X: rows x n, row-major, ldx >= n; n is a power of two >= 1, rows >= 0. Rows are independent;
 * columns beyond n are left alone. The result has the same bits on every machine, for any number of
 * threads. context may be NULL. Errors: MERCER_INVALID_ARGUMENT (NULL, negative rows, n no power of
 * two, short leading dimension), MERCER_CANCELLED (rows are then transformed or not, each as a
 * whole). Thread-safe on different X. Cost: n log2 n additions a row. Since 0.1. */
MERCER_API mercer_status mercer_fwht_f32(int64_t rows, int64_t n, float* X, int64_t ldx,
                                         mercer_context* context);
MERCER_API mercer_status mercer_fwht_f64(int64_t rows, int64_t n, double* X, int64_t ldx,
                                         mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
