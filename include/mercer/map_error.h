/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MAP_ERROR_H
#define MERCER_MAP_ERROR_H

/* The error of a map's kernel estimate: predicted from its variance, and measured on rows; and the
 * map that suits rows best. */

#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Errors of the estimate ====
 *
 * Example: the relative error of K that a map makes on n rows, and the error its variance predicts.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   double measured = 0, predicted = 0;
 *   mercer_status status =
 *       mercer_map_kernel_error(map, X, MERCER_KERNEL_ERROR_MEASURED, NULL, &measured);
 *   if (status == MERCER_OK) {
 *     status = mercer_map_kernel_error(map, X, MERCER_KERNEL_ERROR_PREDICTED, NULL, &predicted);
 *   }
 */

/** Which variance. */
typedef enum mercer_variance {
  /** Variance of the real estimate: (V + PV)/2 for complex maps. */
  MERCER_VARIANCE_ESTIMATE = 0,
  /** PV = E(k^ - k)^2 of the complex estimate (real maps: the variance). */
  MERCER_VARIANCE_PSEUDO = 1,
  /** For a map of several outputs an upper bound, sharp where x = y; for decomposable the
   *  variance. */
  MERCER_VARIANCE_BOUND = 2
} mercer_variance;

/** variance[i] of the estimate of k(x_i, y_i), i < n; for p outputs E (K~ - K)^2, p x p numbers row
 *  by row: exact for i.i.d. columns, linear maps and sketches, 0 for maps that draw nothing. For
 *  structured and low-discrepancy frequencies it is a yardstick ("Which map" of GUIDE.md).
 *  Shapes: X and Y n x d, dense or CSR (made dense). which: mercer_variance.
 *  Errors: MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (no closed form: supplied frequencies,
 *  maps made from rows, circulant with a kernel that is not isotropic, QUADRATURE, optical with
 *  output_bits, positive with stabilize; a product with a hyperbolic part, or with two whose
 *  columns depend on each other, one of them tensor_sketch or a composition that ends in it or in
 *  stacked; infinite: fields of matern, nu <= 2; BOUND of a map of one output).
 *  Cost: O(n d), nothing is drawn; for fields d^3 a pair, d^4 where k is no function of ||tau||;
 *  for decomposable p^2. */
MERCER_API mercer_status mercer_map_variance(const mercer_map* map, mercer_rows X, mercer_rows Y,
                                             int32_t which, mercer_context* context,
                                             double* variance);

/** Which error of the kernel estimate. */
typedef enum mercer_kernel_error {
  /** Of this map as drawn: ||Re ZZ^H - K||_F / ||K||_F. */
  MERCER_KERNEL_ERROR_MEASURED = 0,
  /** Its root mean square over seeds, from the variance, and for maps that draw nothing from their
   *  bias: sqrt(sum_ij (variance + bias^2)(x_i, x_j) / sum_ij k(x_i, x_j)^2). */
  MERCER_KERNEL_ERROR_PREDICTED = 1
} mercer_kernel_error;

/** Error of the estimated kernel matrix of rows, relative to the kernel's, over all pairs of rows;
 *  for optical with input_bits the kernel is that of the bits. PREDICTED computes no features; it
 *  needs a variance in closed form, and is a yardstick where that is one.
 *  Shapes: X n x d, dense or CSR (predicted: made dense), n >= 1. which: mercer_kernel_error.
 *  Errors: MERCER_INVALID_ARGUMENT (n < 1, a kernel that is 0 on all pairs, rows that are not
 *  finite or whose kernel overflows), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (PREDICTED
 *  without a closed form, or of several outputs). error is written only on success.
 *  Cost: n^2 kernel values and, if measured, n rows of features, n^2 D multiply-adds and 8 n (2 n +
 *  4,096) bytes; predicted, n^2/2 variances of d operations each: some hundred rows tell as much as
 *  all. */
MERCER_API mercer_status mercer_map_kernel_error(const mercer_map* map, mercer_rows X,
                                                 int32_t which, mercer_context* context,
                                                 double* error);

/** The error of this map on many rows, without an n x n matrix: intervals of ||A||_F / ||K||_F,
 *  ||A||_2 and ||A||_2 / ||K||_2, A = Re ZZ^H - K, from whole rows of A, drawn at random. json:
 *  "level", "rows", "seed" of mercer_specs "certify", or "{}". The answer (300 bytes of JSON) has
 *  "frobenius" and, for each, "_low" and "_high", null without a bound; "exact": all rows were
 *  looked at. How far they can be relied on: "Errors on many rows" in GUIDE.md.
 *  Shapes: X n x d, dense or CSR (made dense), n >= 2.
 *  Random: which rows, fixed by "seed".
 *  Errors: those of MEASURED; MERCER_UNSUPPORTED (several outputs); convention 9 of mercer/base.h.
 *  Cost: the features of X twice, n rows kernel values, memory for rows^2 numbers and 512 rows of
 *  features: seconds for n = 100,000. */
MERCER_API mercer_status mercer_map_certify(const mercer_map* map, mercer_rows X, const char* json,
                                            mercer_context* context, char* buffer, int64_t capacity,
                                            int64_t* needed);

/* ==== Which map for these rows ====
 *
 * Example: the fastest map whose kernel matrix is wrong by 5 % on rows like these.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_map* best = NULL;
 *   char answer[16384];
 *   mercer_status status =
 *       mercer_map_recommend("{\"kernel\":{\"kernel\":\"gaussian\"},\"error\":0.05}", X, NULL,
 *                            &best, answer, sizeof answer, NULL);
 */

/** Real maps of a kernel side by side: every map with each value of its first two choices (of
 *  fourier: projection and form), its error on these rows (expected, but of columns that depend on
 *  each other measured on three draws) and the time of a row of features in single precision.
 *  "error" asks for the least features that reach it, fastest first; "features" for the least
 *  error. Keys: "recommend" of mercer_specs.
 *  Results: out, the first map. The answer (buffer may be NULL) is JSON: the question,
 *  "kernel_quantiles" (5, 25, 50, 75, 95 % of k between rows) and "maps", each with its spec,
 *  "error", "seconds" and whether the error is "reached"; some 700 bytes a map.
 *  Shapes: X n x d, dense or CSR (made dense), scaled as the map will see them.
 *  Random: seed is the maps'; times differ from call to call.
 *  Errors: MERCER_INVALID_ARGUMENT (a key, no map to judge); convention 9 of mercer/base.h.
 *  Cost: seconds, some ten errors for each map. */
MERCER_API mercer_status mercer_map_recommend(const char* json, mercer_rows X,
                                              mercer_context* context, mercer_map** out,
                                              char* buffer, int64_t capacity, int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
