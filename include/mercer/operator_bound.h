/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_OPERATOR_BOUND_H
#define MERCER_OPERATOR_BOUND_H

/* How near features of kernels with several outputs are to their kernel. Source: Brault, Heinonen,
 * d'Alche-Buc, "Random Fourier features for operator-valued kernels", ACML 2016, and the longer
 * report of the same year, whose numbers of theorems are used here. d counts inputs, p outputs, F
 * frequencies, N rows. */

#include "mercer/base.h"
#include "mercer/map_error.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== How many frequencies ====
 *
 * Example: frequencies of bounded curl-free features in three dimensions whose kernel is right to
 * 0.5 at once over a ball of diameter 2, but for one map in a hundred.
 *
 *   mercer_operator_bound bound = mercer_operator_bound_of(MERCER_OPERATOR_BOUND_32,
 *                                                          MERCER_BOUNDED_KERNEL_CURL_FREE, 3);
 *   bound.bounded = 1;
 *   bound.diameter = 2;
 *   bound.epsilon = 0.5;
 *   bound.delta = 0.01;
 *   mercer_status status = mercer_operator_frequencies(&bound);
 *   int64_t needed = bound.frequencies;
 */

/** Which bound of P(sup over x, z in C of |Phi(x)'Phi(z) - K(x, z)| >= epsilon). */
typedef enum mercer_operator_bound_kind {
  /** Corollary 28, decomposable: 2^8 (s g |C|/epsilon)^2 exp(-F epsilon^2/(4 g^2 (d + 2))), s^2 = E
   *  ||omega||^2, g = |Gamma|. Here (m = s g) and in 31 and 32 a ball with m |C| < epsilon counts
   *  as the larger one with m |C| = epsilon, which the proofs ask for. */
  MERCER_OPERATOR_BOUND_28 = 0,
  /** Corollary 31, A(omega) of sub-exponential norm: 12 (m |C|/epsilon) (p_int R)^{1/(d+1)}
   *  e^{-h/(d+1)}, R = 1 + 3/(e^2 log^2(1 + F e/v)), e = epsilon/2, h = F epsilon^2/(8 v (1 + 1/p))
   *  for epsilon <= (v/u)(1 + 1/p)/k, else F epsilon/(8 u k), k = log(16 sqrt 2 p u^2/v). */
  MERCER_OPERATOR_BOUND_31 = 1,
  /** Corollary 32, A(omega) bounded: 12 (m |C|/epsilon) p_int^{1/(d+1)} e^{-h/(d+1)},
   *  h = F epsilon^2/(8 (v + u epsilon/3)) for epsilon >= 2 sqrt(v/F) + 4 u/(3 F). Of GIVEN, p_int
   *  below p/2 stands here and in 47 for min(2 p_int, p/2): the report bounds the largest
   *  eigenvalue where it says the norm. */
  MERCER_OPERATOR_BOUND_32 = 2,
  /** Proposition 46: 4 (m radius/epsilon + p_int R covering e^{-h}), R and h of 31. */
  MERCER_OPERATOR_BOUND_46 = 3,
  /** Proposition 47: 4 (m radius/epsilon + p_int covering e^{-h}), h of 32. */
  MERCER_OPERATOR_BOUND_47 = 4
} mercer_operator_bound_kind;

/** What m, u, v and p_int are of: the caller's numbers, or Gaussian kernels of lengthscale
 *  sigma. */
typedef enum mercer_bounded_kernel {
  /** The caller's. */
  MERCER_BOUNDED_KERNEL_GIVEN = 0,
  /** k Gamma, |Gamma| = norm. */
  MERCER_BOUNDED_KERNEL_DECOMPOSABLE = 1,
  /** -grad grad' k. */
  MERCER_BOUNDED_KERNEL_CURL_FREE = 2,
  /** (grad grad' - Laplacian) k. */
  MERCER_BOUNDED_KERNEL_DIVERGENCE_FREE = 3
} mercer_bounded_kernel;

