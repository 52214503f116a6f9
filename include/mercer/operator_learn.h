/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_OPERATOR_LEARN_H
#define MERCER_OPERATOR_LEARN_H

/* Learning with features of several outputs, and how many of them an error takes. Source: Brault,
 * Heinonen, d'Alche-Buc, "Random Fourier features for operator-valued kernels", ACML 2016, and the
 * longer report of the same year, whose numbers of theorems are used here. d counts inputs, p
 * outputs, F frequencies, r coefficients, N rows. */

#include "mercer/base.h"
#include "mercer/map.h"
#include "mercer/operator.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Models ====
 *
 * Example: a divergence-free field from its values at n points, lambda the best of four by rows
 * held out, what it is there, and its stream function.
 *
 *   double lambdas[] = {1e-1, 1e-2, 1e-3, 1e-4};
 *   mercer_operator_fit fit = mercer_operator_fit_of(lambdas, 4);
 *   mercer_rows X = mercer_rows_f64(n, 2, x);
 *   mercer_rows Y = mercer_rows_f64(n, 2, y);
 *   mercer_operator_model* model = NULL;
 *   mercer_status status = mercer_operator_model_fit(map, &X, &Y, &fit, NULL, &model);
 *   mercer_matrix f = mercer_matrix_f64(n, 2, values);
 *   mercer_matrix psi = mercer_matrix_f64(n, 1, stream);
 *   if (status == MERCER_OK)
 *     status = mercer_operator_model_predict(model, &X, MERCER_FIELD_VALUE, NULL, &f);
 *   if (status == MERCER_OK)
 *     status = mercer_operator_model_predict(model, &X, MERCER_FIELD_STREAM, NULL, &psi);
 *   mercer_operator_model_free(model);
 */

/** A learnt function of several outputs, f(x) = Phi(x)'theta; it never changes. */
typedef struct mercer_operator_model mercer_operator_model;

/** How theta is found. */
typedef enum mercer_operator_method {
  /** STEIN where it can be, else CONJUGATE_GRADIENT for squares and LBFGS for other losses. */
  MERCER_OPERATOR_METHOD_AUTOMATIC = 0,
  /** Exact, for squares, decomposable maps and targets without gaps: phi'phi Theta B'B + N lambda
   *  Theta = phi'Y B by two eigendecompositions; O(N D^2 + D^3 + p^3), 20 D^2 bytes, 16 D^2
   *  under a cap that asks for it, with folds 8 (folds + 3) D^2; a smaller cap is
   *  MERCER_OUT_OF_MEMORY before any row is read. */
  MERCER_OPERATOR_METHOD_STEIN = 1,
  /** For squares, a product with Phi and one with its transpose per iteration. */
  MERCER_OPERATOR_METHOD_CONJUGATE_GRADIENT = 2,
  /** The same by LSQR (Paige, Saunders 1982), which loses fewer digits for small lambda. */
  MERCER_OPERATOR_METHOD_LSQR = 3,
  /** Any loss, by L-BFGS. */
  MERCER_OPERATOR_METHOD_LBFGS = 4,
  /** Averaged stochastic gradients over blocks of 64 rows, any loss of bounded curvature;
   *  most_iterations counts passes over the rows. */
  MERCER_OPERATOR_METHOD_GRADIENTS = 5
} mercer_operator_method;

