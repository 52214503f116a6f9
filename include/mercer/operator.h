/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_OPERATOR_H
#define MERCER_OPERATOR_H

/* Operator-valued kernels, K(x, y) a p x p matrix, and their random features: for several outputs
 * that belong together, and for vector fields without sources or without vortices. Sources: Brault,
 * Heinonen, d'Alche-Buc, "Random Fourier features for operator-valued kernels", ACML 2016; Micheli,
 * Glaunes 2013. Throughout d counts inputs, p outputs, F frequencies, D = 2F scalar features, r
 * coefficients. A matrix whose rows hold several vectors of p numbers holds them one after the
 * other. */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Exact operator-valued kernels ====
 *
 * By spec {"operator":NAME,"kernel":{...},...}, k the scalar kernel, tau = x - y:
 *
 *   decomposable     k(x, y) Gamma: any k; "gamma" the rows of Gamma, p lists of p numbers (or its
 *                    p p numbers row by row in one list), positive semi-definite
 *   curl_free        -grad grad' k: gradients of potentials; p = d
 *   divergence_free  (grad grad' - Laplacian) k: fields without sources; p = d >= 2
 *   helmholtz        "alpha" (0 to 1) times curl_free plus 1 - alpha times divergence_free
 *
 * The last three are of k smooth, gaussian: with one lengthscale l they are
 *   k (I/l^2 - tau tau'/l^4)  and  k (((d - 1)/l^2 - ||tau||^2/l^4) I + tau tau'/l^4).
 *
 * Example: what two columns of coefficients make of a curl-free kernel, without its Gram matrix:
 * f(x_i) = sum_j K(x_i, x_j) u_j at the n rows themselves.
 *
 *   mercer_operator_kernel* field = NULL;
 *   mercer_status status = mercer_operator_kernel_from_spec(
 *       "{\"operator\":\"curl_free\",\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":0.7}}",
 *       &field);
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows U = mercer_rows_f64(n, 2 * d, u);
 *   mercer_matrix f = mercer_matrix_f64(n, 2 * d, values);
 *   if (status == MERCER_OK) status = mercer_operator_kernel_gram(field, &X, &X, &U, NULL, &f);
 *   mercer_operator_kernel_free(field);
 */

/** An operator-valued kernel; it never changes. */
typedef struct mercer_operator_kernel mercer_operator_kernel;

/** An operator-valued kernel from JSON, as in the list above and by `mercer specs`.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, value and what is allowed; MERCER_UNSUPPORTED for a
 *  kernel without derivatives; MERCER_NOT_POSITIVE_DEFINITE for "gamma"; MERCER_NEWER_VERSION. */
MERCER_API mercer_status mercer_operator_kernel_from_spec(const char* json,
                                                          mercer_operator_kernel** out);

/** The JSON of an operator-valued kernel, in canonical form: from it comes the same kernel.
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_operator_kernel_spec(const mercer_operator_kernel* kernel,
                                                     char* buffer, int64_t capacity,
                                                     int64_t* needed);

/** U NULL: the Gram matrix, out (n p x m p), block (i, j) = K(X_i, Y_j). Else its product with
 *  vectors, without the matrix: out row i holds sum_j K(X_i, Y_j) u_j for every vector of a row of
 *  U. Computed in double.
 *  Shapes: X n x d, Y m x d, U m x (p s), dense or CSR (made dense); out n x (p s), F32 or F64.
 *  Errors: MERCER_DIMENSION_MISMATCH (columns of Y and U, shape of out, d of another p).
 *  Threads and cost: any number at once; of the product n m (d + s p), of decomposable in blocks of
 *  2 MB that BLAS multiplies; else no thread count changes a byte. */
MERCER_API mercer_status mercer_operator_kernel_gram(const mercer_operator_kernel* kernel,
                                                     const mercer_rows* X, const mercer_rows* Y,
                                                     const mercer_rows* U, mercer_context* context,
                                                     const mercer_matrix* out);

/** Frees an operator-valued kernel. Maps made of it keep what they need. */
MERCER_API void mercer_operator_kernel_free(mercer_operator_kernel* kernel);

