/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_ROWS_TEST_H
#define MERCER_ROWS_TEST_H

/* Tests on two sets of rows: whether they have one distribution, and whether they depend on each
 * other. The formulas are in "Two samples" of GUIDE.md, the keys in "tests" of mercer_specs. */

#include "mercer/data.h"
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
 *  Cost: a pass of each kernel's features, memory for 1,000 rows of each kernel's features; "hsic":
 *  a permutation 2 n D^2 operations, memory for all features. */
MERCER_API mercer_status mercer_rows_test(const char* json, mercer_rows X, mercer_rows Y,
                                          mercer_context* context, char* buffer, int64_t capacity,
                                          int64_t* needed);

/* ==== Rows that are not in memory ====
 *
 * All but "hsic", from sums that rows are added to. A row is known by its side (0: X, 1: Y) and its
 * number there, which with "seed" say its group: rows may come in any order and blocks, in several
 * processes, and be replaced.
 *
 * Example: X in two blocks, then Y, whose first rows are the pilot.
 *
 *   const char* json = "{\"test\":\"mmd\"}";
 *   mercer_rows_sums* sums = NULL;
 *   mercer_status status = mercer_rows_sums_create(json, n, m, X0, Y, NULL, &sums);
 *   if (status == MERCER_OK) status = mercer_rows_sums_add(sums, 0, 0, X0, NULL);
 *   if (status == MERCER_OK) status = mercer_rows_sums_add(sums, 0, n / 2, X1, NULL);
 *   if (status == MERCER_OK) status = mercer_rows_sums_add(sums, 1, 0, Y, NULL);
 *   if (status == MERCER_OK)
 *     status = mercer_rows_sums_answer(sums, NULL, answer, sizeof answer, NULL);
 *   mercer_rows_sums_free(sums);
 */

/** Sums of features over groups of rows. */
typedef struct mercer_rows_sums mercer_rows_sums;

/** Sums over no rows yet, for a test as of mercer_rows_test on m rows of X and n of Y. X and Y here
 *  are a pilot, which is not added: its columns are those of all rows, and the median distance of
 *  its rows is the bandwidth where no kernels are given (then X.n + Y.n >= 1; else both may be 0).
 *  The level is exact if kernels are given, or the pilot is of other rows or drawn from both
 *  samples regardless of side; if it is their first rows, about.
 *  Errors: MERCER_UNSUPPORTED ("hsic"; "witnesses" > 0), those of mercer_rows_test. Threads and
 *  cost: any number at once; 8 bytes for each kernel, feature and group (at most 514; "block_mmd":
 *  2 min(m, n) / "block"). */
MERCER_API mercer_status mercer_rows_sums_create(const char* json, int64_t m, int64_t n,
                                                 mercer_rows X, mercer_rows Y,
                                                 mercer_context* context, mercer_rows_sums** out);

/** Adds rows first, first + 1, ... of a side. The answer is that of mercer_rows_test to rounding,
 *  for any blocks and order, if the pilot is all rows or kernels are given.
 *  Errors: MERCER_INVALID_ARGUMENT for numbers beyond the side's, a row that was added before (seen
 *  where its group gets too many), an entry that is not finite; MERCER_DIMENSION_MISMATCH; nothing
 *  is added then. After MERCER_CANCELLED or MERCER_OUT_OF_MEMORY the sums answer no more.
 *  Cost: one pass of each kernel's features; going back to a smaller `first`, O(first). */
MERCER_API mercer_status mercer_rows_sums_add(mercer_rows_sums* sums, int32_t side, int64_t first,
                                              mercer_rows X, mercer_context* context);

/** sums += sign other, sign 1 or -1; both made with the same arguments. Errors:
 *  MERCER_INVALID_ARGUMENT for others, or a group with too many rows or less than none. */
MERCER_API mercer_status mercer_rows_sums_merge(mercer_rows_sums* sums, int32_t sign,
                                                const mercer_rows_sums* other);

/** Sums of all processes, in each, by a callback as of mercer_row_source; all call it, with sums
 *  made with the same arguments. Errors: MERCER_IO, those of mercer_rows_sums_merge; nothing
 *  changes then. */
MERCER_API mercer_status mercer_rows_sums_reduce(mercer_rows_sums* sums, mercer_source_sum sum,
                                                 void* user);

/** The answer of mercer_rows_test. Errors: MERCER_INVALID_ARGUMENT unless all m and n rows have
 *  been added. Cost: D (groups + permutations) numbers a kernel. */
MERCER_API mercer_status mercer_rows_sums_answer(const mercer_rows_sums* sums,
                                                 mercer_context* context, char* buffer,
                                                 int64_t capacity, int64_t* needed);

/** Frees sums. */
MERCER_API void mercer_rows_sums_free(mercer_rows_sums* sums);

#ifdef __cplusplus
}
#endif
#endif
