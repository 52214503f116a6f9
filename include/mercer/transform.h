/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_TRANSFORM_H
#define MERCER_TRANSFORM_H

/* Fast transforms that stand on their own. */

#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Walsh-Hadamard transform of every row, in place and unnormalised: X(i, :) := H X(i, :), H(j, k)
 * = (-1)^popcount(j & k) (Sylvester's order), so that applying it twice multiplies by its length.
 *
 *  X: any number of rows of a power of two columns, F32 or F64. Rows are independent; numbers between
 * rows are left alone. The result has the same bits on every machine, for any number of threads.
 * context may be NULL. Errors: MERCER_INVALID_ARGUMENT (columns no power of two, short leading
 * dimension, a complex matrix), MERCER_CANCELLED (rows are then transformed or not, each as a whole).
 * Thread-safe on different X. Cost: n log2 n additions a row of n. */
MERCER_API mercer_status mercer_fwht(const mercer_matrix* X, mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