/* ==== Gamma: how outputs belong together ====
 *
 * Example: Gamma of the outputs' covariance, and a map of it: 512 features of n rows.
 *
 *   mercer_rows Y = mercer_rows_f64(n, p, y);
 *   mercer_matrix covariance = mercer_matrix_f64(p, p, g);
 *   mercer_status status =
 *       mercer_output_structure(MERCER_STRUCTURE_COVARIANCE, &Y, 0, NULL, &covariance);
 *   mercer_rows gamma = mercer_rows_f64(p, p, g);
 *   mercer_operator_map* map = NULL;
 *   if (status == MERCER_OK)
 *     status = mercer_operator_map_decomposable("{\"inputs\":3,\"features\":512}", kernel, &gamma,
 *                                               &map);
 *   mercer_operator_map_free(map);
 */

/** Where Gamma comes from. */
typedef enum mercer_structure {
  /** (1/n) sum_i (y_i - mean)(y_i - mean)' of `data`, n x p outputs. */
  MERCER_STRUCTURE_COVARIANCE = 0,
  /** The pseudo-inverse of the Laplacian of the graph whose weights `data` holds, p x p, symmetric,
   *  >= 0, the diagonal not read: outputs that share an edge are alike (Evgeniou, Micchelli, Pontil
   *  2005). */
  MERCER_STRUCTURE_LAPLACIAN = 1,
  /** exp(-scale ||y^k - y^l||^2), y^k column k of `data`, n x p outputs. */
  MERCER_STRUCTURE_SIMILARITY = 2,
  /** No Gamma but the T vectors that stand for T classes, out (T - 1) x T: columns of norm 1 with
   *  inner products -1/(T - 1) (Mroueh, Poggio, Rosasco, Slotine 2012); `data` is NULL. */
  MERCER_STRUCTURE_SIMPLEX = 3
} mercer_structure;

/** Gamma, p x p, or a simplex code, as `kind` says; scale is of SIMILARITY, 0 of the others.
 *  Errors: MERCER_INVALID_ARGUMENT (no rows, an output that is not finite, a weight, a graph
 *  without edges, scale <= 0 of SIMILARITY, any but 0 of another kind), MERCER_DIMENSION_MISMATCH
 *  (shape of out), MERCER_CANCELLED.
 *  Threads and cost: any number at once; n p^2, of a graph p^3. */
MERCER_API mercer_status mercer_output_structure(int32_t kind, const mercer_rows* data,
                                                 double scale, mercer_context* context,
                                                 const mercer_matrix* out);

/* ==== Random features of operator-valued kernels ====
 *
 * With frequencies omega_j and roots B_j (p x q) of A(omega_j), B_j B_j' = A(omega_j),
 *   Phi(x) y = F^{-1/2} [cos(omega_j'x) B_j'y ; sin(omega_j'x) B_j'y]_j,   r = 2 F q coefficients,
 * entry c q + b of column c of the scalar features [cos | sin]; Phi(x)'Phi(y) estimates K(x, y).
 * A is Gamma for decomposable, omega omega' for curl_free (q = 1) and ||omega||^2 I - omega omega'
 * for divergence_free ("root": "symmetric", q = p, or "orthonormal", q = p - 1); helmholtz has the
 * columns of both with the same frequencies. Phi is a linear operator: its transpose is applied to
 * coefficients, which makes a field, itself to data, and it is formed only where it is asked for.
 *
 * The spec is that of the kernel with "inputs", "features" (D, even), "seed", and "projection" with
 * its options as of the map fourier. "bounded": true draws omega from the law of the density times
 * ||omega||^2, a uniform direction of norm chi_{d+2}/l, with A of a vector of length sqrt(d)/l: a
 * smaller variance near tau = 0 and features of bounded norm; gaussian of one lengthscale,
 * projections dense, orthogonal and, for d a power of two >= 16, sorf, fastfood, circulant. Of
 * decomposable, "cutoff" leaves out pivots of the root up to that part of the largest, but for the
 * first. Fields do not take quadrature, whose weights are right for cosines alone. "radius":
 * "fixed" of sorf and fastfood biases fields by up to 4 % of K(0).
 *
 * Example: a random divergence-free field at n rows, and its divergence, which is 0 to rounding;
 * then what the transpose makes of the field.
 *
 *   mercer_operator_map* map = NULL;
 *   mercer_status status = mercer_operator_map_from_spec(
 *       "{\"operator\":\"divergence_free\",\"kernel\":{\"kernel\":\"gaussian\"},"
 *       "\"inputs\":3,\"features\":40,\"seed\":1}",
 *       &map);
 *   int64_t r = 0;
 *   if (status == MERCER_OK) status = mercer_operator_map_shape(map, NULL, NULL, NULL, &r, NULL);
 *   mercer_rows X = mercer_rows_f64(n, 3, x);
 *   mercer_rows coefficients = mercer_rows_f64(r, 1, theta);
 *   mercer_matrix f = mercer_matrix_f64(n, 3, field);
 *   mercer_matrix sources = mercer_matrix_f64(n, 1, divergence);
 *   if (status == MERCER_OK)
 *     status = mercer_operator_map_apply(map, &X, &coefficients, MERCER_FIELD_VALUE, NULL, &f);
 *   if (status == MERCER_OK)
 *     status = mercer_operator_map_apply(map, &X, &coefficients, MERCER_FIELD_DIVERGENCE, NULL,
 *                                        &sources);
 *   mercer_rows Y = mercer_rows_f64(n, 3, field);
 *   mercer_matrix back = mercer_matrix_f64(r, 1, sums);
 *   if (status == MERCER_OK) status = mercer_operator_map_adjoint(map, &X, &Y, NULL, &back);
 *   mercer_operator_map_free(map);
 */

