/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_LEARN_H
#define MERCER_LEARN_H

/* Learning with features: row statistics, ridge over a path of lambda, models (standardise, map,
 * ridge), search, and exact kernel ridge as the reference. w = (Z'Z + n lambda I)^{-1} Z'Y: lambda
 * is per row. n counts rows, d inputs, D features, m outputs, K classes. */

#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Row statistics: Z'Z, Z'Y, n, sums ====
 *
 * Memory O(D^2), never n x D. Nothing is random.
 *
 * Example: two blocks of rows, of 100 features and one target each.
 *
 *   mercer_statistics* statistics = NULL;
 *   mercer_status status = mercer_statistics_create(100, 1, &statistics);
 *   for (int block = 0; block < 2 && status == MERCER_OK; ++block) {
 *     mercer_rows Z = mercer_rows_f32(n, 100, z[block]);
 *     mercer_rows Y = mercer_rows_f64(n, 1, y[block]);
 *     status = mercer_statistics_add(statistics, &Z, &Y, NULL);
 *   }
 */

/** Sums over rows. Not for use by several threads at once while it changes. */
typedef struct mercer_statistics mercer_statistics;

/** All-zero statistics of D >= 1 features and m >= 0 outputs. */
MERCER_API mercer_status mercer_statistics_create(int64_t D, int64_t m, mercer_statistics** out);

/** Adds, or removes again, the rows of a block. Sums are in double and kept about a row of the
 *  data's own, so that features up to 1e8 and targets up to 1e10 deviations from zero lose no
 *  digits when a fit is centred. What far rows cost in digits while they were present does not come
 *  back when they are removed.
 *  Shapes: features Z n x D, targets Y n x m, dense or CSR (sparse blocks are made dense 1,024 rows
 *  at a time); Y may be NULL if m = 0.
 *  Errors: MERCER_INVALID_ARGUMENT (NaN, Inf and numbers beyond 1e150, whose squares overflow,
 *  naming row and column; removing more rows than there are), MERCER_DIMENSION_MISMATCH; nothing is
 *  added then. After MERCER_CANCELLED the rows in front of some multiple of 1,024 have been, as
 *  mercer_statistics_shape says.
 *  Cost: O(n D (D + m)). */
MERCER_API mercer_status mercer_statistics_add(mercer_statistics* statistics, const mercer_rows* Z,
                                               const mercer_rows* Y, mercer_context* context);
MERCER_API mercer_status mercer_statistics_remove(mercer_statistics* statistics,
                                                  const mercer_rows* Z, const mercer_rows* Y,
                                                  mercer_context* context);

/** statistics += other, resp. -= other: partial fits of several machines add up.
 *  Errors: MERCER_DIMENSION_MISMATCH. Cost: D (D + m). */
MERCER_API mercer_status mercer_statistics_merge(mercer_statistics* statistics,
                                                 const mercer_statistics* other);
MERCER_API mercer_status mercer_statistics_subtract(mercer_statistics* statistics,
                                                    const mercer_statistics* other);

/** Rows n, features D and outputs m; any pointer may be NULL. */
MERCER_API mercer_status mercer_statistics_shape(const mercer_statistics* statistics, int64_t* n,
                                                 int64_t* D, int64_t* m);

/** Copies out the sums about zero.
 *  Shapes: gram D x D (both triangles), cross D x m, without gaps; sum_z: D; sum_y, sum_y2: m. Any
 *  pointer may be NULL.
 *  Errors: MERCER_UNSUPPORTED for statistics of weighted rows (of a file), whose n is not their
 *  number. */
MERCER_API mercer_status mercer_statistics_get_f64(const mercer_statistics* statistics,
                                                   double* gram, double* cross, double* sum_z,
                                                   double* sum_y, double* sum_y2);

