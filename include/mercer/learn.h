/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_LEARN_H
#define MERCER_LEARN_H

/* Learning with features: row statistics, ridge over a path of lambda, models (standardise, map,
 * ridge), search, and exact kernel ridge as the reference. w = (Z'Z + n lambda I)^{-1} Z'Y: lambda
 * is per row. */

#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Row statistics: Z'Z, Z'Y, n, sums; memory O(D^2), never n x D ---- */

typedef struct mercer_statistics mercer_statistics;

/** All-zero statistics of D features and m outputs (m >= 0). Not for use by several threads at
 * once. */
MERCER_API mercer_status mercer_statistics_create(int64_t D, int64_t m, mercer_statistics** out);
/** Adds, or removes again, the rows of a block: features Z (n x D) and targets Y (n x m), dense or CSR
 * (sparse blocks are made dense 1,024 rows at a time); Y may be NULL if m = 0. Sums are in double and
 * kept about a row of the data's own, so that features up to 1e8 and targets up to 1e10 deviations from
 * zero lose no digits when a fit is centred. What far rows cost in digits while they were present does
 * not come back when they are removed. context may be NULL. Errors: MERCER_INVALID_ARGUMENT
 * (NaN, Inf and numbers beyond 1e150, whose squares overflow, naming row and column; removing more rows
 * than there are), MERCER_DIMENSION_MISMATCH; nothing is added then. After MERCER_CANCELLED the rows in
 * front of some multiple of 1,024 have been, as mercer_statistics_shape says. */
MERCER_API mercer_status mercer_statistics_add(mercer_statistics* statistics, const mercer_rows* Z,
                                               const mercer_rows* Y, mercer_context* context);
MERCER_API mercer_status mercer_statistics_remove(mercer_statistics* statistics,
                                                  const mercer_rows* Z, const mercer_rows* Y,
                                                  mercer_context* context);
/** statistics += other, resp. -= other: partial fits of several machines add up. Errors:
 * MERCER_DIMENSION_MISMATCH. */
MERCER_API mercer_status mercer_statistics_merge(mercer_statistics* statistics,
                                                 const mercer_statistics* other);
MERCER_API mercer_status mercer_statistics_subtract(mercer_statistics* statistics,
                                                    const mercer_statistics* other);
MERCER_API mercer_status mercer_statistics_shape(const mercer_statistics* statistics, int64_t* n,
                                                 int64_t* D, int64_t* m);
/** Copies out the sums about zero; any pointer may be NULL. gram: D x D (both triangles), cross: D x m,
 * without gaps; sum_z: D; sum_y, sum_y2: m. */
MERCER_API mercer_status mercer_statistics_get_f64(const mercer_statistics* statistics,
                                                   double* gram, double* cross, double* sum_z,
                                                   double* sum_y, double* sum_y2);
/** The inverse: sums over n rows that were made elsewhere (an all-reduce of what _get_f64 gave, another
 * language) in place of what the statistics held. Of gram the lower triangle is read; arrays may be
 * NULL if they are empty, m = 0. Sums about zero have lost the digits that a mean far from zero in
 * deviations costs: where that matters, merge statistics instead (mercer_statistics_to_bytes). Errors:
 * MERCER_INVALID_ARGUMENT (a number that is not finite, a negative sum of squares, n < 0, n = 0 with
 * sums that are not 0), naming array, row and column; nothing changes then. Cost: D (D + m) numbers. */
MERCER_API mercer_status mercer_statistics_set_f64(mercer_statistics* statistics, int64_t n,
                                                   const double* gram, const double* cross,
                                                   const double* sum_z, const double* sum_y,
                                                   const double* sum_y2);
MERCER_API void mercer_statistics_free(mercer_statistics* statistics);

/* ---- Ridge: every lambda from one eigendecomposition ---- */