/** What mercer_operator_model_fit is to do, and what it found. 128 bytes on 64-bit machines. */
typedef struct mercer_operator_fit {
  uint32_t struct_size;  /**< [0] sizeof(mercer_operator_fit). */
  int32_t method;        /**< [4] mercer_operator_method. */
  const double* lambdas; /**< [8] lambda_count numbers >= 0. */
  int64_t lambda_count;  /**< [16] At least 1; of several the best is taken. */
  const char* loss;      /**< [24] NULL: (f - y)^2 / 2; else huber, quantile, logistic,
                                squared_hinge or poisson. */
  const double* tau;     /**< [32] p shares in (0, 1), of the loss quantile; NULL: 1/2 each. NULL
                                for other losses. */
  double delta;          /**< [40] huber: where squares end; quantile: half the width that is
                                rounded; > 0. 1 for other losses. */
  int32_t separate;      /**< [48] 1: of the losses of classes every output is 0 or 1 by itself; 0:
                                a row has one class: a code of p numbers, one of them 1. 0 for
                                other losses. */
  int32_t taken;         /**< [52] Answer: the method that was taken; not read. */
  double tolerance;      /**< [56] Of residuals, relative (LSQR: or what rounding leaves); of LBFGS
                                on what a step brings, relative to the loss. 1e-8 for
                                GRADIENTS, which ends after most_iterations passes, and residual
                                says how near; it reads none. */
  int64_t most_iterations; /**< [64] >= 1. */
  uint64_t seed;           /**< [72] Of the rows held out or in folds, and of the order of
                                GRADIENTS. */
  int64_t chosen;          /**< [80] Answer: which lambda, from 0. */
  double error;            /**< [88] Answer: its squared error (other losses: loss) per observed
                                target that was left out; 0 for one lambda without
                                folds. */
  int64_t iterations;      /**< [96] Answer: in all; of GRADIENTS blocks of rows; 0 of STEIN. */
  double residual;         /**< [104] Answer: of the normal equations, relative to Phi'y; LBFGS and
                                GRADIENTS: the largest entry of the gradient; 0 of STEIN. */
  double squared_norm;     /**< [112] Answer: |theta|^2, the squared norm of f. */
  int32_t intercept;       /**< [120] 1: each output's mean over its observed targets is taken off
                                before theta is learnt, and f has it on top: squares, huber and
                                quantile. A constant field has neither curl nor divergence, so
                                that fields stay what they are. 0: none. */
  int32_t folds;           /**< [124] Of several lambdas STEIN: 0: by leave-one-out; 2 to N: by as
                                many folds of rows, drawn by seed, which score one lambda as
                                well. 0 for other methods. */
} mercer_operator_fit;

/** Squares by the automatic method, to a residual of 1e-8. */
static inline mercer_operator_fit mercer_operator_fit_of(const double* lambdas, int64_t count) {
  mercer_operator_fit fit = {
      sizeof(mercer_operator_fit), 0, 0, 0, 0, 0, 1, 0, 0, 1e-8, 1000, 0, 0, 0, 0, 0, 0, 0, 0};
  fit.lambdas = lambdas;
  fit.lambda_count = count;
  return fit;
}

/** The theta that minimises (1/N) sum_i sum over observed outputs k of loss(f_k(x_i), y_ik)
 *  + lambda/2 |theta|^2 for f(x) = Phi(x)'theta; N counts rows, whether or not all their outputs
 *  were observed; with an intercept f is the targets' means on top of it. NaN in Y: not observed.
 *  Of several lambdas STEIN takes the one of least leave-one-out error, in closed form, or, with
 *  folds, of least error of rows predicted by a fit on the other folds at their own N, from sums
 *  of the folds (8 D^2 bytes and D^3 each); other methods the one of least loss on a fifth of the
 *  rows in which something was observed, chosen by seed, N lambda kept, from the largest lambda
 *  down to the first that does not converge. Rows left out have no part in the means either that
 *  predict them.
 *  Shapes: X N x d and Y N x p, dense or CSR (made dense), F32 or F64. Computed in double.
 *  Random: rows held out or in folds, and the order of GRADIENTS; fit->seed fixes them.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_INVALID_ARGUMENT naming the field, row and column of
 *  a number that is not finite or beyond 1e150, an input outside the kernel's domain, a target that
 *  the loss has no value for, or what leaves the range of double; MERCER_UNSUPPORTED for a map of a
 *  kernel of one output and for a method that does not do for loss, map or gaps;
 *  MERCER_NOT_CONVERGED with the residual; on failure there are no answers.
 *  Threads and cost: any number at once; an iteration costs N rows of mercer_map_multiply and of
 *  its transpose. */
MERCER_API mercer_status mercer_operator_model_fit(const mercer_map* map,
                                                   const mercer_rows* X, const mercer_rows* Y,
                                                   mercer_operator_fit* fit,
                                                   mercer_context* context,
                                                   mercer_operator_model** out);

/** The numbers of `kind` (mercer_field) of f at rows: mercer_map_multiply with theta, with its
 *  shapes, errors and cost, and the intercept. Of the stream function of divergence_free, and
 *  of the potential of other maps, the intercept is a linear part, 0 at the origin. Where outputs
 *  have scales of their own (searches of Gamma), only VALUE and JACOBIAN (MERCER_UNSUPPORTED). */
