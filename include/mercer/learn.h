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
/** Adds, or removes again, the rows of a block: Z is n x D, Y is n x m in double. Sums are in
 * double and kept about a row of the data's own, so that features and targets far from zero (up to
 * 1e10 deviations) lose no digits when a fit is centred. NaN, Inf and numbers beyond 1e150, whose
 * squares overflow, are MERCER_INVALID_ARGUMENT naming row and column; nothing is added then.
 * context may be NULL. */
MERCER_API mercer_status mercer_statistics_add_f32(mercer_statistics* statistics, int64_t n,
                                                   const float* Z, int64_t ldz, const double* Y,
                                                   int64_t ldy, mercer_context* context);
MERCER_API mercer_status mercer_statistics_add_f64(mercer_statistics* statistics, int64_t n,
                                                   const double* Z, int64_t ldz, const double* Y,
                                                   int64_t ldy, mercer_context* context);
MERCER_API mercer_status mercer_statistics_remove_f32(mercer_statistics* statistics, int64_t n,
                                                      const float* Z, int64_t ldz, const double* Y,
                                                      int64_t ldy, mercer_context* context);
MERCER_API mercer_status mercer_statistics_remove_f64(mercer_statistics* statistics, int64_t n,
                                                      const double* Z, int64_t ldz, const double* Y,
                                                      int64_t ldy, mercer_context* context);
/** statistics += other, resp. -= other: partial fits of several machines add up. Errors:
 * MERCER_DIMENSION_MISMATCH. */
MERCER_API mercer_status mercer_statistics_merge(mercer_statistics* statistics,
                                                 const mercer_statistics* other);
MERCER_API mercer_status mercer_statistics_subtract(mercer_statistics* statistics,
                                                    const mercer_statistics* other);
MERCER_API mercer_status mercer_statistics_shape(const mercer_statistics* statistics, int64_t* n,
                                                 int64_t* D, int64_t* m);
/** Copies out the sums (about zero, as the formulas say); any pointer may be NULL. gram: D x D
 * (both triangles), cross: D x m, sum_z: D, sum_y, sum_y2: m. */
MERCER_API mercer_status mercer_statistics_get_f64(const mercer_statistics* statistics,
                                                   double* gram, int64_t ldg, double* cross,
                                                   int64_t ldc, double* sum_z, double* sum_y,
                                                   double* sum_y2);
MERCER_API void mercer_statistics_free(mercer_statistics* statistics);

/* ---- Ridge: every lambda from one eigendecomposition ---- */

typedef struct mercer_ridge mercer_ridge;

/** Decomposes a copy of the statistics' Gram matrix, O(D^3). center != 0: features and outputs are
 * centred and an intercept fitted. */
MERCER_API mercer_status mercer_ridge_create(const mercer_statistics* statistics, int32_t center,
                                             mercer_context* context, mercer_ridge** out);
/** The same from statistics that are given up: *statistics is freed and set to NULL (on failure
 * too, unless an argument was refused), peak memory stays below 3 x 8 D^2 bytes. */
MERCER_API mercer_status mercer_ridge_create_consuming(mercer_statistics** statistics,
                                                       int32_t center, mercer_context* context,
                                                       mercer_ridge** out);
/** Rows the statistics held, features D and outputs m, which fix the sizes of the arrays below; any
 * pointer may be NULL. */
MERCER_API mercer_status mercer_ridge_shape(const mercer_ridge* ridge, int64_t* n, int64_t* D,
                                            int64_t* m);
/** w: D x m, intercept: m (zeros without centring; may be NULL). lambda >= 0. O(D^2 m). */
MERCER_API mercer_status mercer_ridge_solve_f64(const mercer_ridge* ridge, double lambda, double* w,
                                                int64_t ldw, double* intercept);
/** Tr H, H = Z(Z'Z + n lambda I)^{-1}Z' (plus one for the intercept when centred). */
MERCER_API mercer_status mercer_ridge_effective_dimension(const mercer_ridge* ridge, double lambda,
                                                          double* dimension);
/** gcv[m]: n RSS/(n - Tr H)^2 per output. */
MERCER_API mercer_status mercer_ridge_gcv_f64(const mercer_ridge* ridge, double lambda,
                                              double* gcv);