/* Of all in this section: lambda >= 0; center: 0 or not 0, then features and outputs are centred and an
 * intercept fitted. w is D x m, intercept m (zeros without centring), NULL where it is not wanted; nothing
 * is random. Directions whose eigenvalue plus n lambda is below eps D times the largest are dropped, so
 * that lambda = 0 gives the weights of least norm. Any number of threads may ask one decomposition at once.
 *  Errors: MERCER_INVALID_ARGUMENT (NULL, lambda negative or not finite, statistics of no rows or with
 * sums that are not finite), MERCER_DIMENSION_MISMATCH (features or outputs that disagree),
 * MERCER_NOT_CONVERGED (LAPACK's eigenvalues), and with a context, which may be NULL, MERCER_OUT_OF_MEMORY
 * and MERCER_CANCELLED. */

typedef struct mercer_ridge mercer_ridge;

/** Decomposes a copy of the statistics' Gram matrix: O(D^3), 20 D^2 bytes, of which 8 D^2 stay. */
MERCER_API mercer_status mercer_ridge_create(const mercer_statistics* statistics, int32_t center,
                                             mercer_context* context, mercer_ridge** out);
/** Rows the statistics held, features D and outputs m, which fix the sizes of the arrays below; any
 * pointer may be NULL. */
MERCER_API mercer_status mercer_ridge_shape(const mercer_ridge* ridge, int64_t* n, int64_t* D,
                                            int64_t* m);
/** The weights for one lambda: ldw >= m. O(D^2 m). */
MERCER_API mercer_status mercer_ridge_solve_f64(const mercer_ridge* ridge, double lambda, double* w,
                                                int64_t ldw, double* intercept);
/** Generalised cross-validation without the rows (Golub, Heath, Wahba 1979). gcv: n RSS/(n - Tr H)^2 for
 * each of the m outputs, infinite where the fit interpolates (n - Tr H <= 1e-8 n); dimension: the
 * effective one, Tr H, H = Z(Z'Z + n lambda I)^{-1}Z' (plus one for the intercept when centred). Either
 * may be NULL. O(D m). */
MERCER_API mercer_status mercer_ridge_gcv_f64(const mercer_ridge* ridge, double lambda, double* gcv,
                                              double* dimension);
/** error[m]: mean squared error on held-out rows, at least one, given as statistics. O(D^2 m). */
MERCER_API mercer_status mercer_ridge_held_out_error_f64(const mercer_ridge* ridge, double lambda,
                                                         const mercer_statistics* held_out,
                                                         double* error);
/** residuals (n x m, F32 or F64): (y - Zw)_i/(1 - H_ii) of training rows Z (n x D) and Y (n x m), dense or
 * CSR (made dense), what a row's residual would be if it were left out; n lambda stays fixed then. Infinite
 * where 1 - H_ii <= 1e-8. Refuses NaN, Inf and numbers beyond 1e150. O(n D^2). */
MERCER_API mercer_status mercer_ridge_leave_one_out(const mercer_ridge* ridge, double lambda,
                                                    const mercer_rows* Z, const mercer_rows* Y,
                                                    mercer_context* context,
                                                    const mercer_matrix* residuals);
MERCER_API void mercer_ridge_free(mercer_ridge* ridge);

/** One lambda without a decomposition, by Cholesky of a copy: O(D^3/3), 8 D^2 bytes. Jitter is raised up
 * to 1e-9 of the mean diagonal, then MERCER_NOT_POSITIVE_DEFINITE names the pivot. */
MERCER_API mercer_status mercer_ridge_cholesky_f64(const mercer_statistics* statistics,
                                                   int32_t center, double lambda,
                                                   mercer_context* context, double* w, int64_t ldw,
                                                   double* intercept);
/** The same from rows, for n < D, by the dual n x n system: Z n x D and Y n x m, dense or CSR (made dense),
 * n >= 1; w F32 or F64. Refuses NaN, Inf and numbers beyond 1e150. O(n^2 D + n^3), 8 n^2 bytes. */
MERCER_API mercer_status mercer_ridge_dual(const mercer_rows* Z, const mercer_rows* Y,
                                           int32_t center, double lambda, mercer_context* context,
                                           const mercer_matrix* w, double* intercept);