MERCER_API mercer_status mercer_operator_model_predict(const mercer_operator_model* model,
                                                       const mercer_rows* X, int32_t kind,
                                                       mercer_context* context,
                                                       const mercer_matrix* out);

/** The map, which the caller frees, and theta, r x 1, F32 or F64. Each may be NULL. Offset and
 *  scale: mercer_operator_model_report. */
MERCER_API mercer_status mercer_operator_model_parts(const mercer_operator_model* model,
                                                     mercer_map** map,
                                                     const mercer_matrix* theta);

/** A model as a file, and back: the same model, to the bit. Errors: those of mercer/io.h,
 *  which has the same as bytes in memory. */
MERCER_API mercer_status mercer_operator_model_save(const mercer_operator_model* model,
                                                    const char* path);
MERCER_API mercer_status mercer_operator_model_load(const char* path, mercer_operator_model** out);

/** Frees a model. */
MERCER_API void mercer_operator_model_free(mercer_operator_model* model);

/* ==== Searches ====
 *
 * Example: the wind between stations, without sources, and how far it can be trusted.
 *
 *   mercer_operator_search search = mercer_operator_search_of(0);
 *   mercer_rows X = mercer_rows_f64(n, 2, x);
 *   mercer_rows Y = mercer_rows_f64(n, 2, y);
 *   mercer_operator_model* wind = NULL;
 *   mercer_status status = mercer_operator_model_search(
 *       "{\"kernel\":{\"kernel\":\"divergence_free\"},\"features\":100}", &X, &Y, &search, NULL,
 *       &wind);
 *   char report[20000];
 *   int64_t needed = 0;
 *   if (status == MERCER_OK)
 *     status = mercer_operator_model_report(wind, report, sizeof report, &needed);
 *   mercer_operator_model_free(wind);
 */

/** A candidate of a search, as it was tried. 56 bytes. */
typedef struct mercer_operator_candidate {
  uint32_t struct_size; /**< [0] sizeof(mercer_operator_candidate). */
  int32_t left_out;     /**< [4] 1: score by leave-one-out in closed form; 0: by a fifth of the rows
                             held out. */
  int64_t features;     /**< [8] D of the trial, columns of the map of the scalar kernel. */
  int64_t rows;         /**< [16] Learnt from. */
  double lengthscale;   /**< [24] In units of the inputs; 0: the spec's own. */
  double lambda;        /**< [32] The best for it. */
  double shape;         /**< [40] The best for it; 0 where there is none. */
  double score;         /**< [48] R^2, of all outputs together in their units. */
} mercer_operator_candidate;

/** Called on the calling thread after each candidate. It must not unwind. */
typedef void (*mercer_operator_report)(void* user, const mercer_operator_candidate* candidate);

/** What mercer_operator_model_search is to do. 104 bytes on 64-bit machines. */
typedef struct mercer_operator_search {
  uint32_t struct_size;       /**< [0] sizeof(mercer_operator_search). */
  int32_t structure;          /**< [4] Of decomposable without "gamma": mercer_structure but
                                   SIMPLEX. COVARIANCE for other maps. */
  const mercer_rows* graph;   /**< [8] Of LAPLACIAN: p x p weights; NULL for others. */
  const double* lengthscales; /**< [16] To try, in units of the inputs, > 0; NULL: searched. */
  int64_t lengthscale_count;  /**< [24] 0 for NULL; 1 keeps the one. */
  const double* lambdas;      /**< [32] To try, > 0; NULL: searched. */
  int64_t lambda_count;       /**< [40] 0 for NULL; 1 keeps the one. */
  const double* shapes;       /**< [48] To try; NULL: six to eight of the kind. */
  int64_t shape_count;        /**< [56] 0 for NULL; 1 keeps the one. */
  uint64_t seed;              /**< [64] Of rows held out, and of a spec without "seed". */
  int32_t assess;             /**< [72] 1: a score of rows that no choice has seen, where 10 rows
                                   have a target, else a warning; 0: none. */
  int32_t reserved;           /**< [76] 0. */
  const char* metadata; /**< [80] Kept with the model, up to 2^20 bytes of UTF-8; NULL: none. */
  mercer_operator_report report; /**< [88] Told each candidate; NULL: nobody. */
  void* user;                    /**< [96] Its first argument. */
} mercer_operator_search;

