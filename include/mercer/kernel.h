/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_KERNEL_H
#define MERCER_KERNEL_H

/* Kernels: exact values, Gram matrices, lengthscales. tau = x - y; a lengthscale is one number or
 * one per input (ARD: every formula is applied to x/lengthscale). Every kernel is multiplied by an
 * amplitude, its variance. */

#include "mercer/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mercer_kernel mercer_kernel;

/** Constructors. lengthscale: `count` numbers in [1e-300, 1e300], count = 1 (isotropic) or d (ARD).
 * Amplitude 1; see mercer_kernel_with_variance. Errors: MERCER_INVALID_ARGUMENT. Since 0.1.
 *
 *  gaussian: exp(-||tau||^2/(2 l^2)).  laplacian: exp(-||tau||_1/l).  cauchy: prod_j 1/(1 +
 * tau_j^2/l^2). */
MERCER_API mercer_status mercer_kernel_gaussian(const double* lengthscale, int64_t count,
                                                mercer_kernel** out);
MERCER_API mercer_status mercer_kernel_laplacian(const double* lengthscale, int64_t count,
                                                 mercer_kernel** out);
MERCER_API mercer_status mercer_kernel_cauchy(const double* lengthscale, int64_t count,
                                              mercer_kernel** out);
/** Matern with smoothness nu > 0: 2^{1-nu}/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau||/l. */
MERCER_API mercer_status mercer_kernel_matern(double nu, const double* lengthscale, int64_t count,
                                              mercer_kernel** out);
/** (1 + ||tau||^2/(2 alpha l^2))^{-alpha}, alpha > 0. */
MERCER_API mercer_status mercer_kernel_rational_quadratic(double alpha, const double* lengthscale,
                                                          int64_t count, mercer_kernel** out);
/** Spectral density proportional to prod_j exp(-(l w_j)^{2 order}), order = 1, ..., 16; order 1 is
 * exp(-||tau||^2/(4 l^2)). */
MERCER_API mercer_status mercer_kernel_generalized_gaussian_spectrum(int64_t order,
                                                                     const double* lengthscale,
                                                                     int64_t count,
                                                                     mercer_kernel** out);
/** prod_j 2 sqrt(x_j+c) sqrt(y_j+c)/(x_j+y_j+2c), c > 0, for inputs > -c; other inputs give NaN. */
MERCER_API mercer_status mercer_kernel_skewed_chi2(double c, mercer_kernel** out);
/** (gamma x'y + offset)^degree, degree = 1, ..., 1024, gamma > 0, offset >= 0. No lengthscale, no
 * spectral law. */
MERCER_API mercer_status mercer_kernel_polynomial(int64_t degree, double gamma, double offset,
                                                  mercer_kernel** out);

/** (x1'y1)(x2'y2) of rows [x1 | x2], x1 the first `left` inputs, left = 1, ..., 2^31 - 2, x2 the
 * others, at least one. Its features are those of compact bilinear pooling (Gao et al. 2016; Fukui
 * et al. 2016). No lengthscale, no spectral law. */
MERCER_API mercer_status mercer_kernel_bilinear(int64_t left, mercer_kernel** out);

/** The same kernel with another amplitude sigma^2 > 0; `kernel` is unchanged. */
MERCER_API mercer_status mercer_kernel_with_variance(const mercer_kernel* kernel, double variance,
                                                     mercer_kernel** out);

/** From and to JSON (`mercer specs` lists names and parameters):
 * {"kernel":"matern","nu":1.5,"lengthscale":0.7}. The printed form is canonical. Errors:
 * MERCER_INVALID_ARGUMENT naming key, value and what is allowed; MERCER_NEWER_VERSION. String
 * out-buffers: needed (may be NULL) counts the final NUL; buffer NULL with capacity 0 asks; too
 * small is MERCER_INVALID_ARGUMENT with needed set. */
MERCER_API mercer_status mercer_kernel_from_spec(const char* json, mercer_kernel** out);
MERCER_API mercer_status mercer_kernel_spec(const mercer_kernel* kernel, char* buffer,
                                            int64_t capacity, int64_t* needed);

/** K(i, j) = k(X_i, Y_j), exact. X: n x d, Y: m x d, K: n x m, row-major. O(n m d). Squared
 * distances are summed from differences. Errors: MERCER_INVALID_ARGUMENT, MERCER_DIMENSION_MISMATCH
 * (ARD count; bilinear: d <= left). */
MERCER_API mercer_status mercer_kernel_gram_f64(const mercer_kernel* kernel, int64_t d, int64_t n,
                                                const double* X, int64_t ldx, int64_t m,
                                                const double* Y, int64_t ldy, double* K,
                                                int64_t ldk);
MERCER_API void mercer_kernel_free(mercer_kernel* kernel);

/** Lengthscale of exp(-gamma ||tau||^2): 1/sqrt(2 gamma), gamma > 0 and finite. */
MERCER_API mercer_status mercer_lengthscale_from_gamma(double gamma, double* lengthscale);
/** Lengthscale of exp(-||tau||^2/(2 sigma^2)): sigma, checked. */
MERCER_API mercer_status mercer_lengthscale_from_sigma(double sigma, double* lengthscale);
/** Lengthscale of gamma = "scale" of scikit-learn: gamma = 1/(d Var X), the variance over all
 * entries. */
MERCER_API mercer_status mercer_lengthscale_from_scale_f64(int64_t n, int64_t d, const double* X,
                                                           int64_t ldx, double* lengthscale);
/** Median distance of pairs of rows (mean of the middle two for an even count), over all pairs if
 * there are at most max_pairs, else over max_pairs pairs drawn by seed. Errors: n < 2, NaN, median
 * 0. context may be NULL. */
MERCER_API mercer_status mercer_lengthscale_median_f64(int64_t n, int64_t d, const double* X,
                                                       int64_t ldx, int64_t max_pairs,
                                                       uint64_t seed, mercer_context* context,
                                                       double* lengthscale);

#ifdef __cplusplus
}
#endif
#endif