/** error[m]: mean squared error on held-out rows given as statistics. */
MERCER_API mercer_status mercer_ridge_held_out_error_f64(const mercer_ridge* ridge, double lambda,
                                                         const mercer_statistics* held_out,
                                                         double* error);
/** residuals (n x m): (y - Zw)_i/(1 - H_ii) of training rows; n lambda stays fixed when a row is
 * left out. */
MERCER_API mercer_status mercer_ridge_leave_one_out_f64(const mercer_ridge* ridge, double lambda,
                                                        int64_t n, const double* Z, int64_t ldz,
                                                        const double* Y, int64_t ldy,
                                                        double* residuals, int64_t ldr);
MERCER_API void mercer_ridge_free(mercer_ridge* ridge);

/** One lambda without a decomposition: by Cholesky from statistics; by the dual n x n system from
 * rows (for n < D). */
MERCER_API mercer_status mercer_ridge_cholesky_f64(const mercer_statistics* statistics,
                                                   int32_t center, double lambda,
                                                   mercer_context* context, double* w, int64_t ldw,
                                                   double* intercept);
MERCER_API mercer_status mercer_ridge_dual_f64(int64_t n, int64_t D, const double* Z, int64_t ldz,
                                               int64_t m, const double* Y, int64_t ldy,
                                               int32_t center, double lambda,
                                               mercer_context* context, double* w, int64_t ldw,
                                               double* intercept);
/** K-fold: folds[k] are the statistics of fold k's rows; error (lambdas x m): mean over all rows of
 * the squared error when each fold is predicted by the fit on the others (with their own n). */
MERCER_API mercer_status mercer_ridge_kfold_f64(int64_t fold_count,
                                                const mercer_statistics* const* folds,
                                                int32_t center, int64_t lambda_count,
                                                const double* lambdas, mercer_context* context,
                                                double* error, int64_t lde);

/* ---- Models: standardise, map, ridge ---- */

typedef struct mercer_model mercer_model;

typedef enum mercer_task { MERCER_TASK_REGRESSION = 0, MERCER_TASK_CLASSIFICATION = 1 } mercer_task;

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

/** Regression: X is n x d, Y is n x m, n >= 2. The map is shared, not copied, and may be freed.
 * Memory O(D^2) plus a block of rows; n < D uses the dual form (n x D). NaN, Inf and numbers
 * beyond 1e150 in X or Y are MERCER_INVALID_ARGUMENT naming row and column. context may be NULL. */
MERCER_API mercer_status mercer_model_fit_f32(const mercer_map* map,
                                              const mercer_fit_options* options, int64_t n,
                                              const float* X, int64_t ldx, int64_t m,
                                              const double* Y, int64_t ldy, mercer_context* context,
                                              mercer_model** out);
MERCER_API mercer_status mercer_model_fit_f64(const mercer_map* map,
                                              const mercer_fit_options* options, int64_t n,
                                              const double* X, int64_t ldx, int64_t m,
                                              const double* Y, int64_t ldy, mercer_context* context,
                                              mercer_model** out);
/** Least-squares classification on one-hot codes: labels[i] in 0..K-1, K >= 2. */
MERCER_API mercer_status mercer_model_fit_classes_f32(const mercer_map* map,
                                                      const mercer_fit_options* options, int64_t n,
                                                      const float* X, int64_t ldx, int64_t K,
                                                      const int32_t* labels,
                                                      mercer_context* context, mercer_model** out);
MERCER_API mercer_status mercer_model_fit_classes_f64(const mercer_map* map,
                                                      const mercer_fit_options* options, int64_t n,
                                                      const double* X, int64_t ldx, int64_t K,
                                                      const int32_t* labels,
                                                      mercer_context* context, mercer_model** out);
/** From a spec {"model":"ridge","map":{...},"lambda":x,"standardize":b,"center":b,"task":t,
 *  "precision":"f32"|"f64"}; without "lambda" it is chosen by generalised cross-validation. Y is n
 * x m; for "classification" m = 1 and Y holds class numbers 0..K-1 (K = the largest + 1). */