/** Everything searched, Gamma from the outputs' covariance, with a score. */
static inline mercer_operator_search mercer_operator_search_of(uint64_t seed) {
  mercer_operator_search search = {
      sizeof(mercer_operator_search), 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
  search.seed = seed;
  return search;
}

/** A model of squares with an intercept whose lengthscale, lambda and shape are searched.
 *  `json` is the spec of a map of a kernel of several outputs in which "map", "inputs", "features"
 *  (1024), "seed", the scalar kernel's "lengthscale" and, of decomposable, "gamma" may be left out;
 *  of fields "root" is then orthonormal. "features" counts columns of the map of the scalar kernel
 *  here, D: what is searched decides q. A lengthscale that it says is kept.
 *  Units: a lengthscale l of the search is l times the root of the inputs' mean variance for
 *  fields, one number for all axes since fields need it; for decomposable l times each input's
 *  standard deviation (inputs of 0 and 1 have 1). Rows are not centred: features know differences
 *  of rows alone. The kernel's variance is set so that K(x, x) has the mean diagonal 1, and lambda
 *  means the same for every candidate. Targets are learnt less their means, over one scale for
 *  fields and a given "gamma", over their standard deviations else; outputs that differ by rounding
 *  alone do not vary, and have no part in Gamma or score.
 *  Shape: of helmholtz without "alpha", alpha; of decomposable without "gamma", with C the
 *  correlations of the targets, L the graph's Laplacian over its mean degree and S the mean squared
 *  distances of standardised targets,
 *    COVARIANCE  (1 - w) I + w C        LAPLACIAN  (I + w L)^-1        SIMILARITY  exp(-w S),
 *  w in [0, 1], resp. >= 0; w = 0 (SIMILARITY: large) is outputs each by itself; one output has
 *  none. NaN in Y: not observed; rows in which nothing was are left out, C and S are of pairs that
 *  were observed together (in part of the rows: others count as uncorrelated), and negative
 *  eigenvalues become 0.
 *  Choice: least squared error, by leave-one-out in closed form where the map is decomposable and
 *  no target is missing, or the smaller of coefficients and targets is at most 1,300; else on a
 *  fifth of the rows, about means, scales and Gamma of all rows of the choice. Lengthscales by a
 *  walk from the rows' median distance, the same draws for all, with up to 4,000 rows; lambda again
 *  with all rows and features.
 *  Score: R^2 of rows that no choice has seen (up to 400 rows: five folds, each with a search of
 *  its own; else a fifth, above 5,000 a tenth, which is learnt from afterwards), beside those of
 *  outputs each by itself, searched the same way, and of their means. Warnings: a choice at an edge
 *  of what was tried, a score that does not beat those. All in mercer_operator_model_report.
 *  Shapes: X N x d and Y N x p, dense or CSR (made dense), F32 or F64. Computed in double.
 *  Random: the map, fixed by the "seed" of json or else search->seed; the rows held out, by the
 *  latter.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, field, row or column, among them a "variance" of the
 *  kernel, or a pair or an output without targets that COVARIANCE or SIMILARITY asks for;
 *  MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for another structure than COVARIANCE beside
 *  "gamma" or a field; MERCER_NOT_CONVERGED; MERCER_OUT_OF_MEMORY; MERCER_CANCELLED.
 *  Threads and cost: any number at once; about ten fits for the choice, twenty more for a score
 *  (nested: a hundred).
 */
MERCER_API mercer_status mercer_operator_model_search(const char* json, const mercer_rows* X,
                                                      const mercer_rows* Y,
                                                      const mercer_operator_search* search,
                                                      mercer_context* context,
                                                      mercer_operator_model** out);

/** What is known of a model, as JSON: {"spec":{"model","loss","lambda","rows","map":{...}},
 *  "inputs","outputs","coefficients","offset","scale","metadata","report":{"chosen":{...},
 *  "score":{"kind","measure","rows","value","standard_error","constant","independent"},
 *  "trials":[...],"warnings":[...]}}; rows are N; offset, scale, metadata and report where there
 *  are any. f = offset + scale Phi'theta, output by output; mercer/operator_analysis.h is of
 *  Phi'theta, and of targets less offset over scale. kind: none, nested or unseen; what is not
 *  known is null.
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_operator_model_report(const mercer_operator_model* model,
                                                      char* buffer, int64_t capacity,
                                                      int64_t* needed);

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

#ifdef __cplusplus
}
#endif
#endif
