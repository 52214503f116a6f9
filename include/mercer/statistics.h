/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_STATISTICS_H
#define MERCER_STATISTICS_H

/* Sums over rows of features and targets: all that a ridge fit needs. n counts rows, D features, m
 * outputs. */

#include "mercer/base.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Row statistics: Z'Z, Z'Y, n, sums ====
 *
 * Memory O(D^2), never n x D. Nothing is random.
 *
 * Example: two blocks of rows, of 100 features and one target each.
 *
 *   mercer_statistics* statistics = NULL;
 *   mercer_status status = mercer_statistics_create(100, 1, &statistics);
 *   for (int block = 0; block < 2 && status == MERCER_OK; ++block) {
 *     mercer_rows Z = mercer_rows_f32(n, 100, z[block]);
 *     mercer_rows Y = mercer_rows_f64(n, 1, y[block]);
 *     status = mercer_statistics_add(statistics, 1, Z, Y, NULL);
 *   }
 */

/** Sums over rows. */
typedef struct mercer_statistics mercer_statistics;

/** All-zero statistics of D >= 1 features and m >= 0 outputs. */
MERCER_API mercer_status mercer_statistics_create(int64_t D, int64_t m, mercer_statistics** out);

/** Adds the rows of a block (sign 1), or removes them again (sign -1). Sums are in double and
 *  relative to one of the rows, so that features up to 1e8 and targets up to 1e10 standard
 *  deviations from zero lose no digits in a centred fit. Digits lost to far-off rows do not come
 *  back when those are removed.
 *  Shapes: features Z n x D, targets Y n x m, dense or CSR (sparse blocks are made dense 1,024 rows
 *  at a time); Y may be absent if m = 0.
 *  Errors: MERCER_INVALID_ARGUMENT (NaN, Inf and numbers beyond 1e150, naming row and column;
 *  removing more rows than there are), MERCER_DIMENSION_MISMATCH; nothing is added then. After
 *  MERCER_CANCELLED the rows before some multiple of 1,024 have been added; the shape says how
 *  many.
 *  Cost: O(n D (D + m)). */
MERCER_API mercer_status mercer_statistics_add(mercer_statistics* statistics, int32_t sign,
                                               mercer_rows Z, mercer_rows Y,
                                               mercer_context* context);

/** statistics += sign other, sign 1 or -1: partial fits of several machines add up.
 *  Errors: MERCER_DIMENSION_MISMATCH. Cost: D (D + m). */
MERCER_API mercer_status mercer_statistics_merge(mercer_statistics* statistics, int32_t sign,
                                                 const mercer_statistics* other);

/** Rows n, features D and outputs m. */
MERCER_API mercer_status mercer_statistics_shape(const mercer_statistics* statistics,
                                                 mercer_shape* shape);

/** Copies out the sums about zero.
 *  Shapes: gram D x D (both triangles), cross D x m, sum_z 1 x D, sum_y and sum_y2 1 x m, any of
 *  them absent.
 *  Errors: MERCER_UNSUPPORTED for statistics of weighted rows (from a file), whose n does not count
 *  rows. */
MERCER_API mercer_status mercer_statistics_get(const mercer_statistics* statistics,
                                               mercer_matrix gram, mercer_matrix cross,
                                               mercer_matrix sum_z, mercer_matrix sum_y,
                                               mercer_matrix sum_y2);

/** The inverse of mercer_statistics_get: replaces the statistics by sums over n rows that were made
 *  elsewhere (an all-reduce, another language). Sums about zero lose digits where means are many
 *  standard deviations from zero: if that matters, merge statistics instead
 *  (mercer_statistics_read).
 *  Shapes: as above, dense or CSR; of gram only the lower triangle is read.
 *  Errors: a number that is not finite, a negative sum of squares, |gram_ij| > sqrt(gram_ii
 *  gram_jj) or |cross_ij| > sqrt(gram_ii sum_y2_j) by more than rounding, n < 0, n = 0 with sums
 *  that are not 0, naming array, row and column; nothing changes then. Cost: D (D + m) numbers. */
MERCER_API mercer_status mercer_statistics_set(mercer_statistics* statistics, int64_t n,
                                               mercer_rows gram, mercer_rows cross,
                                               mercer_rows sum_z, mercer_rows sum_y,
                                               mercer_rows sum_y2);

/** Frees statistics. */
MERCER_API void mercer_statistics_free(mercer_statistics* statistics);

#ifdef __cplusplus
}
#endif
#endif
