/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_KERNEL_H
#define MERCER_KERNEL_H

/* Kernels: exact values, Gram matrices, lengthscales. tau = x - y; a lengthscale is one number or
 * one per input (ARD: every formula is applied to x/lengthscale). Every kernel is multiplied by an
 * amplitude, its variance. */

#include "mercer/base.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mercer_kernel mercer_kernel;

/** exp(-||tau||^2/(2 l^2)). lengthscale: `count` numbers in [1e-300, 1e300], count = 1 (isotropic) or
 * d (ARD). Errors: MERCER_INVALID_ARGUMENT. */
MERCER_API mercer_status mercer_kernel_gaussian(const double* lengthscale, int64_t count,
                                                mercer_kernel** out);

/* Every other kernel comes by spec; "lengthscale" is a number or a list, "variance" the amplitude:
 *   laplacian, cauchy          exp(-||tau||_1/l), prod_j 1/(1 + tau_j^2/l^2)
 *   matern                     "nu" > 0: 2^{1-nu}/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau||/l
 *   rational_quadratic         "alpha" > 0: (1 + ||tau||^2/(2 alpha l^2))^{-alpha}
 *   generalized_gaussian_spectrum  "order" 1..16: spectral density proportional to
 *                              prod_j exp(-(l w_j)^{2 order}); order 1 is exp(-||tau||^2/(4 l^2))
 *   skewed_chi2                "c" > 0: prod_j 2 sqrt(x_j+c) sqrt(y_j+c)/(x_j+y_j+2c), for inputs > -c;
 *                              other inputs give NaN
 *   polynomial                 (gamma x'y + offset)^degree, degree 1..1024, gamma > 0, offset >= 0
 *   bilinear                   (x1'y1)(x2'y2) of rows [x1 | x2], x1 the first "left" inputs
 * The last three have no lengthscale, the last two no spectral law. */

/** From and to JSON (`mercer specs` lists names and parameters):
 * {"kernel":"matern","nu":1.5,"lengthscale":0.7}. The printed form is canonical. Errors:
 * MERCER_INVALID_ARGUMENT naming key, value and what is allowed; MERCER_NEWER_VERSION. String
 * out-buffers: needed (may be NULL) counts the final NUL; buffer NULL with capacity 0 asks; too
 * small is MERCER_INVALID_ARGUMENT with needed set. */
MERCER_API mercer_status mercer_kernel_from_spec(const char* json, mercer_kernel** out);
MERCER_API mercer_status mercer_kernel_spec(const mercer_kernel* kernel, char* buffer,
                                            int64_t capacity, int64_t* needed);

/** K(i, j) = k(X_i, Y_j), exact. X: n x d, Y: m x d, dense or CSR (made dense); K: n x m, F32 or F64.
 * Computed in double; O(n m d). Squared distances are summed from differences. context may be NULL.
 * Errors: MERCER_INVALID_ARGUMENT, MERCER_DIMENSION_MISMATCH (columns of Y, shape of K, ARD count;
 * bilinear: d <= left), MERCER_OUT_OF_MEMORY, MERCER_CANCELLED. */
MERCER_API mercer_status mercer_kernel_gram(const mercer_kernel* kernel, const mercer_rows* X,
                                            const mercer_rows* Y, mercer_context* context,
                                            const mercer_matrix* K);
/** The same without views: dense rows of doubles without gaps. */
MERCER_API mercer_status mercer_kernel_gram_f64(const mercer_kernel* kernel, int64_t d, int64_t n,
                                                const double* X, int64_t m, const double* Y,
                                                mercer_context* context, double* K);
MERCER_API void mercer_kernel_free(mercer_kernel* kernel);

/* exp(-gamma ||tau||^2) is the Gaussian of lengthscale 1/sqrt(2 gamma), exp(-||tau||^2/(2 sigma^2)) that
 * of lengthscale sigma; gamma = "scale" of scikit-learn, 1/(d Var X) with the variance over all entries
 * of X, that of lengthscale sqrt(d Var X/2). */

/** Median distance of pairs of rows (mean of the middle two for an even count), over all pairs if
 * there are at most max_pairs, else over max_pairs pairs drawn by seed. X: dense or CSR (made dense).
 * Errors: n < 2, NaN, median 0. context may be NULL. */
MERCER_API mercer_status mercer_lengthscale_median(const mercer_rows* X, int64_t max_pairs,
                                                   uint64_t seed, mercer_context* context,
                                                   double* lengthscale);

#ifdef __cplusplus
}
#endif
#endif
