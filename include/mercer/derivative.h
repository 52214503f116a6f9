/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_DERIVATIVE_H
#define MERCER_DERIVATIVE_H

/* Derivatives of features and kernels: how a map's Z changes with its inputs or its lengthscales,
 * the map's random numbers held fixed (Szabo, Sriperumbudur 2019). d counts inputs, D features; for
 * a multi-index p, d^p is the derivative of order p_k in input k, |p| = p_1 + ... + p_d. Inner
 * products of derivatives of features estimate derivatives of the kernel:
 *   E[d^p phi(x)'d^q phi(y)] = d^{p,q} k(x, y). */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/map.h"
#include "mercer/model.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Derivatives of features ====
 *
 * Example: the gradients of the features of n rows of d doubles, D d numbers a row; and d Z/d x
 * summed over the columns, which is the gradient of the sum of all features.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_derivative what = {.struct_size = sizeof what, .kind = MERCER_DERIVATIVE_GRADIENT};
 *   mercer_matrix dZ = mercer_matrix_f64(n, d * D, dz);
 *   mercer_status status = mercer_map_derivative(map, X, &what, NULL, dZ);
 *   for (int64_t j = 0; j < n * D; ++j) ones[j] = 1;
 *   mercer_rows G = mercer_rows_f64(n, D, ones);
 *   mercer_matrix sums = mercer_matrix_f64(n, d, dx);
 *   if (status == MERCER_OK) {
 *     what.kind = MERCER_DERIVATIVE_VJP;
 *     what.vectors = G;
 *     status = mercer_map_derivative(map, X, &what, NULL, sums);
 *   }
 */

/** Which derivatives, and what `out` holds. "Block b" is columns [b D, (b+1) D) of out. L is any
 *  real function of Z. */
typedef enum mercer_derivative_kind {
  /** Block b is d^p phi(x_i), p row b of `partials`; out n x count D. */
  MERCER_DERIVATIVE_PARTIALS = 0,
  /** Block k is d phi(x_i)/dx_k; out n x d D. */
  MERCER_DERIVATIVE_GRADIENT = 1,
  /** Block k is d^2 phi(x_i)/dx_k^2; out n x d D. */
  MERCER_DERIVATIVE_HESSIAN_DIAGONAL = 2,
  /** sum_k d^2 phi(x_i)/dx_k^2, for Fourier features -||omega||^2 times the features; out n x D. */
  MERCER_DERIVATIVE_LAPLACIAN = 3,
  /** Jacobian-vector product: sum_k V(i, k) d phi(x_i)/dx_k, V n x d directions; out n x D. */
  MERCER_DERIVATIVE_JVP = 4,
  /** Vector-Jacobian product: dL/dX(i, k) = sum_j V(i, j) d phi_j(x_i)/dx_k, V = dL/dZ, n x D; for
   *  a complex map n x 2 D numbers, dL/dRe and dL/dIm in turn. out n x d, real. */
  MERCER_DERIVATIVE_VJP = 5,
  /** The same for the kernel's lengthscales: dL/d log l_k = -sum_i X(i, k) dL/dX(i, k), V as for
   *  VJP; for nystroem also through the root of the landmarks' kernel matrix, the landmarks held
   *  fixed; for polynomial kernels dL/d log gamma and dL/d log offset. out 1 x d for a kernel of d
   *  lengthscales, 1 x 1 for one, 1 x 2 for a polynomial kernel, real. The forward derivative
   *  along t in log l is, for a map of x/l, the JVP with V(i, k) = -X(i, k) t_k; nystroem and
   *  exact have none. */
  MERCER_DERIVATIVE_LOG_LENGTHSCALE = 6
} mercer_derivative_kind;

