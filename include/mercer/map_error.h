/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MAP_ERROR_H
#define MERCER_MAP_ERROR_H

/* How far a map's estimate is from its kernel: as its variance lets expect, and as measured. */

#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Errors of the estimate ====
 *
 * Example: which relative error of K a map makes on n rows, and which one is to be expected.
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
  /** Of the real estimate: (V + PV)/2 for complex maps. */
  MERCER_VARIANCE_ESTIMATE = 0,
  /** PV = E(k^ - k)^2 of the complex estimate (real maps: the variance). */
  MERCER_VARIANCE_PSEUDO = 1,
  /** Of a map of several outputs an upper bound, sharp where x = y; of decomposable the variance. */
  MERCER_VARIANCE_BOUND = 2
} mercer_variance;

/** variance[i] of the estimate of k(x_i, y_i), i < n; of p outputs E (K~ - K)^2, p x p numbers row
 *  by row: exact for i.i.d. columns, linear maps and sketches, 0 for maps that draw nothing. Of
 *  structured and low-discrepancy frequencies it is a yardstick ("Which map" of capi/GUIDE.md).
 *  Shapes: X and Y n x d, dense or CSR (made dense). which: mercer_variance.
 *  Errors: MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (no closed form: supplied frequencies,
 *  maps made from rows, circulant with a kernel that is not isotropic, QUADRATURE, optical with
 *  output_bits, positive with stabilize; a product with a hyperbolic part, or with two whose
 *  columns depend on each other, one of them tensor_sketch or a composition that ends in it or in
 *  stacked; BOUND of a map of one output).
 *  Threads and cost: any number at once; O(n d), nothing is drawn; of fields d^3 a pair, of
 *  decomposable p^2. */
MERCER_API mercer_status mercer_map_variance(const mercer_map* map, mercer_rows X, mercer_rows Y,
                                             int32_t which, mercer_context* context,
                                             double* variance);

/** Which error of a kernel. */
typedef enum mercer_kernel_error {
  /** Of this map: ||Re ZZ^H - K||_F / ||K||_F. */
  MERCER_KERNEL_ERROR_MEASURED = 0,
  /** The root mean square of that over the seeds, by the variance, and for maps that draw nothing
   *  by their bias: sqrt(sum_ij (variance + bias^2)(x_i, x_j) / sum_ij k(x_i, x_j)^2). */
  MERCER_KERNEL_ERROR_PREDICTED = 1
} mercer_kernel_error;

/** What the map misses of its kernel on rows, relative to the kernel, over all pairs of them; of
 *  optical with input_bits the kernel is that of the bits.
 *  Predicted, no feature is computed; it needs a variance in closed form, and where that is a
 *  yardstick it is one.
 *  Shapes: X n x d, dense or CSR (predicted: made dense), n >= 1. which: mercer_kernel_error.
 *  Errors: MERCER_INVALID_ARGUMENT (n < 1, a kernel that is 0 on all pairs, rows that are not
 *  finite or whose kernel overflows), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (predicted
 *  without a closed form, or of several outputs). error is written on success alone.
 *  Threads and cost: any number at once. n^2 values of the kernel and, measured, n features, n^2 D
 *  multiply-adds and 8 n (2 n + 4,096) bytes; predicted, n^2/2 variances of d operations each: some
 *  hundred rows tell as much as all. */
MERCER_API mercer_status mercer_map_kernel_error(const mercer_map* map, mercer_rows X,
                                                 int32_t which, mercer_context* context,
                                                 double* error);

#ifdef __cplusplus
}
#endif
#endif
