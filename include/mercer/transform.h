/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_TRANSFORM_H
#define MERCER_TRANSFORM_H

/* Fast transforms. */

#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Walsh-Hadamard transform ====
 *
 * Example: two rows of four.
 *
 *   double x[2][4] = {{1, 0, 0, 0}, {1, 2, 3, 4}};
 *   mercer_matrix X = mercer_matrix_f64(2, 4, x[0]);
 *   mercer_status status = mercer_fwht(X, NULL);
 */

/** Walsh-Hadamard transform of every row, in place and unnormalised: X(i, :) := H X(i, :), H(j, k)
 *  = (-1)^popcount(j & k) (Sylvester's order), so that applying it twice multiplies by its length.
 *  The result has the same bits on every machine, for any number of threads.
 *  Shapes: any number of rows of a power of two columns, F32 or F64. Rows are independent; numbers
 *  between rows are left alone.
 *  Errors: columns that are no power of two, a short leading dimension, a complex matrix. After
 *  MERCER_CANCELLED each row is either transformed or untouched.
 *  Threads and cost: any number at once on different X; d log2 d additions per row of d. */
MERCER_API mercer_status mercer_fwht(mercer_matrix X, mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