/** The inverse: sums over n rows that were made elsewhere (an all-reduce of what _get_f64 gave,
 *  another language) in place of what the statistics held. Sums about zero have lost the digits
 *  that a mean far from zero in deviations costs: where that matters, merge statistics instead
 *  (mercer_statistics_to_bytes).
 *  Shapes: as _get_f64; of gram the lower triangle is read; arrays may be NULL if they are empty,
 *  m = 0.
 *  Errors: a number that is not finite, a negative sum of squares, n < 0, n = 0 with sums that are
 *  not 0, naming array, row and column; nothing changes then.
 *  Cost: D (D + m) numbers. */
MERCER_API mercer_status mercer_statistics_set_f64(mercer_statistics* statistics, int64_t n,
                                                   const double* gram, const double* cross,
                                                   const double* sum_z, const double* sum_y,
                                                   const double* sum_y2);

/** Frees statistics. */
MERCER_API void mercer_statistics_free(mercer_statistics* statistics);

/* ==== Ridge: every lambda from one eigendecomposition ====
 *
 * Of all in this section: lambda >= 0; center: 0 or not 0, then features and outputs are centred
 * and an intercept fitted. w is D x m, intercept m (zeros without centring), NULL where it is not
 * wanted. Nothing is random. Directions whose eigenvalue plus n lambda is below eps D times the
 * largest are dropped, so that lambda = 0 gives the weights of least norm.
 *
 * Errors: MERCER_INVALID_ARGUMENT (lambda negative or not finite, statistics of no rows or with
 * sums that are not finite), MERCER_DIMENSION_MISMATCH (features or outputs that disagree),
 * MERCER_NOT_CONVERGED (LAPACK's eigenvalues). Any number of threads may ask one decomposition at
 * once.
 *
 * Example: weights of D features and one output for the better of two lambdas by GCV.
 *
 *   mercer_ridge* ridge = NULL;
 *   mercer_status status = mercer_ridge_create(statistics, 1, NULL, &ridge);
 *   double few = 0, many = 0, intercept = 0;
 *   if (status == MERCER_OK) status = mercer_ridge_gcv_f64(ridge, 1e-6, &few, NULL);
 *   if (status == MERCER_OK) status = mercer_ridge_gcv_f64(ridge, 1e-3, &many, NULL);
 *   double lambda = few < many ? 1e-6 : 1e-3;
 *   if (status == MERCER_OK) status = mercer_ridge_solve_f64(ridge, lambda, w, 1, &intercept);
 */

/** An eigendecomposition of Z'Z; it never changes. */
typedef struct mercer_ridge mercer_ridge;

/** Decomposes a copy of the statistics' Gram matrix.
 *  Cost: O(D^3), 20 D^2 bytes, of which 8 D^2 stay. */
MERCER_API mercer_status mercer_ridge_create(const mercer_statistics* statistics, int32_t center,
                                             mercer_context* context, mercer_ridge** out);

/** Rows the statistics held, features D and outputs m, which fix the sizes of the arrays below; any
 *  pointer may be NULL. */
MERCER_API mercer_status mercer_ridge_shape(const mercer_ridge* ridge, int64_t* n, int64_t* D,
                                            int64_t* m);

/** The weights for one lambda.
 *  Shapes: w D x m, ldw >= m. Cost: O(D^2 m). */
MERCER_API mercer_status mercer_ridge_solve_f64(const mercer_ridge* ridge, double lambda, double* w,
                                                int64_t ldw, double* intercept);

/** Generalised cross-validation without the rows (Golub, Heath, Wahba 1979): n RSS/(n - Tr H)^2 for
 *  each output, infinite where the fit interpolates (n - Tr H <= 1e-8 n); and the effective
 *  dimension Tr H, H = Z(Z'Z + n lambda I)^{-1}Z' (plus one for the intercept when centred).
 *  Shapes: gcv: m; dimension: one number. Either may be NULL. Cost: O(D m). */
MERCER_API mercer_status mercer_ridge_gcv_f64(const mercer_ridge* ridge, double lambda, double* gcv,
                                              double* dimension);

