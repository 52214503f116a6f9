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
 *   mercer_data data = mercer_data_of(X, Y);
 *   mercer_kernel_ridge* fitted = NULL;
 *   mercer_status status =
 *       mercer_kernel_ridge_fit(kernel, "{\"lambda\":1e-6}", &data, NULL, &fitted);
 *   if (status == MERCER_OK) status = mercer_kernel_ridge_predict(fitted, X, NULL, scores);
 */

/** Training rows and their weights. */
typedef struct mercer_kernel_ridge mercer_kernel_ridge;

/** alpha = (K + n lambda I)^{-1} Y on prepared rows; Y centred iff "center". With weights w it is
 *  the f of least sum_i w_i |f(x_i) - y_i|^2 + n lambda ||f||^2, n = sum_i w_i, so that only ratios
 *  of weights count; a row of weight 0 has alpha 0. json: "lambda" and, as in mercer_model_fit,
 *  "prepare", "center", "task", "classes" and "seed". Predictions are never clipped.
 *  Shapes: X and Y of data; sparse rows stay so.
 *  Errors: those of mercer_model_fit; MERCER_UNSUPPORTED (any other key, a source, sets or a map);
 *  MERCER_NOT_POSITIVE_DEFINITE.
 *  Threads and cost: any number at once; O(n^3), 8 n^2 bytes and the rows, of CSR what they
 *  list. */
MERCER_API mercer_status mercer_kernel_ridge_fit(const mercer_kernel* kernel, const char* json,
                                                 const mercer_data* data, mercer_context* context,
                                                 mercer_kernel_ridge** out);

/** n rows fitted on, d inputs, outputs: scores per row. */
MERCER_API mercer_status mercer_kernel_ridge_shape(const mercer_kernel_ridge* fitted,
                                                   mercer_shape* shape);

/** scores(i, :) = k(X_i, training rows) alpha, plus the mean of Y where it was centred.
 *  Shapes: X any rows of d columns; scores n x outputs, F32 or F64; outputs: the columns of the Y
 *  fitted on, or K.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_INVALID_ARGUMENT: a row that is prepared out of the
 *  kernel's domain, naming row, column and value.
 *  Threads and cost: any number at once; d multiply-adds for each pair of a row and a training
 *  row, of CSR as in mercer_kernel_gram. */
MERCER_API mercer_status mercer_kernel_ridge_predict(const mercer_kernel_ridge* fitted,
                                                     mercer_rows X, mercer_context* context,
                                                     mercer_matrix scores);

/** Frees what was fitted. */
MERCER_API void mercer_kernel_ridge_free(mercer_kernel_ridge* fitted);

#ifdef __cplusplus
}
#endif
#endif
