/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_KERNEL_H
#define MERCER_KERNEL_H

/* Kernels: exact values, Gram matrices, lengthscales. tau = x - y; a lengthscale l is one number or
 * one per input (ARD: every formula is applied to x/l). Every kernel is multiplied by an amplitude,
 * its variance. K(x, y) is a number, or of kernels of several outputs a p x p matrix. */

#include "mercer/base.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Making kernels ====
 *
 * The Gaussian has a function; every kernel comes by spec. "lengthscale" is a number or a list,
 * "variance" the amplitude (> 0, default 1):
 *
 *   gaussian               exp(-||tau||^2/(2 l^2))
 *   laplacian, cauchy      exp(-||tau||_1/l), prod_j 1/(1 + tau_j^2/l^2)
 *   matern                 "nu" > 0: 2^{1-nu}/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau||/l
 *   rational_quadratic     "alpha" > 0: (1 + ||tau||^2/(2 alpha l^2))^{-alpha}
 *   generalized_gaussian_spectrum
 *                          "order" 1..16: spectral density proportional to
 *                          prod_j exp(-(l w_j)^{2 order}); order 1 is exp(-||tau||^2/(4 l^2))
 *   skewed_chi2            "c" > 0: prod_j 2 sqrt(x_j+c) sqrt(y_j+c)/(x_j+y_j+2c), for inputs > -c;
 *                          other inputs give NaN
 *   spectral_mixture       sum_q w_q exp(-sum_j v_qj tau_j^2/2) cos(mu_q'tau) (Wilson, Adams 2013),
 *                          k(0) = sum_q w_q: "weights" w > 0, up to 1024 numbers; "means" mu,
 *                          angular frequencies, and "variances" v >= 0 of the frequencies: each a
 *                          list of one list of d numbers for every w, or a list of one number for
 *                          every w, which is that of all inputs
 *   polynomial             (gamma x'y + offset)^degree, degree 1..1024, gamma > 0, offset >= 0
 *   bilinear               (x1'y1)(x2'y2) of rows [x1 | x2], x1 the first "left" inputs
 *   anova                  sum over subsets of "degree" (1..16) inputs of the products of their
 *                          x_j y_j; "subsets": "all": prod_j (1 + x_j y_j)
 *   additive_chi2, intersection
 *                          sum_j 2 x_j y_j/(x_j + y_j), sum_j min(x_j, y_j)
 *   jensen_shannon, hellinger
 *                          sum_j x_j/2 log2((x_j + y_j)/x_j) + y_j/2 log2((x_j + y_j)/y_j),
 *                          sum_j sqrt(x_j y_j)
 *   exponential_semigroup  "beta" > 0: exp(-beta sum_j sqrt(x_j + y_j))
 *   reciprocal_semigroup   "lambda" > 0: prod_j lambda/(x_j + y_j + lambda)
 *   exponential            exp(x'y/l^2)
 *   dot_product            sum_n a_n (x'y)^n, "coefficients" [a_0, a_1, ...] >= 0, at most 1025
 *   arc_cosine             ||x||^n ||y||^n J_n(t)/pi, t the angle of x and y, n = "order":
 *                          J_0 = pi - t, J_1 = sin t + (pi - t) cos t,
 *                          J_2 = 3 sin t cos t + (pi - t)(1 + 2 cos^2 t) (Cho, Saul 2009);
 *                          0 for a row of zeros
 *   sign                   1 - 2t/pi; for a row of zeros 0, 1 with another one
 *   optical                E |u'x|^m |u'y|^m, u ~ CN(0, I), m = "exponent", even, 2..16:
 *                          with m = 2s,
 *                          sum_i (s! C(s, i))^2 (x'y)^{2i} (||x|| ||y||)^{m - 2i}
 *   sum, product           of the kernels in "parts", a list of 2 to 64 specs, each with its own
 *                          parameters; they may be sums and products again. Where a part of
 *                          a product over- or underflows, as exponential beside gaussian at
 *                          x'y/l^2 > 709, logarithms are added, of exponential, gaussian and
 *                          laplacian their own; derivatives there are NaN
 *
 * From additive_chi2 to reciprocal_semigroup inputs are >= 0: others give NaN. From skewed_chi2 on
 * there is no lengthscale but that of exponential and those of parts; after spectral_mixture no
 * spectral law but those of sum and product, if all parts have one and none warps its inputs: a
 * part's with the probability k_i(0)/sum_j k_j(0), and that of a sum of one frequency of each part,
 * which is isotropic or of independent coordinates. isotropic below: gaussian, matern,
 * rational_quadratic, generalized_gaussian_spectrum of order 1, each of one lengthscale; sums of
 * these, and products of which all but one are gaussian or of that order 1.
 *
 * Example: a Matern kernel.
 *
 *   mercer_kernel* kernel = NULL;
 *   mercer_status status =
 *       mercer_kernel_from_spec("{\"kernel\":\"matern\",\"nu\":1.5,\"lengthscale\":0.7}", &kernel);
 */

/** A kernel; it never changes. */
typedef struct mercer_kernel mercer_kernel;

/** The Gaussian kernel exp(-||tau||^2/(2 l^2)), of variance 1: exp(-gamma ||tau||^2) is that of
 *  lengthscale 1/sqrt(2 gamma), exp(-||tau||^2/(2 sigma^2)) of lengthscale sigma; gamma = "scale"
 *  of scikit-learn, 1/(d Var X) with the variance over all entries of X, is lengthscale sqrt(d Var
 *  X/2).
 *  Shapes: lengthscale holds count numbers in [1e-300, 1e300], in units of the inputs; count = 1
 *  (isotropic) or d (ARD). */
MERCER_API mercer_status mercer_kernel_gaussian(const double* lengthscale, int64_t count,
                                                mercer_kernel** out);

/** A kernel from JSON, as in the list above and by `mercer specs`.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, value and what is allowed; MERCER_UNSUPPORTED for a
 *  "scalar" without derivatives; MERCER_NOT_POSITIVE_DEFINITE for "gamma"; MERCER_NEWER_VERSION. */
MERCER_API mercer_status mercer_kernel_from_spec(const char* json, mercer_kernel** out);

/** The JSON of a kernel, in canonical form: from it comes the same kernel, to the bit.
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_kernel_spec(const mercer_kernel* kernel, char* buffer,
                                            int64_t capacity, int64_t* needed);

/** Frees a kernel. Maps made of it keep what they need. */
MERCER_API void mercer_kernel_free(mercer_kernel* kernel);

/* ==== Kernels of several outputs ====
 *
 * Kernels of p outputs that belong together, and of vector fields, are made of a kernel k of one
 * output, "scalar" (default gaussian); what takes kernels of one refuses them (MERCER_UNSUPPORTED).
 * Brault, Heinonen, d'Alche-Buc 2016; Micheli, Glaunes 2013.
 *
 *   decomposable           k(x, y) Gamma: "gamma" the rows of Gamma, p lists of p numbers (or its
 *                          p p numbers row by row in one list), positive semi-definite; "cutoff"
 *                          (default 1e-12): pivots of its root up to that part of the largest are
 *                          left out of features, but for the first
 *   curl_free              -grad grad' k: gradients of potentials; p = d
 *   divergence_free        (grad grad' - Laplacian) k: fields without sources; p = d >= 2
 *   helmholtz              "alpha" (0 to 1) times curl_free plus 1 - alpha times divergence_free
 *
 * The last three are of k smooth, gaussian: with one lengthscale l they are
 *   k (I/l^2 - tau tau'/l^4)  and  k (((d - 1)/l^2 - ||tau||^2/l^4) I + tau tau'/l^4).
 *
 * Example: what u makes of a curl-free kernel without its Gram matrix, f(x_i) = sum_j K(x_i, x_j)
 * u_j, for two vectors u at the n rows themselves.
 *
 *   mercer_kernel* field = NULL;
 *   mercer_status status = mercer_kernel_from_spec(
 *       "{\"kernel\":\"curl_free\",\"scalar\":{\"kernel\":\"gaussian\",\"lengthscale\":0.7}}",
 *       &field);
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows U = mercer_rows_f64(n, 2 * d, u);
 *   mercer_matrix f = mercer_matrix_f64(n, 2 * d, values);
 *   if (status == MERCER_OK) status = mercer_kernel_gram(field, &X, &X, &U, NULL, &f);
 *   mercer_kernel_free(field);
 */

/** The kernel decomposable of a Gamma that JSON, of at most 1 MiB, need not hold: p x p, dense or
 *  CSR. Scalar is copied; cutoff in [0, 1].
 *  Errors: MERCER_DIMENSION_MISMATCH for a Gamma that is not square; MERCER_INVALID_ARGUMENT for
 *  one that is not symmetric or 0; MERCER_NOT_POSITIVE_DEFINITE. Cost: p^3. */
MERCER_API mercer_status mercer_kernel_decomposable(const mercer_kernel* scalar,
                                                    const mercer_rows* gamma, double cutoff,
                                                    mercer_kernel** out);

/* ==== Gram matrices and lengthscales ====
 *
 * Example: K of n rows of d doubles at x, with the median distance as lengthscale.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_matrix K = mercer_matrix_f64(n, n, k);
 *   double lengthscale = 0;
 *   mercer_status status = mercer_lengthscale_median(&X, 100000, 0, NULL, &lengthscale);
 *   mercer_kernel* kernel = NULL;
 *   if (status == MERCER_OK) status = mercer_kernel_gaussian(&lengthscale, 1, &kernel);
 *   if (status == MERCER_OK) status = mercer_kernel_gram(kernel, &X, &X, NULL, NULL, &K);
 */

/** K(i, j) = k(X_i, Y_j), exact, of p outputs block (i, j) = K(X_i, Y_j): computed in double,
 *  squared distances summed from differences. With U its product without the matrix: row i is
 *  sum_j K(X_i, Y_j) u_j for each of the s vectors u_j of p numbers in row j of U.
 *  Shapes: X n x d, Y m x d, U NULL or m x (p s), dense or CSR; K (n p) x (m p), with U n x (p s),
 *  F32 or F64.
 *  Errors: MERCER_DIMENSION_MISMATCH (columns of Y and U, shape of K, count of ARD or of the lists
 *  of spectral_mixture, of parts as well; bilinear: d <= left; divergence_free: d = 1).
 *  Threads and cost: any number at once; O(n m (d + p s)), of sums and products that of their
 *  parts; where Y is CSR and lists at most an eighth of its columns, d is what two rows list,
 *  unless the kernel tells inputs apart (ARD, spectral_mixture, bilinear, p > 1): then, and for
 *  F32, blocks of rows, of p > 1 all, are made dense doubles. */
MERCER_API mercer_status mercer_kernel_gram(const mercer_kernel* kernel, const mercer_rows* X,
                                            const mercer_rows* Y, const mercer_rows* U,
                                            mercer_context* context, const mercer_matrix* K);

/** The same without views and U, of a kernel of one output.
 *  Shapes: X n x d, Y m x d and K n x m, dense doubles without gaps. */
MERCER_API mercer_status mercer_kernel_gram_f64(const mercer_kernel* kernel, int64_t d, int64_t n,
                                                const double* X, int64_t m, const double* Y,
                                                mercer_context* context, double* K);

/** Median distance of pairs of rows (mean of the middle two for an even count), over all pairs if
 *  there are at most max_pairs (>= 1), else over max_pairs pairs.
 *  Shapes: X n x d, dense or CSR, n >= 2.
 *  Random: the pairs, where not all are taken; seed fixes them.
 *  Errors: n < 2, numbers that are not finite, a median of 0.
 *  Threads and cost: any number at once; O(d) for each pair, of CSR what its rows list, and 8
 *  bytes, 24 where pairs are drawn. */
MERCER_API mercer_status mercer_lengthscale_median(const mercer_rows* X, int64_t max_pairs,
                                                   uint64_t seed, mercer_context* context,
                                                   double* lengthscale);

#ifdef __cplusplus
}
#endif
#endif