/** Mean squared error on held-out rows, at least one, given as statistics.
 *  Shapes: error: m. Cost: O(D^2 m). */
MERCER_API mercer_status mercer_ridge_held_out_error_f64(const mercer_ridge* ridge, double lambda,
                                                         const mercer_statistics* held_out,
                                                         double* error);

/** What the residual of each training row would be if it were left out, (y - Zw)_i/(1 - H_ii); n
 *  lambda stays fixed then. Infinite where 1 - H_ii <= 1e-8.
 *  Shapes: Z n x D and Y n x m, dense or CSR (made dense); residuals n x m, F32 or F64.
 *  Errors: those of the section; NaN, Inf and numbers beyond 1e150.
 *  Cost: O(n D^2). */
MERCER_API mercer_status mercer_ridge_leave_one_out(const mercer_ridge* ridge, double lambda,
                                                    const mercer_rows* Z, const mercer_rows* Y,
                                                    mercer_context* context,
                                                    const mercer_matrix* residuals);

/** Frees a decomposition. */
MERCER_API void mercer_ridge_free(mercer_ridge* ridge);

/* ==== Ridge without a decomposition ====
 *
 * Arguments and errors as in the section above.
 *
 * Example: weights of n rows of more features than rows, D > n.
 *
 *   mercer_rows Z = mercer_rows_f64(n, D, z);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_matrix weights = mercer_matrix_f64(D, 1, w);
 *   double intercept = 0;
 *   mercer_status status = mercer_ridge_dual(&Z, &Y, 1, 1e-6, NULL, &weights, &intercept);
 */

/** One lambda by Cholesky of a copy of the Gram matrix.
 *  Shapes: w D x m, ldw >= m.
 *  Errors: jitter is raised up to 1e-9 of the mean diagonal, then MERCER_NOT_POSITIVE_DEFINITE
 *  names the pivot.
 *  Threads and cost: any number at once; O(D^3/3), 8 D^2 bytes. */
MERCER_API mercer_status mercer_ridge_cholesky_f64(const mercer_statistics* statistics,
                                                   int32_t center, double lambda,
                                                   mercer_context* context, double* w, int64_t ldw,
                                                   double* intercept);

/** The same from rows, for n < D, by the dual n x n system: w = Z'(ZZ' + n lambda I)^{-1} Y.
 *  Shapes: Z n x D and Y n x m, dense or CSR (made dense), n >= 1; w D x m, F32 or F64.
 *  Errors: as _cholesky; NaN, Inf and numbers beyond 1e150.
 *  Threads and cost: any number at once; O(n^2 D + n^3), 8 n^2 bytes. */
MERCER_API mercer_status mercer_ridge_dual(const mercer_rows* Z, const mercer_rows* Y,
                                           int32_t center, double lambda, mercer_context* context,
                                           const mercer_matrix* w, double* intercept);

/** K-fold cross-validation: mean over all rows of the squared error when each fold is predicted by
 *  the fit on the others (with their own n).
 *  Shapes: folds[k], k < fold_count, are the statistics of fold k's rows, at least two with rows;
 *  error lambda_count x m, lde >= m.
 *  Threads and cost: any number at once; O(fold_count D^3), 28 D^2 bytes. */
MERCER_API mercer_status mercer_ridge_kfold_f64(int64_t fold_count,
                                                const mercer_statistics* const* folds,
                                                int32_t center, int64_t lambda_count,
                                                const double* lambdas, mercer_context* context,
                                                double* error, int64_t lde);

/* ==== Models: standardise, map, ridge ====
 *
 * Example: fit on n rows of d floats, lambda by generalised cross-validation, predict the same
 * rows.
 *
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_matrix scores = mercer_matrix_f64(n, 1, f);
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_fit(map, NULL, &X, &Y, 0, NULL, &model);
 *   if (status == MERCER_OK) status = mercer_model_predict(model, &X, NULL, &scores);
 */

