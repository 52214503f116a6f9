/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_RIDGE_H
#define MERCER_RIDGE_H

/* Ridge regression from row statistics or rows: w = (Z'Z + n lambda I)^{-1} Z'Y, lambda is per row.
 * n counts rows, D features, m outputs. */

#include "mercer/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Ridge: every lambda from one eigendecomposition ====
 *
 * Of all in this section: lambda >= 0; center: 0 or not 0, then features and outputs are centred
 * and an intercept fitted. w is D x m, intercept m (zeros without centring), NULL where it is not
 * wanted. Nothing is random. Directions whose eigenvalue plus n lambda is below eps D times the
 * largest are dropped, so that lambda = 0 gives the weights of least norm.
 *
 * Errors: MERCER_INVALID_ARGUMENT (lambda negative or not finite, statistics of no rows or with
 * sums that are not finite), MERCER_DIMENSION_MISMATCH (features or outputs that disagree),
 * MERCER_NOT_CONVERGED (LAPACK's eigenvalues). Any number of threads may ask one decomposition at
 * once.
 *
 * Example: weights of D features and one output for the better of two lambdas by GCV.
 *
 *   mercer_ridge* ridge = NULL;
 *   mercer_status status = mercer_ridge_create(statistics, 1, NULL, &ridge);
 *   double few = 0, many = 0, intercept = 0;
 *   if (status == MERCER_OK) status = mercer_ridge_gcv_f64(ridge, 1e-6, &few, NULL);
 *   if (status == MERCER_OK) status = mercer_ridge_gcv_f64(ridge, 1e-3, &many, NULL);
 *   double lambda = few < many ? 1e-6 : 1e-3;
 *   if (status == MERCER_OK) status = mercer_ridge_solve_f64(ridge, lambda, w, 1, &intercept);
 */

/** An eigendecomposition of Z'Z; it never changes. */
typedef struct mercer_ridge mercer_ridge;

/** Decomposes a copy of the statistics' Gram matrix.
 *  Cost: O(D^3), 20 D^2 bytes, of which 8 D^2 stay. */
MERCER_API mercer_status mercer_ridge_create(const mercer_statistics* statistics, int32_t center,
                                             mercer_context* context, mercer_ridge** out);

/** Rows the statistics held, features D and outputs m, which fix the sizes of the arrays below; any
 *  pointer may be NULL. */
MERCER_API mercer_status mercer_ridge_shape(const mercer_ridge* ridge, int64_t* n, int64_t* D,
                                            int64_t* m);

/** The weights for one lambda.
 *  Shapes: w D x m, ldw >= m. Cost: O(D^2 m). */
MERCER_API mercer_status mercer_ridge_solve_f64(const mercer_ridge* ridge, double lambda, double* w,
                                                int64_t ldw, double* intercept);

/** Generalised cross-validation without the rows (Golub, Heath, Wahba 1979): n RSS/(n - Tr H)^2 for
 *  each output, infinite where the fit interpolates (n - Tr H <= 1e-8 n); and the effective
 *  dimension Tr H, H = Z(Z'Z + n lambda I)^{-1}Z' (plus one for the intercept when centred).
 *  Shapes: gcv: m; dimension: one number. Either may be NULL. Cost: O(D m). */
MERCER_API mercer_status mercer_ridge_gcv_f64(const mercer_ridge* ridge, double lambda, double* gcv,
                                              double* dimension);

/** Mean squared error on held-out rows, at least one, given as statistics.
 *  Shapes: error: m. Cost: O(D^2 m). */
MERCER_API mercer_status mercer_ridge_held_out_error_f64(const mercer_ridge* ridge, double lambda,
                                                         const mercer_statistics* held_out,
                                                         double* error);

/** What the residual of each training row would be if it were left out, (y - Zw)_i/(1 - H_ii); n
 *  lambda stays fixed then. Infinite where 1 - H_ii <= 1e-8.
 *  Shapes: Z n x D and Y n x m, dense or CSR (made dense); residuals n x m, F32 or F64.
 *  Errors: those of the section; NaN, Inf and numbers beyond 1e150.
 *  Cost: O(n D^2). */
MERCER_API mercer_status mercer_ridge_leave_one_out(const mercer_ridge* ridge, double lambda,
                                                    const mercer_rows* Z, const mercer_rows* Y,
                                                    mercer_context* context,
                                                    const mercer_matrix* residuals);

/** Frees a decomposition. */
MERCER_API void mercer_ridge_free(mercer_ridge* ridge);

/* ==== Ridge without a decomposition ====
 *
 * Arguments and errors as in the section above.
 *
 * Example: weights of n rows of more features than rows, D > n.
 *
 *   mercer_rows Z = mercer_rows_f64(n, D, z);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_matrix weights = mercer_matrix_f64(D, 1, w);
 *   double intercept = 0;
 *   mercer_status status = mercer_ridge_dual(&Z, &Y, 1, 1e-6, NULL, &weights, &intercept);
 */

/** One lambda by Cholesky of a copy of the Gram matrix.
 *  Shapes: w D x m, ldw >= m.
 *  Errors: jitter is raised up to 1e-9 of the mean diagonal, then MERCER_NOT_POSITIVE_DEFINITE
 *  names the pivot.
 *  Threads and cost: any number at once; O(D^3/3), 8 D^2 bytes. */
MERCER_API mercer_status mercer_ridge_cholesky_f64(const mercer_statistics* statistics,
                                                   int32_t center, double lambda,
                                                   mercer_context* context, double* w, int64_t ldw,
                                                   double* intercept);

/** The same from rows, for n < D, by the dual n x n system: w = Z'(ZZ' + n lambda I)^{-1} Y.
 *  Shapes: Z n x D and Y n x m, dense or CSR (made dense), n >= 1; w D x m, F32 or F64.
 *  Errors: as _cholesky; NaN, Inf and numbers beyond 1e150.
 *  Threads and cost: any number at once; O(n^2 D + n^3), 8 n^2 bytes. */
MERCER_API mercer_status mercer_ridge_dual(const mercer_rows* Z, const mercer_rows* Y,
                                           int32_t center, double lambda, mercer_context* context,
                                           const mercer_matrix* w, double* intercept);

#ifdef __cplusplus
}
#endif
#endif
