/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_RIDGE_H
#define MERCER_RIDGE_H

/* Ridge regression from row statistics or rows: w = (Z'Z + n lambda I)^{-1} Z'Y; lambda is per row.
 * n counts rows, D features, m outputs. */

#include "mercer/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Every penalty from one eigendecomposition ====
 *
 * For all functions here: penalty is lambda >= 0; center is 0, or not 0 to centre features and
 * outputs and fit an intercept. Results that are not wanted may be absent (zeros): w D x m,
 * intercept 1 x m (all 0 without centring). Nothing is random. Directions whose eigenvalue plus n
 * lambda is below eps D times the largest are dropped, so that lambda = 0 gives the weights of
 * least norm.
 *
 * Errors: MERCER_INVALID_ARGUMENT (penalty negative or not finite, no rows, sums that are not
 * finite), MERCER_DIMENSION_MISMATCH, MERCER_NOT_CONVERGED (LAPACK's eigenvalues).
 *
 * Example: weights for D features and one output, with the better of two lambdas by GCV.
 *
 *   mercer_ridge* ridge = NULL;
 *   mercer_status status = mercer_ridge_create(statistics, 1, NULL, &ridge);
 *   double few = 0, many = 0;
 *   mercer_matrix gcv = mercer_matrix_f64(1, 1, &few);
 *   if (status == MERCER_OK) status = mercer_ridge_error(ridge, 1e-6, NULL, gcv, NULL);
 *   gcv.data = &many;
 *   if (status == MERCER_OK) status = mercer_ridge_error(ridge, 1e-3, NULL, gcv, NULL);
 *   double penalty = few < many ? 1e-6 : 1e-3;
 *   mercer_matrix weights = mercer_matrix_f64(D, 1, w);
 *   mercer_matrix intercept = mercer_matrix_f64(1, 1, b);
 *   if (status == MERCER_OK) status = mercer_ridge_solve(ridge, penalty, weights, intercept);
 */

/** An eigendecomposition of Z'Z; it never changes. */
typedef struct mercer_ridge mercer_ridge;

/** Decomposes a copy of the statistics' Gram matrix. Cost: O(D^3), 20 D^2 bytes, 8 D^2 of them
 *  kept. */
MERCER_API mercer_status mercer_ridge_create(const mercer_statistics* statistics, int32_t center,
                                             mercer_context* context, mercer_ridge** out);

/** Rows the statistics held, D features, m outputs. */
MERCER_API mercer_status mercer_ridge_shape(const mercer_ridge* ridge, mercer_shape* shape);

/** The weights for one penalty. Cost: O(D^2 m). */
MERCER_API mercer_status mercer_ridge_solve(const mercer_ridge* ridge, double penalty,
                                            mercer_matrix w, mercer_matrix intercept);

/** Mean squared error of each output on held-out rows; with held_out NULL generalised
 *  cross-validation (Golub, Heath, Wahba 1979), n RSS/(n - Tr H)^2, infinite where the fit
 *  interpolates (n - Tr H <= 1e-8 n). dimension (may be NULL) gets Tr H, H = Z(Z'Z + n lambda
 *  I)^{-1}Z', plus one for the intercept.
 *  Shapes: error 1 x m, or absent. Cost: O(D^2 m), for GCV O(D m). */
MERCER_API mercer_status mercer_ridge_error(const mercer_ridge* ridge, double penalty,
                                            const mercer_statistics* held_out, mercer_matrix error,
                                            double* dimension);

/** Ridge leverage score of each feature, l_j = z_j'(ZZ' + n lambda I)^{-1} z_j with z_j a column of
 *  Z. Without centring they sum to Tr H, an estimate of the effective dimension N(lambda), and D
 *  times the largest estimates the maximum random features dimension F_inf(lambda) ("Fewer
 *  features" in GUIDE.md). Columns of one frequency add up.
 *  Shapes: scores 1 x D. Cost: O(D^2). */
MERCER_API mercer_status mercer_ridge_leverage(const mercer_ridge* ridge, double penalty,
                                               mercer_matrix scores);

/** Leave-one-out residual of each training row, (y - Zw)_i/(1 - H_ii), with n lambda held fixed.
 *  Infinite where 1 - H_ii <= 1e-8.
 *  Shapes: Z n x D and Y n x m, dense or CSR (made dense); residuals n x m.
 *  Errors: NaN, Inf and numbers beyond 1e150. Cost: O(n D^2). */
MERCER_API mercer_status mercer_ridge_leave_one_out(const mercer_ridge* ridge, double penalty,
                                                    mercer_rows Z, mercer_rows Y,
                                                    mercer_context* context,
                                                    mercer_matrix residuals);

/** Frees a decomposition. */
MERCER_API void mercer_ridge_free(mercer_ridge* ridge);

/** The weights for one penalty without a decomposition: from statistics by Cholesky of a copy of
 *  their Gram matrix, Z and Y absent; or from rows with statistics NULL, for n < D, by the dual n x
 *  n system, w = Z'(ZZ' + n lambda I)^{-1} Y.
 *  Shapes: Z n x D and Y n x m, dense or CSR (made dense), n >= 1.
 *  Errors: jitter is raised up to 1e-9 of the mean diagonal, then MERCER_NOT_POSITIVE_DEFINITE
 *  names the pivot; in rows NaN, Inf and numbers beyond 1e150.
 *  Cost: O(D^3/3) and 8 D^2 bytes; from rows O(n^2 D + n^3) and 8 n^2 bytes. */
MERCER_API mercer_status mercer_ridge_weights(const mercer_statistics* statistics, mercer_rows Z,
                                              mercer_rows Y, int32_t center, double penalty,
                                              mercer_context* context, mercer_matrix w,
                                              mercer_matrix intercept);

#ifdef __cplusplus
}
#endif
#endif