/** Standardisation, map and weights in one handle and one file. */
typedef struct mercer_model mercer_model;

/** How lambda is chosen. */
typedef enum mercer_selection {
  /** It is options.lambda. */
  MERCER_SELECTION_FIXED = 0,
  /** By the error on held_out_fraction of the rows, then a fit on all. */
  MERCER_SELECTION_HELD_OUT = 1,
  /** By K-fold cross-validation over `folds` folds. */
  MERCER_SELECTION_KFOLD = 2,
  /** By generalised cross-validation; the default. */
  MERCER_SELECTION_GCV = 3,
  /** By leave-one-out residuals. */
  MERCER_SELECTION_LOO = 4
} mercer_selection;

/** How a model is fitted. */
typedef struct mercer_fit_options {
  uint32_t struct_size;
  /** 0 or 1: centre and scale inputs inside the model; default 1. */
  int32_t standardize;
  /** 0 or 1: fit an intercept; default 1. */
  int32_t center;
  /** mercer_precision of the features; default F32 (statistics are always double). */
  int32_t precision;
  /** mercer_selection; default GCV. */
  int32_t selection;
  /** Must be 0. */
  int32_t reserved;
  /** For FIXED, >= 0; default 1e-6. */
  double lambda;
  /** The path of the others, geometric: its largest lambda, default 1e-1, */
  double lambda_largest;
  /** its smallest, > 0, default 1e-12, */
  double lambda_smallest;
  /** and how many, 1..1000000; default 23. */
  int64_t lambda_count;
  /** Of KFOLD, 2..1000000; default 5. */
  int64_t folds;
  /** Of HELD_OUT, in (0, 1); default 0.1. */
  double held_out_fraction;
  /** Fixes the held-out rows and the folds; default 0. */
  uint64_t seed;
} mercer_fit_options;

/** Fills in the defaults. Errors: options->struct_size not set. */
MERCER_API mercer_status mercer_fit_options_init(mercer_fit_options* options);

/** Fits on X and Y. K = 0: regression on Y; K >= 2: least-squares classification on one-hot codes,
 *  Y holds class numbers 0..K-1. The map is shared, not copied, and may be freed.
 *  Shapes: X n x d, n >= 2, dense or CSR, F32 or F64; sparse rows are standardised by scaling
 *  alone, so that they stay sparse, and are read at the cost of their non-zeros where the map does.
 *  Y n x m, m = 1 for classes, any rows; it is widened to dense doubles. options may be NULL.
 *  Random: held-out rows and folds; options->seed fixes them. Numbers that the map draws: its own
 *  seed.
 *  Errors: MERCER_INVALID_ARGUMENT (NaN, Inf and numbers beyond 1e150 in X or Y, a class out of
 *  range, naming row and column), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (a complex map).
 *  Threads and cost: any number at once; n (map + D^2) + D^3, memory O(D^2) plus a block of rows;
 *  n < D uses the dual form (n x D). */
MERCER_API mercer_status mercer_model_fit(const mercer_map* map, const mercer_fit_options* options,
                                          const mercer_rows* X, const mercer_rows* Y, int64_t K,
                                          mercer_context* context, mercer_model** out);

/** The same from a spec
 *  {"model":"ridge","map":{...},"lambda":x,"standardize":b,"center":b,"task":t,
 *  "precision":"f32"|"f64"}; without "lambda" it is chosen by generalised cross-validation. For the
 *  task "classification" m = 1 and Y holds class numbers 0..K-1 (K = the largest + 1).
 *  Random: what the map draws; its "seed" fixes it.
 *  Errors: those of mercer_model_fit and mercer_map_from_spec. */
MERCER_API mercer_status mercer_model_fit_spec(const char* json, const mercer_rows* X,
                                               const mercer_rows* Y, mercer_context* context,
                                               mercer_model** out);