/** What is asked for. 96 bytes. */
typedef struct mercer_derivative {
  uint32_t struct_size;    /**< [0] sizeof(mercer_derivative). */
  int32_t kind;            /**< [4] mercer_derivative_kind. */
  int64_t count;           /**< [8] PARTIALS: multi-indices; else 0. */
  const int32_t* partials; /**< [16] PARTIALS: count x d orders >= 0, row-major; else NULL. */
  mercer_rows vectors;     /**< [24] JVP, VJP, LOG_LENGTHSCALE: V; else zeros. */
} mercer_derivative;

/** Derivatives of the features of rows. Supported maps, orders and costs: "Derivatives of features"
 *  in GUIDE.md.
 *  Shapes: X n x d, what->vectors of X's precision, dense or CSR (made dense); out as
 *  mercer_derivative_kind says, of X's precision, complex for a complex map unless stated
 *  otherwise; maps of p outputs have p rows for each row of X. |p| <= 32. A row of out depends on
 *  its row of X and V alone, bit for bit (LOG_LENGTHSCALE sums over rows, in double, in their
 *  order); where x_i holds a NaN, every number of row i of out is NaN.
 *  Errors: MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (a map without derivatives of this order;
 *  too many terms; LOG_LENGTHSCALE of features that do not depend on x/l alone).
 *  Cost: one or two projections of X, the frequencies, and out. */
MERCER_API mercer_status mercer_map_derivative(const mercer_map* map, mercer_rows X,
                                               const mercer_derivative* what,
                                               mercer_context* context, mercer_matrix out);

/* ==== Derivatives of kernels ====
 *
 * Example: the mixed derivatives of the kernel in the first entry of x and the second of y.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   int32_t p[] = {1, 0, 0};
 *   int32_t q[] = {0, 1, 0};
 *   mercer_matrix K = mercer_matrix_f64(n, n, k);
 *   mercer_status status = mercer_kernel_derivative(kernel, X, X, p, q, NULL, K);
 */

/** K(i, j) = d^{p,q} k(X_i, Y_j), exact: of order p_k in entry k of x, q_k in entry k of y.
 *  Supported kernels and orders: "Derivatives of kernels" in GUIDE.md.
 *  Shapes: X n x d, Y m x d, dense or CSR (made dense); p and q: d orders >= 0 each, |p| and |q| at
 *  most 32, NULL for 0; K n x m, F32 or F64, computed in double.
 *  Errors: MERCER_DIMENSION_MISMATCH (columns of Y, shape of K, ARD count), MERCER_UNSUPPORTED (a
 *  kernel without derivatives of this order; optical or a product with prod_k (p_k + 1) (q_k + 1) >
 *  1,024).
 *  Cost: O(n m d), for a product times the squared number of orders up to p and q, for optical
 *  times that number, its exponent and |p| + |q|. */
MERCER_API mercer_status mercer_kernel_derivative(const mercer_kernel* kernel, mercer_rows X,
                                                  mercer_rows Y, const int32_t* p, const int32_t* q,
                                                  mercer_context* context, mercer_matrix K);

/* ==== Learning from derivatives, and derivatives of models ====
 *
 * Example: a model fitted to n values y and their slopes dy in the first input at the same rows,
 * and the gradient of its predictions there.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_rows dY = mercer_rows_f64(n, 1, dy);
 *   int32_t first[] = {1, 0, 0};
 *   mercer_observations sets[] = {mercer_observations_of(NULL, 1.0, X, Y),
 *                                 mercer_observations_of(first, 0.5, X, dY)};
 *   mercer_model* model = NULL;
 *   mercer_data data = {.struct_size = sizeof data, .sets = sets, .set_count = 2, .map = map};
 *   mercer_status status = mercer_model_fit("{\"lambda\":1e-6}", &data, NULL, &model);
 *   mercer_matrix gradient = mercer_matrix_f64(n, d, g);
 *   if (status == MERCER_OK)
 *     status = mercer_model_predict(model, X, "gradient", NULL, NULL, gradient);
 */

/* Fitting sets of mercer_data has no preparation: the map reads X as it is. The minimised loss, and
 * lambda by folds where it is left out: "Derivatives" in GUIDE.md. */

#ifdef __cplusplus
}
#endif
#endif
