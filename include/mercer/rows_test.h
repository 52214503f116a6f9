/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_ROWS_TEST_H
#define MERCER_ROWS_TEST_H

/* Tests on two sets of rows: whether they have one distribution, and whether they depend on each
 * other. The formulas are in "Two samples" of GUIDE.md, the keys in "tests" of mercer_specs. */

#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Tests ====
 *
 * Example: do m new rows come from the distribution of n old ones, and if not, which of them differ
 * most?
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(m, d, y);
 *   char answer[16384];
 *   mercer_status status = mercer_rows_test("{\"test\":\"mmd\",\"witnesses\":5}", X, Y, NULL,
 *                                           answer, sizeof answer, NULL);
 */

/** "test" is "mmd" (one distribution? Gaussian and Laplacian kernels at several bandwidths, p-value
 *  from permutations), "block_mmd" (one kernel, normal p-value), "kid" (kernel inception distance)
 *  or "hsic" (does row i of Y depend on row i of X?). The answer is JSON: the question, "p_value",
 *  the unbiased statistic, its "standard_error" (null for too few rows), "effect", at most about 1,
 *  each "by_kernel", and, if asked, the rows that differ most. 300 bytes a kernel, 50 a witness.
 *  Shapes: X m x d, Y n x d, dense or CSR, m, n >= 1; "hsic": m = n, any columns.
 *  Random: frequencies, groups and permutations, fixed by "seed" for any number of threads.
 *  Errors: MERCER_INVALID_ARGUMENT naming the key, or an entry that is not finite;
 *  MERCER_DIMENSION_MISMATCH; convention 9 of mercer/base.h (the size is known after the test).
 *  Threads and cost: any number at once; a pass of each kernel's features, memory for 1,000 rows of
 *  features; "hsic": a permutation 2 n D^2 operations, memory for all features. */
MERCER_API mercer_status mercer_rows_test(const char* json, mercer_rows X, mercer_rows Y,
                                          mercer_context* context, char* buffer, int64_t capacity,
                                          int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