/** scores = standardised rows, mapped, times weights: predictions, or one score per class.
 *  Shapes: X n x d, dense or CSR, whatever the model was fitted on; scores n x outputs, F32 or F64.
 *  Errors: MERCER_DIMENSION_MISMATCH. NaN, Inf and inputs that overflow the features' precision are
 *  none: they give NaN in their row alone.
 *  Threads and cost: any number at once; n (map + D m). */
MERCER_API mercer_status mercer_model_predict(const mercer_model* model, const mercer_rows* X,
                                              mercer_context* context, const mercer_matrix* scores);

/** labels[i]: class of the largest score of row i, the lowest on a tie.
 *  Shapes: X n x d, dense or CSR; labels: n.
 *  Errors: NaN, Inf and numbers beyond 1e150 in X, a row with a NaN score (outside the kernel's
 *  domain, say), by its number; MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (a regression).
 *  Threads and cost: as mercer_model_predict. */
MERCER_API mercer_status mercer_model_classify(const mercer_model* model, const mercer_rows* X,
                                               mercer_context* context, int32_t* labels);

/** How well predictions fit the targets Y of the same rows. K = 0: R^2 = 1 - sum_i (y_i - f_i)^2 /
 *  sum_i (y_i - mean y)^2, averaged over the outputs whose Y varies, NaN if none does. K >= 2: the
 *  accuracy, the share of rows whose class number Y(i, 0) is the column of the largest of K scores,
 *  the lowest on a tie; numbers that are no class and rows with a NaN score count as wrong.
 *  Shapes: predictions n x outputs, of mercer_model_predict, mercer_kernel_ridge_predict or any
 *  other, n >= 1; Y n x outputs, or n x 1 for classes; both dense or CSR (made dense).
 *  Errors: K = 1, K < 0, no rows; MERCER_DIMENSION_MISMATCH. score is written on success alone.
 *  Threads and cost: any number at once; one pass. */
MERCER_API mercer_status mercer_prediction_score(const mercer_rows* predictions,
                                                 const mercer_rows* Y, int64_t K,
                                                 mercer_context* context, double* score);

/* ==== What a model holds ====
 *
 * Example: the names of the columns, kept with the model and its file.
 *
 *   mercer_status status = mercer_model_set_metadata(model, "{\"columns\":[\"x\",\"y\"]}");
 *   int64_t outputs = 0;
 *   double lambda = 0;
 *   if (status == MERCER_OK) status = mercer_model_shape(model, NULL, &outputs, NULL, &lambda);
 */

/** d inputs; outputs: scores per row; K classes, 0 for a regression; lambda: the one given or
 *  chosen. Any pointer may be NULL. */
MERCER_API mercer_status mercer_model_shape(const mercer_model* model, int64_t* d, int64_t* outputs,
                                            int64_t* K, double* lambda);

/** A new handle on the model's map; it may outlive the model. */
MERCER_API mercer_status mercer_model_map(const mercer_model* model, mercer_map** out);

/** The weights, of standardised inputs' features.
 *  Shapes: w D x outputs, ldw >= outputs; intercept: outputs. Either may be NULL. */
MERCER_API mercer_status mercer_model_weights_f64(const mercer_model* model, double* w, int64_t ldw,
                                                  double* intercept);

/** The spec of a model, in canonical form. Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_model_spec(const mercer_model* model, char* buffer,
                                           int64_t capacity, int64_t* needed);

/** Keeps any UTF-8 text of at most 1 MiB with the model and its file (names of columns and classes,
 *  say), in place of an earlier one. Errors: a longer text. */
MERCER_API mercer_status mercer_model_set_metadata(mercer_model* model, const char* text);

/** That text, "" if there is none. Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_model_metadata(const mercer_model* model, char* buffer,
                                               int64_t capacity, int64_t* needed);

/** Frees a model. */
MERCER_API void mercer_model_free(mercer_model* model);

