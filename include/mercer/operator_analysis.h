/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_OPERATOR_ANALYSIS_H
#define MERCER_OPERATOR_ANALYSIS_H

/* What operator-valued features are compared with, and what is known of what they learn: exact
 * ridge with the kernel itself, how sure a learnt function is, its norms, and how near features are
 * to their kernel. Source: Brault, Heinonen, d'Alche-Buc, "Random Fourier features for
 * operator-valued kernels", ACML 2016, and the longer report of the same year, whose numbers of
 * theorems are used here. d counts inputs, p outputs, F frequencies, r coefficients, N rows. */

#include "mercer/base.h"
#include "mercer/map_error.h"
#include "mercer/operator.h"
#include "mercer/operator_learn.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Exact kernel ridge, the reference ====
 *
 * Example: a curl-free field from its values at n points by the kernel itself, and what it is
 * there.
 *
 *   mercer_operator_kernel_fit fit = mercer_operator_kernel_fit_of(1e-3);
 *   mercer_rows X = mercer_rows_f64(n, 2, x);
 *   mercer_rows Y = mercer_rows_f64(n, 2, y);
 *   mercer_matrix u = mercer_matrix_f64(n, 2, weights);
 *   mercer_status status = mercer_operator_kernel_ridge(kernel, &X, &Y, &fit, NULL, &u);
 *   mercer_rows U = mercer_rows_f64(n, 2, weights);
 *   mercer_matrix f = mercer_matrix_f64(n, 2, values);
 *   if (status == MERCER_OK) status = mercer_kernel_gram(kernel, &X, &X, &U, NULL, &f);
 */

/** How u is found. */
typedef enum mercer_operator_kernel_method {
  /** EIGEN where it can be, else CHOLESKY of up to 8192 observed numbers that have room, else
   *  CONJUGATE_GRADIENT. */
  MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC = 0,
  /** Of decomposable kernels, targets without gaps: eigendecompositions of k (N x N) and of Gamma;
   *  O(N^3 + p^3), 8 N^2 bytes and LAPACK's. */
  MERCER_OPERATOR_KERNEL_METHOD_EIGEN = 1,
  /** O((N p)^3), 16 (N p)^2 bytes; jitter up to 1e-9 of the mean diagonal. */
  MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY = 2,
  /** A product of mercer_kernel_gram per step, no matrix. */
  MERCER_OPERATOR_KERNEL_METHOD_CONJUGATE_GRADIENT = 3
} mercer_operator_kernel_method;

/** What mercer_operator_kernel_ridge is to do, and what it found. 64 bytes. */
typedef struct mercer_operator_kernel_fit {
  uint32_t struct_size;    /**< [0] sizeof(mercer_operator_kernel_fit). */
  int32_t method;          /**< [4] mercer_operator_kernel_method. */
  double lambda;           /**< [8] >= 0. */
  double tolerance;        /**< [16] Of CONJUGATE_GRADIENT, on residual; >= 0. */
  int64_t most_iterations; /**< [24] Of CONJUGATE_GRADIENT; >= 1. */
  int32_t taken;           /**< [32] Answer: the method that was taken; not read. */
  int32_t reserved;        /**< [36] 0. */
  int64_t iterations;      /**< [40] Answer: of CONJUGATE_GRADIENT, else 0. */
  double residual;     /**< [48] Answer: |y - (K + N lambda I) u| / |y| over observed entries. */
  double squared_norm; /**< [56] Answer: u'K u, the squared norm of f. */
} mercer_operator_kernel_fit;

/** The automatic method, to a residual of 1e-10. */
static inline mercer_operator_kernel_fit mercer_operator_kernel_fit_of(double lambda) {
  mercer_operator_kernel_fit fit = {
      sizeof(mercer_operator_kernel_fit), 0, 0, 1e-10, 10000, 0, 0, 0, 0, 0};
  fit.lambda = lambda;
  return fit;
}

