/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_KERNEL_RIDGE_H
#define MERCER_KERNEL_RIDGE_H

/* Exact kernel ridge, what models approximate. n counts rows, d inputs, K classes. */

#include "mercer/kernel.h"
#include "mercer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Exact kernel ridge, the reference ====
 *
 * Example: predictions of n rows by a kernel itself.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_matrix scores = mercer_matrix_f64(n, 1, f);
 *   mercer_fit_options options = {.struct_size = sizeof options};
 *   mercer_fit_options_init(&options);
 *   options.selection = MERCER_SELECTION_FIXED;
 *   mercer_kernel_ridge* fitted = NULL;
 *   mercer_status status = mercer_kernel_ridge_fit(kernel, &options, &X, &Y, 0, NULL, &fitted);
 *   if (status == MERCER_OK) status = mercer_kernel_ridge_predict(fitted, &X, NULL, &scores);
 */

/** Training rows and their weights. */
typedef struct mercer_kernel_ridge mercer_kernel_ridge;

/** alpha = (K + n lambda I)^{-1} Y on prepared rows; Y centred iff options->center. With weights w
 *  it is the f of least sum_i w_i |f(x_i) - y_i|^2 + n lambda ||f||^2, n = sum_i w_i, so that only
 *  ratios of weights count; a row of weight 0 has alpha 0. Uses center, lambda, weights and what
 *  mercer_model_fit prepares rows and targets by (standardize, scale, missing, transform,
 *  target_transform, unit_rows, seed) of the options, which must not be NULL and say
 *  MERCER_SELECTION_FIXED. Predictions are never clipped.
 *  Shapes: X, Y and K as in mercer_model_fit; sparse rows stay so.
 *  Errors: those of mercer_model_fit; MERCER_UNSUPPORTED (an extrapolation other than DEFAULT and
 *  FREE, class weights, a precision other than F32, the default: all is double);
 *  MERCER_NOT_POSITIVE_DEFINITE.
 *  Threads and cost: any number at once; O(n^3), 8 n^2 bytes and the rows, of CSR what they
 *  list. */
MERCER_API mercer_status mercer_kernel_ridge_fit(const mercer_kernel* kernel,
                                                 const mercer_fit_options* options,
                                                 const mercer_rows* X, const mercer_rows* Y,
                                                 int64_t K, mercer_context* context,
                                                 mercer_kernel_ridge** out);

/** scores(i, :) = k(X_i, training rows) alpha, plus the mean of Y where it was centred.
 *  Shapes: X any rows of d columns; scores n x outputs, F32 or F64; outputs: the columns of the Y
 *  fitted on, or K.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_INVALID_ARGUMENT: a row that is prepared out of the
 *  kernel's domain, naming row, column and value.
 *  Threads and cost: any number at once; d multiply-adds for each pair of a row and a training
 *  row, of CSR as in mercer_kernel_gram. */
MERCER_API mercer_status mercer_kernel_ridge_predict(const mercer_kernel_ridge* fitted,
                                                     const mercer_rows* X, mercer_context* context,
                                                     const mercer_matrix* scores);

/** Frees what was fitted. */
MERCER_API void mercer_kernel_ridge_free(mercer_kernel_ridge* fitted);

#ifdef __cplusplus
}
#endif
#endif
