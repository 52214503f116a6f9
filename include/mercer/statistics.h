/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_STATISTICS_H
#define MERCER_STATISTICS_H

/* Sums over rows of features and targets, all that a ridge fit reads. n counts rows, D features, m
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
 *     status = mercer_statistics_add(statistics, &Z, &Y, NULL);
 *   }
 */

/** Sums over rows. Not for use by several threads at once while it changes. */
typedef struct mercer_statistics mercer_statistics;

/** All-zero statistics of D >= 1 features and m >= 0 outputs. */
MERCER_API mercer_status mercer_statistics_create(int64_t D, int64_t m, mercer_statistics** out);

/** Adds, or removes again, the rows of a block. Sums are in double and kept about a row of the
 *  data's own, so that features up to 1e8 and targets up to 1e10 deviations from zero lose no
 *  digits when a fit is centred. What far rows cost in digits while they were present does not come
 *  back when they are removed.
 *  Shapes: features Z n x D, targets Y n x m, dense or CSR (sparse blocks are made dense 1,024 rows
 *  at a time); Y may be NULL if m = 0.
 *  Errors: MERCER_INVALID_ARGUMENT (NaN, Inf and numbers beyond 1e150, whose squares overflow,
 *  naming row and column; removing more rows than there are), MERCER_DIMENSION_MISMATCH; nothing is
 *  added then. After MERCER_CANCELLED the rows in front of some multiple of 1,024 have been, as
 *  mercer_statistics_shape says.
 *  Cost: O(n D (D + m)). */
MERCER_API mercer_status mercer_statistics_add(mercer_statistics* statistics, const mercer_rows* Z,
                                               const mercer_rows* Y, mercer_context* context);
MERCER_API mercer_status mercer_statistics_remove(mercer_statistics* statistics,
                                                  const mercer_rows* Z, const mercer_rows* Y,
                                                  mercer_context* context);

/** statistics += other, resp. -= other: partial fits of several machines add up.
 *  Errors: MERCER_DIMENSION_MISMATCH. Cost: D (D + m). */
MERCER_API mercer_status mercer_statistics_merge(mercer_statistics* statistics,
                                                 const mercer_statistics* other);
MERCER_API mercer_status mercer_statistics_subtract(mercer_statistics* statistics,
                                                    const mercer_statistics* other);

/** Rows n, features D and outputs m; any pointer may be NULL. */
MERCER_API mercer_status mercer_statistics_shape(const mercer_statistics* statistics, int64_t* n,
                                                 int64_t* D, int64_t* m);

/** Copies out the sums about zero.
 *  Shapes: gram D x D (both triangles), cross D x m, without gaps; sum_z: D; sum_y, sum_y2: m. Any
 *  pointer may be NULL.
 *  Errors: MERCER_UNSUPPORTED for statistics of weighted rows (of a file), whose n is not their
 *  number. */
MERCER_API mercer_status mercer_statistics_get_f64(const mercer_statistics* statistics,
                                                   double* gram, double* cross, double* sum_z,
                                                   double* sum_y, double* sum_y2);

/** The inverse: sums over n rows that were made elsewhere (an all-reduce of what _get_f64 gave,
 *  another language) in place of what the statistics held. Sums about zero have lost the digits
 *  that a mean far from zero in deviations costs: where that matters, merge statistics instead
 *  (mercer_statistics_to_bytes).
 *  Shapes: as _get_f64; of gram the lower triangle is read; arrays may be NULL if they are empty,
 *  m = 0.
 *  Errors: a number that is not finite, a negative sum of squares, |gram_ij| > sqrt(gram_ii
 *  gram_jj) or |cross_ij| > sqrt(gram_ii sum_y2_j) by more than rounding, n < 0, n = 0 with sums
 *  that are not 0, naming array, row and column; nothing changes then.
 *  Cost: D (D + m) numbers. */
MERCER_API mercer_status mercer_statistics_set_f64(mercer_statistics* statistics, int64_t n,
                                                   const double* gram, const double* cross,
                                                   const double* sum_z, const double* sum_y,
                                                   const double* sum_y2);

/** Frees statistics. */
MERCER_API void mercer_statistics_free(mercer_statistics* statistics);

#ifdef __cplusplus
}
#endif
#endif