/* ==== Rows that are not in memory ====
 *
 * Example: a fit on what two callbacks of the caller's read from `file`.
 *
 *   mercer_row_source source = {sizeof source, 0, d, 1, rewind_rows, next_rows, file};
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_fit_source(map, NULL, &source, 0, NULL, &model);
 */

/** Rows handed over block by block, as often as a fit reads them. 48 bytes on 64-bit machines. Both
 *  callbacks are called on the calling thread and must not unwind nor use the context of the call.
 *  */
typedef struct mercer_row_source {
  uint32_t struct_size;
  /** 0. */
  int32_t reserved;
  /** Inputs of a row. */
  int64_t d;
  /** Targets of a row. */
  int64_t m;
  /** Begins again at the first row. 0: done; else the call ends with MERCER_IO. */
  int32_t (*rewind)(void* user);
  /** Describes the next rows: X (n x d, dense or CSR) and Y (n x m, dense), whose arrays stay valid
   *  and unchanged until the next call; both are handed over as valid, empty views. X->n = 0: the
   *  end. 0: done; else the call ends with MERCER_IO. Some thousand rows at a time suit it best. */
  int32_t (*next)(void* user, mercer_rows* X, mercer_rows* Y);
  /** First argument of both. */
  void* user;
} mercer_row_source;

/** mercer_model_fit of rows from a source, with the same held-out rows and folds. The passes must
 *  give the same rows.
 *  Errors: as mercer_model_fit; MERCER_IO (a callback's non-zero answer), MERCER_INVALID_ARGUMENT
 *  (passes of different length, fewer than 2 rows).
 *  Threads and cost: any number at once. One pass to standardise (also without, to count), one for
 *  the statistics, one more for LOO, two or three more for each part held out of HELD_OUT and
 *  KFOLD. Memory as mercer_model_fit, plus a block of rows; what n >= D needs must be there. */
MERCER_API mercer_status mercer_model_fit_source(const mercer_map* map,
                                                 const mercer_fit_options* options,
                                                 const mercer_row_source* source, int64_t K,
                                                 mercer_context* context, mercer_model** out);

/* ==== Search for lengthscale and lambda on held-out rows ====
 *
 * Coarse to fine on a subsample with few features, the last candidates with all features, then one
 * fit on all rows.
 *
 * Example: 2,048 features of a Gaussian kernel for n rows of d doubles and one target.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_search(NULL, &X, &Y, 0, NULL, &model);
 */

/** A trial of the search, as told to report. */
typedef struct mercer_search_candidate {
  uint32_t struct_size;
  /** 0 coarse, 1 fine, 2 at the full number of features, 3 the same on all training rows: what is
   *  kept. */
  int32_t stage;
  /** D of the trial. */
  int64_t features;
  /** Rows fitted on. */
  int64_t rows;
  /** In units of the inputs after standardisation; 0 for a kernel without one. */
  double lengthscale;
  /** The best for this lengthscale. */
  double lambda;
  /** Held-out: 1 - R^2 (NaN where an output is constant on those rows), or the error rate. */
  double score;
  /** Time of the trial. */
  double seconds;
} mercer_search_candidate;

/** Called on the calling thread after each candidate. Must not unwind. */
typedef void (*mercer_search_report)(void* user, const mercer_search_candidate* candidate);

/** What is searched, and how. */
typedef struct mercer_search_options {
  uint32_t struct_size;
  /** 0 or 1: centre and scale inputs inside the model; default 1. */
  int32_t standardize;
  /** 0 or 1: fit an intercept; default 1. */
  int32_t center;
  /** mercer_precision of the features; default F32. */
  int32_t precision;
  /** D of the final map; default 2048. */
  int64_t features;
  /** > 0: fixed; 0 (default): searched. */
  double lengthscale;
  /** >= 0: fixed; negative (default -1): searched. */
  double lambda;
  /** In (0, 1); default 0.1. */
  double held_out_fraction;
  /** Of map, split and subsample; default 0. */
  uint64_t seed;
  /** Map spec without "inputs", "features" and "seed", or NULL: {"map":"fourier"}. Without "kernel"
   *  it is the map's "default_kernel" of mercer_specs, the Gaussian for fourier. The lengthscale
   *  inside, one number, is replaced unless the kernel has none. */
  const char* map;
  /** NULL (default): none. */
  mercer_search_report report;
  /** First argument of report. */
  void* user;
} mercer_search_options;