/** Random features of an operator-valued kernel; they never change. */
typedef struct mercer_operator_map mercer_operator_map;

/** What is asked of a field f(x) = Phi(x)'theta, from the analytic derivatives of its features. All
 *  but VALUE and JACOBIAN need p = d. */
typedef enum mercer_field {
  /** p numbers. */
  MERCER_FIELD_VALUE = 0,
  /** d f_o/d x_l at o d + l: p d numbers. */
  MERCER_FIELD_JACOBIAN = 1,
  /** sum_o d f_o/d x_o: one number; of a divergence-free field 0 to rounding. */
  MERCER_FIELD_DIVERGENCE = 2,
  /** d = 2: d_1 f_2 - d_2 f_1; d = 3: the vector; else d_k f_l - d_l f_k for k < l, row by row. */
  MERCER_FIELD_CURL = 3,
  /** phi with grad phi the curl-free part of f, of mean 0 over all space: one number. */
  MERCER_FIELD_POTENTIAL = 4,
  /** d = 2: psi with (d_2 psi, -d_1 psi) the divergence-free part of f: one number. */
  MERCER_FIELD_STREAM = 5
} mercer_field;

/** A map from JSON, as in the list above and by `mercer specs`.
 *  Random: the frequencies; "seed" fixes them on every machine. A map with more features keeps the
 *  first frequencies (whole blocks of structured projections).
 *  Errors: those of mercer_operator_kernel_from_spec; MERCER_UNSUPPORTED for a projection that the
 *  kernel or "bounded" does not permit; MERCER_INVALID_ARGUMENT for an odd D.
 *  Cost: nothing; F d numbers are drawn, and kept, by the first call that needs them. */
MERCER_API mercer_status mercer_operator_map_from_spec(const char* json, mercer_operator_map** out);

/** A decomposable map: json says all but "operator", "kernel" and "gamma", and Gamma, p x p, is a
 *  matrix of any size. Otherwise as from_spec; its spec holds Gamma.
 *  Errors: those of from_spec; MERCER_DIMENSION_MISMATCH for a Gamma that is not square. */
MERCER_API mercer_status mercer_operator_map_decomposable(const char* json,
                                                          const mercer_kernel* kernel,
                                                          const mercer_rows* gamma,
                                                          mercer_operator_map** out);

/** The caller's own operator: row j of `frequencies` (F x d) is omega_j, and `roots` holds B_1 to
 *  B_F, p x q each, row by row, one after the other. All is copied; the spec says "needs":"data",
 *  and files carry the numbers.
 *  Errors: MERCER_INVALID_ARGUMENT for numbers that are not finite. */
MERCER_API mercer_status mercer_operator_map_supplied(const mercer_rows* frequencies, int64_t p,
                                                      int64_t q, const double* roots,
                                                      mercer_operator_map** out);

/** Writes B(omega), p x q, row by row; omega holds d numbers. Non-zero: stop. It must not unwind,
 *  nor use a handle of the call. */
typedef int32_t (*mercer_root)(void* user, const double* omega, double* B);

/** The caller's own A(omega) = B(omega) B(omega)' under drawn frequencies: json says "kernel"
 *  (whose spectral law they have, and amplitude), "inputs", "features", "seed", "projection" and
 *  its options as of fields, and `root` is called on the calling thread for one frequency after
 *  the other. The map is a supplied one: files carry its numbers.
 *  Errors: MERCER_UNSUPPORTED for kernels without a spectral law or that warp their inputs;
 *  MERCER_CANCELLED; those of mercer_operator_map_supplied. */