/** K-fold cross-validation: folds[k] are the statistics of fold k's rows, at least two with rows; error
 * (lambda_count x m, lde >= m): mean over all rows of the squared error when each fold is predicted by the
 * fit on the others (with their own n). O(folds D^3), 28 D^2 bytes. */
MERCER_API mercer_status mercer_ridge_kfold_f64(int64_t fold_count,
                                                const mercer_statistics* const* folds,
                                                int32_t center, int64_t lambda_count,
                                                const double* lambdas, mercer_context* context,
                                                double* error, int64_t lde);

/* ---- Models: standardise, map, ridge ---- */

typedef struct mercer_model mercer_model;

/** How lambda is chosen. */
typedef enum mercer_selection {
  MERCER_SELECTION_FIXED = 0,    /**< options.lambda. */
  MERCER_SELECTION_HELD_OUT = 1, /**< Error on held_out_fraction of the rows, then a fit on all. */
  MERCER_SELECTION_KFOLD = 2,
  MERCER_SELECTION_GCV = 3, /**< Default. */
  MERCER_SELECTION_LOO = 4
} mercer_selection;

typedef struct mercer_fit_options {
  uint32_t struct_size;
  int32_t standardize;    /**< Centre and scale inputs inside the model; default 1. */
  int32_t center;         /**< Fit an intercept; default 1. */
  int32_t precision;      /**< mercer_precision of the features; default F32 (statistics are always
                             double). */
  int32_t selection;      /**< mercer_selection; default GCV. */
  int32_t reserved;       /**< Must be 0. */
  double lambda;          /**< For FIXED; default 1e-6. */
  double lambda_largest;  /**< Path, default 1e-1. */
  double lambda_smallest; /**< Default 1e-12. */
  int64_t lambda_count;   /**< Default 23. */
  int64_t folds;          /**< Default 5. */
  double held_out_fraction; /**< In (0, 1); default 0.1. */
  uint64_t seed;            /**< Fixes the held-out rows and the folds; default 0. */
} mercer_fit_options;

MERCER_API mercer_status mercer_fit_options_init(mercer_fit_options* options);

/** Fits on X (n x d) and Y (n x m), n >= 2. K = 0: regression on Y; K >= 2: least-squares
 * classification on one-hot codes, m = 1, Y holds class numbers 0..K-1.
 *  X is dense or CSR, F32 or F64; sparse rows are standardised by scaling alone, so that they stay
 * sparse, and are read at the cost of their non-zeros where the map does. Y may be any rows, too; it is
 * widened to dense doubles. The map is shared, not copied, and may be freed. options and context may be
 * NULL. Memory O(D^2) plus a block of rows; n < D uses the dual form (n x D). Errors:
 * MERCER_INVALID_ARGUMENT (NaN, Inf and numbers beyond 1e150 in X or Y, a class out of range, naming row and column), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (a
 * complex map), MERCER_OUT_OF_MEMORY, MERCER_CANCELLED. */
MERCER_API mercer_status mercer_model_fit(const mercer_map* map, const mercer_fit_options* options,
                                          const mercer_rows* X, const mercer_rows* Y, int64_t K,
                                          mercer_context* context, mercer_model** out);
/** Rows that are not in memory: handed over block by block, as often as a fit reads them. 48 bytes on
 * 64-bit machines. */
typedef struct mercer_row_source {
  uint32_t struct_size;
  int32_t reserved; /**< 0. */
  int64_t d;        /**< Inputs of a row. */
  int64_t m;        /**< Targets of a row. */
  /** Begins again at the first row. 0: done; else the call ends with MERCER_IO. */
  int32_t (*rewind)(void* user);
  /** Describes the next rows: X (n x d, dense or CSR) and Y (n x m, dense), whose arrays stay valid and
   * unchanged until the next call; both are handed over as valid, empty views. X->n = 0: the end. 0:
   * done; else the call ends with MERCER_IO. Some thousand rows at a time suit it best. */
  int32_t (*next)(void* user, mercer_rows* X, mercer_rows* Y);
  void* user; /**< First argument of both, which are called on the calling thread and must not unwind
                 nor use the context of the call. */
} mercer_row_source;