/** Fills in the defaults. Errors: options->struct_size not set. */
MERCER_API mercer_status mercer_search_options_init(mercer_search_options* options);

/** Searches, then fits once on all rows; options may be NULL.
 *  Shapes: X, Y and K as in mercer_model_fit.
 *  Random: map, held-out rows and subsample; options->seed fixes them.
 *  Errors: those of mercer_model_fit and mercer_map_from_spec; MERCER_UNSUPPORTED (a fixed
 *  lengthscale for a kernel without one).
 *  Threads and cost: any number at once; some tens of fits on at most 8,000 rows and 1,024
 *  features, a few with all features, and the last. Memory: 16 D^2 bytes plus a block of rows (n x
 *  D for n < D). */
MERCER_API mercer_status mercer_model_search(const mercer_search_options* options,
                                             const mercer_rows* X, const mercer_rows* Y, int64_t K,
                                             mercer_context* context, mercer_model** out);

/* ==== Exact kernel ridge, the reference ====
 *
 * Example: predictions of n rows by a kernel itself.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_matrix scores = mercer_matrix_f64(n, 1, f);
 *   mercer_fit_options options = {.struct_size = sizeof options};
 *   mercer_fit_options_init(&options);
 *   options.selection = MERCER_SELECTION_FIXED;
 *   mercer_kernel_ridge* fitted = NULL;
 *   mercer_status status = mercer_kernel_ridge_fit(kernel, &options, &X, &Y, 0, NULL, &fitted);
 *   if (status == MERCER_OK) status = mercer_kernel_ridge_predict(fitted, &X, NULL, &scores);
 */

/** Training rows and their weights. */
typedef struct mercer_kernel_ridge mercer_kernel_ridge;

/** alpha = (K + n lambda I)^{-1} Y on (standardised) rows; Y centred iff options->center. Uses
 *  standardize, center and lambda of the options, which must not be NULL and say
 *  MERCER_SELECTION_FIXED.
 *  Shapes: X, Y and K as in mercer_model_fit; sparse rows are made dense.
 *  Errors: those of mercer_model_fit; MERCER_NOT_POSITIVE_DEFINITE.
 *  Threads and cost: any number at once; O(n^3), 8 n^2 bytes. */
MERCER_API mercer_status mercer_kernel_ridge_fit(const mercer_kernel* kernel,
                                                 const mercer_fit_options* options,
                                                 const mercer_rows* X, const mercer_rows* Y,
                                                 int64_t K, mercer_context* context,
                                                 mercer_kernel_ridge** out);

/** scores(i, :) = k(X_i, training rows) alpha, plus the mean of Y where it was centred.
 *  Shapes: X any rows of d columns; scores n x outputs, F32 or F64; outputs: the columns of the Y
 *  fitted on, or K.
 *  Errors: MERCER_DIMENSION_MISMATCH.
 *  Threads and cost: any number at once; d multiply-adds for each pair of a row and a training row.
 *  */
MERCER_API mercer_status mercer_kernel_ridge_predict(const mercer_kernel_ridge* fitted,
                                                     const mercer_rows* X, mercer_context* context,
                                                     const mercer_matrix* scores);

/** Frees what was fitted. */
MERCER_API void mercer_kernel_ridge_free(mercer_kernel_ridge* fitted);

#ifdef __cplusplus
}
#endif
#endif