MERCER_API mercer_status mercer_operator_map_from_roots(const char* json, int64_t p, int64_t q,
                                                        mercer_root root, void* user,
                                                        mercer_operator_map** out);

/** The JSON of a map, in canonical form: from it comes the same map.
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_operator_map_spec(const mercer_operator_map* map, char* buffer,
                                                  int64_t capacity, int64_t* needed);

/** d, p, D and r of a map, and what "cutoff" left out of Gamma: the trace of Gamma - B B' over that
 *  of Gamma, 0 for other maps. Each may be NULL. */
MERCER_API mercer_status mercer_operator_map_shape(const mercer_operator_map* map, int64_t* d,
                                                   int64_t* p, int64_t* D, int64_t* r,
                                                   double* dropped);

/** out row i: the numbers of `kind` (mercer_field) of f_k = Phi(.)'theta_k at X_i, for each column
 *  theta_k of theta, one after the other.
 *  Shapes: X n x d, dense or CSR, F32 or F64; theta r x m, any of these; out n x (m numbers), of
 *  the number type of X. A row of out depends on its row of X alone, bit for bit, whatever the
 *  split of rows and the number of threads; NaN stays in its row.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for what p and d do not have and for
 *  derivatives where the kernel warps its inputs (skewed_chi2).
 *  Threads and cost: any number at once; D d + D p m a row, VALUE of decomposable D d + (D + p) q
 *  m, and D p q m once; memory: 2 MB of features, D p m numbers. */
MERCER_API mercer_status mercer_operator_map_apply(const mercer_operator_map* map,
                                                   const mercer_rows* X, const mercer_rows* theta,
                                                   int32_t kind, mercer_context* context,
                                                   const mercer_matrix* out);

/** The transpose: theta = sum_i Phi(X_i) Y_i, column k of theta for vector k of the rows of Y.
 *  Shapes: X n x d, dense or CSR, F32 or F64; Y n x (p m), dense, of the number type of X; theta
 *  r x m, F32 or F64. Sums of up to 64 rows are in the precision of X, these added in double, in an
 *  order that the number of threads does not change.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for a sparse Y or one of another number
 *  type.
 *  Threads and cost: as for mercer_operator_map_apply. */
MERCER_API mercer_status mercer_operator_map_adjoint(const mercer_operator_map* map,
                                                     const mercer_rows* X, const mercer_rows* Y,
                                                     mercer_context* context,
                                                     const mercer_matrix* theta);

/** Phi itself: row i p + o of out (n p x r) is row o of Phi(X_i)'. What apply costs D (d + p) for
 *  takes D p q here: for small maps, and to see what apply does.
 *  Shapes: X n x d, dense or CSR, F32 or F64; out F32 or F64.
 *  Errors: MERCER_DIMENSION_MISMATCH.
 *  Threads and cost: any number at once; n p r. */
MERCER_API mercer_status mercer_operator_map_matrix(const mercer_operator_map* map,
                                                    const mercer_rows* X, mercer_context* context,
                                                    const mercer_matrix* out);

/** Row i of out (n x p^2), a p x p matrix row by row: the operator variance E (K~ - K)^2 of
 *  K~ = Phi(X_i)'Phi(Y_i), a matrix square; exact for dense frequencies, and what independent
 *  frequencies would have for those that depend on each other.
 *  Shapes: X and Y n x d, dense or CSR (made dense); out F32 or F64.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for projections whose columns have weights
 *  (quadrature), circulant with a kernel that is not isotropic (such as cauchy), and supplied maps;
 *  MERCER_CANCELLED.
 *  Threads and cost: any number at once; d^3 a row by all threads, fields of other kernels than
 *  gaussian d^4 by one, decomposable p^2 by one. */
MERCER_API mercer_status mercer_operator_map_variance(const mercer_operator_map* map,
                                                      const mercer_rows* X, const mercer_rows* Y,
                                                      mercer_context* context,
                                                      const mercer_matrix* out);

/** A map as a file, and back: the same map, to the bit. Errors: those of mercer/io.h, which
 *  has the same as bytes in memory. */
MERCER_API mercer_status mercer_operator_map_save(const mercer_operator_map* map, const char* path);
MERCER_API mercer_status mercer_operator_map_load(const char* path, mercer_operator_map** out);

/** Frees a map. */
MERCER_API void mercer_operator_map_free(mercer_operator_map* map);

#ifdef __cplusplus
}
#endif
#endif