/** u, N x p, of the f = sum_i K(., X_i) u_i that minimises (1/N) sum over observed (i, k) of
 *  (f_k(X_i) - Y_ik)^2 / 2 + lambda/2 ||f||^2: (K + N lambda I) u = y, u = 0 where Y is NaN, not
 *  observed. There is no intercept. Its values anywhere are those of mercer_kernel_gram
 *  with U = u.
 *  Shapes: X N x d and Y N x p, N >= 1, dense or CSR (made dense); u F32 or F64. Computed in
 *  double.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_INVALID_ARGUMENT (a number that is not finite or
 *  beyond 1e150, an input outside the kernel's domain, no target observed); MERCER_UNSUPPORTED for
 *  EIGEN where it cannot be and for a kernel of one output (mercer_kernel_ridge_fit);
 *  MERCER_NOT_POSITIVE_DEFINITE of EIGEN and CHOLESKY where rounding makes the system singular:
 *  they leave a residual above 1e-6; MERCER_NOT_CONVERGED with the residual. On failure there are
 *  no answers.
 *  Threads and cost: any number at once; as of the methods, and one product with K. */
MERCER_API mercer_status mercer_operator_kernel_ridge(const mercer_kernel* kernel,
                                                      const mercer_rows* X, const mercer_rows* Y,
                                                      mercer_operator_kernel_fit* fit,
                                                      mercer_context* context,
                                                      const mercer_matrix* u);

/* ==== What is known of a learnt function ====
 *
 * f is Phi'theta here. Where a model has an offset or scales on top (an intercept, a search;
 * mercer_operator_model_report names them), targets, noise and covariances are those of targets
 * less offset, over scale, and the offset counts as known.
 *
 * Example: one standard deviation of both components of a field at n points, its noise of variance
 * 0.01, and the norm of the field.
 *
 *   mercer_rows X = mercer_rows_f64(n, 2, x);
 *   mercer_rows Y = mercer_rows_f64(n, 2, y);
 *   mercer_matrix S = mercer_matrix_f64(n, 4, covariances);
 *   mercer_status status = mercer_operator_model_covariance(model, &X, &Y, 0.01, &X, NULL, &S);
 *   for (int64_t i = 0; status == MERCER_OK && i < n; ++i) {
 *     deviations[2 * i] = sqrt(covariances[4 * i]);
 *     deviations[2 * i + 1] = sqrt(covariances[4 * i + 3]);
 *   }
 *   double squared_norm = 0;
 *   if (status == MERCER_OK)
 *     status = mercer_operator_model_norms(model, NULL, NULL, &squared_norm, NULL);
 */

/** Row i of out (n x p^2), a p x p matrix row by row: the posterior covariance of f at row i of
 *  `at`, noise Phi(x)'(sum Phi_k(X_i) Phi_k(X_i)' + N lambda I)^{-1} Phi(x), the sum over the
 *  observed (i, k) and Phi_k column k of Phi: that of Bayes' rule for y = f(x) + noise of variance
 *  `noise` > 0 and theta ~ N(0, noise/(N lambda) I), whose posterior mean the model is. N is the
 *  model's: the rows that it was fitted to, of a search those with a target. With the
 *  exact kernel in the place of Phi'Phi it is noise/(N lambda) (K(x, x) - K(x, X) (K + N lambda
 *  I)^{-1} K(X, x)), which it nears as D grows.
 *  Shapes: X N x d and Y N x p as the model was fitted to, rows without a target or not, Y read for
 *  its gaps alone, NULL: none; at n x d; dense or CSR (made dense), F32 or F64; out F32 or F64.
 *  Computed in double.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_INVALID_ARGUMENT (noise, also one that takes a
 *  covariance beyond the largest number, rows that are not finite or outside the kernel's domain,
 *  no target observed); MERCER_UNSUPPORTED for a model of another loss
 *  than squares or of lambda 0; MERCER_NOT_POSITIVE_DEFINITE for an N lambda below 2e-14 of the
 *  trace of the sum, which rounding takes; MERCER_NOT_CONVERGED.
 *  Threads and cost: any number at once. Decomposable without gaps N D^2 + D^3, then D^2 + p D +
 *  p^3 a row; else, up to r = 8192 with 8 r^2 bytes of room (8 (r^2 + D^2) without gaps) and 16
 *  MiB, N p r^2 + r^3, then p r^2 a row; else p systems a row by conjugate gradients, to a residual
 *  of 1e-10. */
MERCER_API mercer_status mercer_operator_model_covariance(
    const mercer_operator_model* model, const mercer_rows* X, const mercer_rows* Y, double noise,
    const mercer_rows* at, mercer_context* context, const mercer_matrix* out);

