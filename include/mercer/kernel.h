/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_KERNEL_H
#define MERCER_KERNEL_H

/* Kernels: exact values, Gram matrices, lengthscales. tau = x - y; a lengthscale l is one number or
 * one per input (ARD: every formula is applied to x/l). Every kernel is multiplied by an amplitude,
 * its variance. K(x, y) is a number, or a p x p matrix for kernels of several outputs. */

#include "mercer/base.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Making kernels ====
 *
 * "lengthscale" is a number or a list, "variance" the amplitude (> 0, default 1). Names, formulas,
 * domains, and which kernels are isotropic: "Kernels by spec" in GUIDE.md.
 *
 * Example: a Matern kernel.
 *
 *   mercer_kernel* kernel = NULL;
 *   mercer_status status =
 *       mercer_kernel_from_spec("{\"kernel\":\"matern\",\"nu\":1.5,\"lengthscale\":0.7}", &kernel);
 */

/** A kernel; it never changes. */
typedef struct mercer_kernel mercer_kernel;

/** A kernel from JSON; `mercer specs` lists the kernels and their keys.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, value and what is allowed; MERCER_UNSUPPORTED for a
 *  "scalar" without derivatives; MERCER_NOT_POSITIVE_DEFINITE for "gamma"; MERCER_NEWER_VERSION. */
MERCER_API mercer_status mercer_kernel_from_spec(const char* json, mercer_kernel** out);

/** The JSON of a kernel, in canonical form; it gives the same kernel again, to the bit.
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_kernel_spec(const mercer_kernel* kernel, char* buffer,
                                            int64_t capacity, int64_t* needed);

/** Frees a kernel. Maps made from it keep what they need. */
MERCER_API void mercer_kernel_free(mercer_kernel* kernel);

/* ==== Kernels of several outputs ====
 *
 * Kernels of p correlated outputs, and of vector fields, are built from a kernel k of one output,
 * "scalar" (default gaussian); functions for kernels of one output refuse them
 * (MERCER_UNSUPPORTED). Brault, Heinonen, d'Alche-Buc 2016; Micheli, Glaunes 2013.
 *
 *   decomposable           k(x, y) Gamma, Gamma p x p, positive semi-definite
 *   curl_free              -grad grad' k: gradients of potentials; p = d
 *   divergence_free        (grad grad' - Laplacian) k: fields without sources; p = d >= 2
 *   helmholtz              "alpha" (0 to 1) times curl_free plus 1 - alpha times divergence_free
 *
 * The last three need a shift-invariant scalar with two derivatives (matern: nu > 1). Formulas:
 * "Several outputs, vector fields" in GUIDE.md.
 *
 * Example: a curl-free kernel times vectors without its Gram matrix, f(x_i) = sum_j K(x_i, x_j)
 * u_j, for two vectors u at each of the n rows.
 *
 *   mercer_kernel* field = NULL;
 *   mercer_status status = mercer_kernel_from_spec(
 *       "{\"kernel\":\"curl_free\",\"scalar\":{\"kernel\":\"gaussian\",\"lengthscale\":0.7}}",
 *       &field);
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows U = mercer_rows_f64(n, 2 * d, u);
 *   mercer_matrix f = mercer_matrix_f64(n, 2 * d, values);
 *   if (status == MERCER_OK) status = mercer_kernel_gram(field, X, X, U, NULL, f);
 *   mercer_kernel_free(field);
 */

/** The kernel "decomposable" with a Gamma from memory, as JSON is limited to 1 MiB: p x p, dense or
 *  CSR. Scalar is copied; cutoff in [0, 1].
 *  Errors: MERCER_DIMENSION_MISMATCH for a Gamma that is not square; MERCER_INVALID_ARGUMENT for
 *  one that is not symmetric or 0; MERCER_NOT_POSITIVE_DEFINITE. Cost: p^3. */
MERCER_API mercer_status mercer_kernel_decomposable(const mercer_kernel* scalar, mercer_rows gamma,
                                                    double cutoff, mercer_kernel** out);

/* ==== Gram matrices and lengthscales ====
 *
 * Example: K of n rows of d doubles at x, with the median distance as lengthscale.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_matrix K = mercer_matrix_f64(n, n, k);
 *   double lengthscale = 0;
 *   mercer_status status = mercer_lengthscale_median(X, 100000, 0, NULL, &lengthscale);
 *   mercer_kernel* kernel = NULL;
 *   char spec[64];
 *   snprintf(spec, sizeof spec, "{\"kernel\":\"gaussian\",\"lengthscale\":%.17g}", lengthscale);
 *   if (status == MERCER_OK) status = mercer_kernel_from_spec(spec, &kernel);
 *   if (status == MERCER_OK) status = mercer_kernel_gram(kernel, X, X, (mercer_rows){0}, NULL, K);
 */

/** K(i, j) = k(X_i, Y_j), or block (i, j) = K(X_i, Y_j) for p outputs; exact: computed in double,
 *  squared distances summed from differences. With U the product of K and U, without forming K: row
 *  i is sum_j K(X_i, Y_j) u_j for each of the s vectors u_j of p numbers in row j of U.
 *  Shapes: X n x d, Y m x d, U absent or m x (p s), dense or CSR; K (n p) x (m p), or n x (p s)
 *  with U, F32 or F64.
 *  Errors: MERCER_DIMENSION_MISMATCH (columns of Y and U, shape of K, lengths of ARD and
 *  spectral_mixture lists, also in parts; bilinear: d <= left; divergence_free: d = 1).
 *  Cost: O(n m (d + p s)), for sums and products the cost of their parts. Where Y is CSR with at
 *  most d/8 stored non-zeros a row, O(stored non-zeros) replaces d unless the kernel distinguishes
 *  inputs (ARD, spectral_mixture, bilinear, p > 1); for those kernels and for F32, blocks of rows
 *  (for p > 1 all rows) become dense doubles. */
MERCER_API mercer_status mercer_kernel_gram(const mercer_kernel* kernel, mercer_rows X,
                                            mercer_rows Y, mercer_rows U, mercer_context* context,
                                            mercer_matrix K);

/** Median of the distances between rows (the mean of the middle two for an even count), over all
 *  pairs if there are at most max_pairs (>= 1), else over max_pairs random pairs.
 *  Shapes: X n x d, dense or CSR, n >= 2.
 *  Random: the pairs, where not all are taken; seed fixes them.
 *  Errors: n < 2, numbers that are not finite, a median of 0.
 *  Cost: O(d) per pair, for CSR O(stored non-zeros), and 8 bytes, 24 where pairs are drawn. */
MERCER_API mercer_status mercer_lengthscale_median(mercer_rows X, int64_t max_pairs, uint64_t seed,
                                                   mercer_context* context, double* lengthscale);

#ifdef __cplusplus
}
#endif
#endif