/** mercer_model_fit of rows from a source: one pass to standardise (also without, to count), one for
 * the statistics, one more for MERCER_SELECTION_LOO, two or three more for each part held out of
 * HELD_OUT and KFOLD, which hold out the same rows as mercer_model_fit. The passes must give the same
 * rows. Memory as mercer_model_fit, plus a block of rows; what n >= D needs must be there. Errors: as
 * mercer_model_fit; MERCER_IO (a callback's non-zero answer), MERCER_INVALID_ARGUMENT (passes of
 * different length, fewer than 2 rows). */
MERCER_API mercer_status mercer_model_fit_source(const mercer_map* map,
                                                 const mercer_fit_options* options,
                                                 const mercer_row_source* source, int64_t K,
                                                 mercer_context* context, mercer_model** out);
/** From a spec {"model":"ridge","map":{...},"lambda":x,"standardize":b,"center":b,"task":t,
 *  "precision":"f32"|"f64"}; without "lambda" it is chosen by generalised cross-validation. For
 * "classification" m = 1 and Y holds class numbers 0..K-1 (K = the largest + 1). Otherwise as above. */
MERCER_API mercer_status mercer_model_fit_spec(const char* json, const mercer_rows* X,
                                               const mercer_rows* Y, mercer_context* context,
                                               mercer_model** out);

/** scores: n x outputs, F32 or F64: predictions, or one score per class. X: n x d, dense or CSR, whatever
 * the model was fitted on. NaN, Inf and inputs that overflow the features' precision give NaN in their
 * row alone. context may be NULL. */
MERCER_API mercer_status mercer_model_predict(const mercer_model* model, const mercer_rows* X,
                                              mercer_context* context,
                                              const mercer_matrix* scores);
/** labels[n]: class of the largest score, the lowest on a tie. MERCER_UNSUPPORTED for regression
 * models; NaN in X is refused. */
MERCER_API mercer_status mercer_model_classify(const mercer_model* model, const mercer_rows* X,
                                               mercer_context* context, int32_t* labels);

/** How well predictions (n x outputs, of mercer_model_predict, mercer_kernel_ridge_predict or any other)
 * fit the targets Y of the same rows, n >= 1; both dense or CSR (made dense). K = 0: R^2 = 1 - sum_i (y_i
 * - f_i)^2 / sum_i (y_i - mean y)^2, averaged over the outputs whose Y varies, NaN if none does; Y is n x
 * outputs. K >= 2: the accuracy, the share of rows whose class number Y(i, 0) is the column of the
 * largest of K scores, the lowest on a tie; numbers that are no class count as wrong. score is written on
 * success alone. context may be NULL. Errors: MERCER_INVALID_ARGUMENT (K = 1, K < 0, no rows),
 * MERCER_DIMENSION_MISMATCH. Any number of threads at once. Cost: one pass. */
MERCER_API mercer_status mercer_prediction_score(const mercer_rows* predictions,
                                                 const mercer_rows* Y, int64_t K,
                                                 mercer_context* context, double* score);

/** d inputs; outputs: scores per row; K classes, 0 for a regression; lambda: the one given or chosen.
 * Any pointer may be NULL. */
MERCER_API mercer_status mercer_model_shape(const mercer_model* model, int64_t* d,
                                            int64_t* outputs, int64_t* K, double* lambda);
/** A new handle on the model's map. */
MERCER_API mercer_status mercer_model_map(const mercer_model* model, mercer_map** out);
/** w: D x outputs, intercept: outputs; either may be NULL. */
MERCER_API mercer_status mercer_model_weights_f64(const mercer_model* model, double* w, int64_t ldw,
                                                  double* intercept);