/** squared_norm: |theta|^2, the squared norm of f in the space of Phi'Phi, where theta has no part
 *  that f does not show (as of every fit with lambda > 0). graph_penalty: sum over k < l of
 *  weights_kl ||f_k - f_l||^2 = sum_kl L_kl <f_k, f_l>, L the Laplacian of the graph and <., .> of
 *  the scalar features; f_k output k. With Gamma the pseudo-inverse of L (mercer_output_structure)
 *  and f in its range they are equal. Each answer may be NULL.
 *  Shapes: weights p x p as for MERCER_STRUCTURE_LAPLACIAN, or NULL: no graph_penalty.
 *  Errors: MERCER_INVALID_ARGUMENT (a weight, a graph without edges, graph_penalty without
 *  weights); MERCER_DIMENSION_MISMATCH.
 *  Threads and cost: any number at once; r, and D p (q + p) for weights. */
MERCER_API mercer_status mercer_operator_model_norms(const mercer_operator_model* model,
                                                     const mercer_rows* weights,
                                                     mercer_context* context, double* squared_norm,
                                                     double* graph_penalty);

/** Whether kernel and features learnt the same function (theorem 35 and what follows it), with
 *  r_s = sum_i Phi(X_i) u_i - theta. residual = |r_s| / |theta|: 0 but for rounding where lambda is
 *  large enough for both. seen = |Phi'r_s| / |Phi'theta| at the rows: where residual is not 0 but
 *  seen is, theta has a part that no row sees; where neither is, the two predict differently. For
 *  the theorem u are the coefficients of a ridge with the kernel Phi'Phi; with those of
 *  mercer_operator_kernel_ridge the answers have the error of the features in them as well. Each
 *  answer may be NULL.
 *  Shapes: X N x d, u N x p, dense or CSR (made dense); NaN in u: left out of the rows.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_INVALID_ARGUMENT for rows that are not finite or
 *  outside the kernel's domain, infinite u, and numbers beyond 1e150.
 *  Threads and cost: any number at once; three products with N rows. */
MERCER_API mercer_status mercer_operator_model_equivalence(const mercer_operator_model* model,
                                                           const mercer_rows* X,
                                                           const mercer_rows* u,
                                                           mercer_context* context,
                                                           double* residual, double* seen);

/* ==== How near features are to their kernel ====
 *
 * Example: how far the variances of n pairs are below their bound: never above it, and at it where
 * both rows of a pair are one.
 *
 *   mercer_rows X = mercer_rows_f64(n, 2, x);
 *   mercer_rows Z = mercer_rows_f64(n, 2, z);
 *   mercer_matrix B = mercer_matrix_f64(n, 4, bounds);
 *   mercer_status status = mercer_map_variance(map, &X, &Z, 0, NULL, variances);
 *   if (status == MERCER_OK) status = mercer_map_variance_bound(map, &X, &Z, 0, NULL, &B);
 */

/** Row i of out (n x p^2), a p x p matrix row by row: proposition 33's bound of the operator
 *  variance E (K~ - K)^2 at tau = X_i - Y_i,
 *    (1/2F) ((K(2 tau) + K(0)) E A - 2 K(tau)^2 + 2 Var A),
 *  E A = K(0) and Var A those of the map's form, and of the product with E A, which commutes where
 *  all axes have one lengthscale, the symmetric part; of decomposable maps it is the variance, of
 *  others the variance at tau = 0. printed 1: as the report prints it, with Var A once, which is
 *  below the variance at tau = 0. mercer_map_variance is the exact value.
 *  Shapes: X and Y n x d, dense or CSR (made dense); out F32 or F64.
 *  Errors: those of mercer_map_variance; MERCER_INVALID_ARGUMENT for printed; MERCER_UNSUPPORTED
 *  for a map of a kernel of one output.
 *  Threads and cost: any number at once; d^3 a row, decomposable p^2. */
MERCER_API mercer_status mercer_map_variance_bound(const mercer_map* map, const mercer_rows* X,
                                                   const mercer_rows* Y, int32_t printed,
                                                   mercer_context* context,
                                                   const mercer_matrix* out);

#ifdef __cplusplus
}
#endif
#endif