/** A question to mercer_operator_frequencies, and its answer. 136 bytes. */
typedef struct mercer_operator_bound {
  uint32_t struct_size; /**< [0] sizeof(mercer_operator_bound). */
  int32_t kind;         /**< [4] mercer_operator_bound_kind. */
  int32_t printed;      /**< [8] 1: as the report prints it, too small by its slips: 8 sqrt 2 for
                             12, e = epsilon, and in 32 and 47 h = F epsilon^2/(2 (v + u epsilon/3))
                             for epsilon >= sqrt(v/F) + u/(3 F); 0: corrected. */
  int32_t kernel;       /**< [12] mercer_bounded_kernel. */
  int32_t bounded;      /**< [16] 1: the bounded form of a field's features. */
  int32_t reserved;     /**< [20] 0. */
  int64_t d;            /**< [24] Inputs. */
  int64_t p;            /**< [32] Outputs; of fields d. */
  double sigma;         /**< [40] Lengthscale of a Gaussian kernel, > 0. */
  double norm;          /**< [48] |Gamma| > 0 of a decomposable kernel. */
  double diameter;      /**< [56] |C| > 0 of the ball C of inputs. */
  double epsilon;       /**< [64] > 0. */
  double delta;         /**< [72] In (0, 1): asked for where frequencies is 0; answered: the bound,
                             which is infinity where it says nothing. */
  int64_t frequencies;  /**< [80] F; 0: the least for delta, answered. */
  double m;             /**< [88] At least E ||omega|| |A(omega)|; answered but for GIVEN. 28: s. */
  double u;             /**< [96] 31, 46: at least 4 (|| |A| ||_psi1 + sup |K|); 32, 47: at least
                             sup |A| + sup |K|; answered but for GIVEN. */
  double v;             /**< [104] At least F times the largest |E (K~ - K)^2|; answered but for
                             GIVEN: |E A^2|. */
  double intrinsic;     /**< [112] p_int >= 1: of the variance's upper bound V the trace over the
                             norm; answered for fields: d. */
  double radius;        /**< [120] 46, 47: > 0. */
  double covering;      /**< [128] 46, 47: balls of that radius that cover the differences of C. */
} mercer_operator_bound;

/** A question of delta 0.01 with lengthscale, diameter, |Gamma| and p_int 1, and p = d. */
static inline mercer_operator_bound mercer_operator_bound_of(int32_t kind, int32_t kernel,
                                                             int64_t d) {
  mercer_operator_bound bound = {
      sizeof(mercer_operator_bound), 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0.01, 0, 0, 0, 0, 1, 0, 0};
  bound.kind = kind;
  bound.kernel = kernel;
  bound.d = d;
  bound.p = d;
  return bound;
}

/** The bound for F independent frequencies, or the least F for which it is at most delta. It is a
 *  guarantee: errors are usually tens of times smaller.
 *  Errors: MERCER_INVALID_ARGUMENT naming the field, or a constant that overflows;
 *  MERCER_UNSUPPORTED (unbounded fields for 32 and 47, fields for 28, more than 2^53 frequencies).
 *  On failure nothing is answered.
 *  Threads and cost: any number at once; O(1).
 *  Source: the report's section 4 and appendix B.2. */
MERCER_API mercer_status mercer_operator_frequencies(mercer_operator_bound* bound);

/* ==== How near features are to their kernel ====
 *
 * Example: how far the variances of n pairs are below their bound: never above it, and at it where
 * both rows of a pair are one.
 *
 *   mercer_rows X = mercer_rows_f64(n, 2, x);
 *   mercer_rows Z = mercer_rows_f64(n, 2, z);
 *   mercer_matrix B = mercer_matrix_f64(n, 4, bounds);
 *   mercer_status status = mercer_map_variance(map, X, Z, 0, NULL, variances);
 *   if (status == MERCER_OK) status = mercer_map_variance_bound(map, X, Z, 0, NULL, B);
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
MERCER_API mercer_status mercer_map_variance_bound(const mercer_map* map, mercer_rows X,
                                                   mercer_rows Y, int32_t printed,
                                                   mercer_context* context, mercer_matrix out);

#ifdef __cplusplus
}
#endif
#endif