MERCER_API mercer_status mercer_model_spec(const mercer_model* model, char* buffer,
                                           int64_t capacity, int64_t* needed);
/** Any UTF-8 text of at most 1 MiB that is kept with the model and its file (names of columns and
 * classes, say). */
MERCER_API mercer_status mercer_model_set_metadata(mercer_model* model, const char* text);
MERCER_API mercer_status mercer_model_metadata(const mercer_model* model, char* buffer,
                                               int64_t capacity, int64_t* needed);
MERCER_API void mercer_model_free(mercer_model* model);

/* ---- Search for lengthscale and lambda on held-out rows ---- */

typedef struct mercer_search_candidate {
  uint32_t struct_size;
  int32_t stage; /**< 0 coarse, 1 fine, 2 at the full number of features, 3 the same on all training
                    rows: what is kept. */
  int64_t features;
  int64_t rows;
  double
      lengthscale; /**< In units of the inputs after standardisation; 0 for a kernel without one. */
  double lambda;   /**< The best for this lengthscale. */
  double score;    /**< Held-out: 1 - R^2 (NaN where an output is constant on those rows), or the
                      error rate. */
  double seconds;
} mercer_search_candidate;

/** Called on the calling thread after each candidate. Must not unwind. */
typedef void (*mercer_search_report)(void* user, const mercer_search_candidate* candidate);

typedef struct mercer_search_options {
  uint32_t struct_size;
  int32_t standardize;      /**< Default 1. */
  int32_t center;           /**< Default 1. */
  int32_t precision;        /**< Default MERCER_PRECISION_F32. */
  int64_t features;         /**< D of the final map; default 2048. */
  double lengthscale;       /**< > 0: fixed; 0 (default): searched. */
  double lambda;            /**< >= 0: fixed; negative (default -1): searched. */
  double held_out_fraction; /**< Default 0.1. */
  uint64_t seed;            /**< Of map, split and subsample; default 0. */
  /** Map spec without "inputs", "features" and "seed", or NULL: {"map":"fourier"}. Without "kernel"
   * it is the map's "default_kernel" of mercer_specs, the Gaussian for fourier. The lengthscale
   * inside, one number, is replaced unless the kernel has none. */
  const char* map;
  mercer_search_report report; /**< NULL (default): none. */
  void* user;           /**< First argument of report. */
} mercer_search_options;

MERCER_API mercer_status mercer_search_options_init(mercer_search_options* options);

/** Searches, then fits once on all rows. X, Y and K as in mercer_model_fit. */
MERCER_API mercer_status mercer_model_search(const mercer_search_options* options,
                                             const mercer_rows* X, const mercer_rows* Y, int64_t K,
                                             mercer_context* context, mercer_model** out);

/* ---- Exact kernel ridge, the reference ---- */

typedef struct mercer_kernel_ridge mercer_kernel_ridge;

/** alpha = (K + n lambda I)^{-1} Y on (standardised) rows; Y centred iff options->center. Uses
 * standardize, center and lambda of the options, which must not be NULL and say
 * MERCER_SELECTION_FIXED. X, Y and K as
 * in mercer_model_fit; sparse rows are made dense. O(n^3), 8 n^2 bytes. */
MERCER_API mercer_status mercer_kernel_ridge_fit(const mercer_kernel* kernel,
                                                 const mercer_fit_options* options,
                                                 const mercer_rows* X, const mercer_rows* Y,
                                                 int64_t K, mercer_context* context,
                                                 mercer_kernel_ridge** out);
/** scores: rows of X x outputs, F32 or F64; outputs: the columns of the Y fitted on, or K. */
MERCER_API mercer_status mercer_kernel_ridge_predict(const mercer_kernel_ridge* fitted,
                                                     const mercer_rows* X, mercer_context* context,
                                                     const mercer_matrix* scores);
MERCER_API void mercer_kernel_ridge_free(mercer_kernel_ridge* fitted);

#ifdef __cplusplus
}
#endif
#endif