MERCER_API mercer_status mercer_model_fit_spec_f64(const char* json, int64_t n, const double* X,
                                                   int64_t ldx, int64_t m, const double* Y,
                                                   int64_t ldy, mercer_context* context,
                                                   mercer_model** out);

/** scores: n x outputs: predictions, or one score per class. context may be NULL. */
MERCER_API mercer_status mercer_model_predict_f32(const mercer_model* model, int64_t n,
                                                  const float* X, int64_t ldx,
                                                  mercer_context* context, double* scores,
                                                  int64_t lds);
MERCER_API mercer_status mercer_model_predict_f64(const mercer_model* model, int64_t n,
                                                  const double* X, int64_t ldx,
                                                  mercer_context* context, double* scores,
                                                  int64_t lds);
/** Class of the largest score, the lowest on a tie. MERCER_UNSUPPORTED for regression models. */
MERCER_API mercer_status mercer_model_classify_f32(const mercer_model* model, int64_t n,
                                                   const float* X, int64_t ldx,
                                                   mercer_context* context, int32_t* labels);
MERCER_API mercer_status mercer_model_classify_f64(const mercer_model* model, int64_t n,
                                                   const double* X, int64_t ldx,
                                                   mercer_context* context, int32_t* labels);

MERCER_API mercer_status mercer_model_inputs(const mercer_model* model, int64_t* d);
MERCER_API mercer_status mercer_model_outputs(const mercer_model* model,
                                              int64_t* outputs); /**< Scores per row. */
MERCER_API mercer_status mercer_model_task(const mercer_model* model, int32_t* task);
MERCER_API mercer_status mercer_model_lambda(const mercer_model* model, double* lambda);
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

typedef struct mercer_candidate {
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
} mercer_candidate;

/** Called on the calling thread after each candidate. Must not unwind. */
typedef void (*mercer_report)(void* user, const mercer_candidate* candidate);

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
  mercer_report report; /**< NULL (default): none. */
  void* user;           /**< First argument of report. */
} mercer_search_options;

MERCER_API mercer_status mercer_search_options_init(mercer_search_options* options);

/** Searches, then fits once on all rows. K = 0: regression on Y (n x m); K >= 2: classification, m
 * = 1, Y holds 0..K-1. */
MERCER_API mercer_status mercer_model_search_f32(const mercer_search_options* options, int64_t n,
                                                 int64_t d, const float* X, int64_t ldx, int64_t m,
                                                 const double* Y, int64_t ldy, int64_t K,
                                                 mercer_context* context, mercer_model** out);
MERCER_API mercer_status mercer_model_search_f64(const mercer_search_options* options, int64_t n,
                                                 int64_t d, const double* X, int64_t ldx, int64_t m,
                                                 const double* Y, int64_t ldy, int64_t K,
                                                 mercer_context* context, mercer_model** out);

/* ---- Exact kernel ridge, the reference ---- */

typedef struct mercer_exact mercer_exact;

/** alpha = (K + n lambda I)^{-1} Y on (standardised) rows; Y centred iff options->center. Uses
 * standardize, center and lambda of the options, which must say MERCER_SELECTION_FIXED. K = 0:
 * regression; K >= 2: one-hot classification, m = 1. O(n^3), 8 n^2 bytes. */
MERCER_API mercer_status mercer_exact_fit_f64(const mercer_kernel* kernel,
                                              const mercer_fit_options* options, int64_t n,
                                              int64_t d, const double* X, int64_t ldx, int64_t m,
                                              const double* Y, int64_t ldy, int64_t K,
                                              mercer_context* context, mercer_exact** out);
/** Training rows n, inputs d and outputs m, the scores per row (K of them for classes); any pointer
 * may be NULL. */
MERCER_API mercer_status mercer_exact_shape(const mercer_exact* exact, int64_t* n, int64_t* d,
                                            int64_t* m);
/** X: n x d, scores: n x m of mercer_exact_shape. */
MERCER_API mercer_status mercer_exact_predict_f64(const mercer_exact* exact, int64_t n,
                                                  const double* X, int64_t ldx,
                                                  mercer_context* context, double* scores,
                                                  int64_t lds);
MERCER_API void mercer_exact_free(mercer_exact* exact);

#ifdef __cplusplus
}
#endif
#endif
