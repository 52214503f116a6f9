/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MODEL_H
#define MERCER_MODEL_H

/* Models: preparation, map, and ridge or another loss, in one handle; w as in mercer/ridge.h. n
 * counts rows, d inputs, D features, m outputs, K classes. */

#include "mercer/data.h"
#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Fits ====
 *
 * Example: a searched and assessed fit on n rows of d floats, and predictions of the same rows.
 *
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_data data = mercer_data_of(X, Y);
 *   mercer_matrix scores = mercer_matrix_f64(n, 1, f);
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_fit("{}", &data, NULL, &model);
 *   if (status == MERCER_OK) status = mercer_model_predict(model, X, "value", NULL, NULL, scores);
 */

/** Preparation, map and weights in one handle and one file. */
typedef struct mercer_model mercer_model;

/** Fits the model that a spec describes to data. mercer_specs lists the keys, all with defaults,
 *  and "Fits" in GUIDE.md says how each choice is made. Keys left open are searched, and the
 *  result is scored on rows that no choice has seen ("report" of mercer_model_text). {"search":
 *  false} and a map of the caller's (data->map) choose only lambda, by "select";
 *  "kernel_pca" and "density" take no data->Y.
 *  Shapes: mercer_data. Random: "seed" fixes map, splits and samples.
 *  Errors: MERCER_INVALID_ARGUMENT (a key or value, by its path; rows, targets, classes or weights,
 *  by row and column), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (keys that do not go together,
 *  sparse rows to centre), MERCER_NOT_CONVERGED,
 *  MERCER_NOT_POSITIVE_DEFINITE, MERCER_IO (a source's callback). Any number at once. Cost: n (map +
 *  D^2) + D^3 and O(D^2) bytes, n^2 D if n < D; a search of 10,000 rows five times that, of
 *  5,000 ten, of up to 1,000 twenty-five to forty times. */
MERCER_API mercer_status mercer_model_fit(const char* json, const mercer_data* data,
                                          mercer_context* context, mercer_model** out);

/** A new model: that of the rows of a model "ridge" or "gp" fitted with {"keep": "sums"}, and of
 *  rows in memory that are added or taken away. Keys of json: "decay", a number in (0, 1] by which
 *  weights of rows before are multiplied (default 1); "remove", true to take the rows of data away,
 *  with the weights that they have by now. Map, preparation and calibration of classes stay. With a
 *  given lambda values are those of a fit of all rows with these weights, up to rounding; variances
 *  of "gp" are of as many rows as the weights, in units of the fit's mean weight, add up to. A
 *  chosen lambda is chosen again where they add up to 10 D, by the evidence if it was before, else
 *  by generalised cross-validation; else n lambda stays.
 *  Errors: MERCER_UNSUPPORTED (no sums, data other than rows), MERCER_INVALID_ARGUMENT (rows as in
 *  fits; rows removed that the model does not hold, or all but a millionth of its weight),
 *  MERCER_DIMENSION_MISMATCH. Threads: any number at once. Cost: n D^2 + D^3, 8 D^2 bytes. */
MERCER_API mercer_status mercer_model_update(const mercer_model* model, const char* json,
                                             const mercer_data* data, mercer_context* context,
                                             mercer_model** out);

/** Handling of inputs outside the range of the training rows; in a regression of fewer than 100
 *  rows CLIP takes that of 100 normal rows. */
typedef enum mercer_extrapolation {
  /** In predictions: as the model was fitted. In fits: clip. */
  MERCER_EXTRAPOLATION_DEFAULT = 0,
  /** It is moved to the nearer end of its range. Predictions of a regression are limited to the
   *  range of the training targets widened by half of it on either side (of the log means of loss
   *  poisson: to the logs of that). */
  MERCER_EXTRAPOLATION_CLIP = 1,
  /** Inputs and predictions stay as they are. */
  MERCER_EXTRAPOLATION_FREE = 2,
  /** MERCER_INVALID_ARGUMENT naming row, input, value and range. */
  MERCER_EXTRAPOLATION_REFUSE = 3
} mercer_extrapolation;

/** Options of a prediction, and where to write what was met. 96 bytes. */
typedef struct mercer_predict_options {
  uint32_t struct_size;         /**< [0] sizeof(mercer_predict_options). */
  int32_t extrapolation;        /**< [4] mercer_extrapolation. */
  int64_t* rows_outside;        /**< [8] Rows with an input outside its training
                                     range. This and the next three may be NULL. -1 if a file
                                     of an earlier version has no ranges. */
  int64_t* values_outside;      /**< [16] Such inputs, over all rows. */
  int64_t* inputs_outside;      /**< [24] d numbers: rows in which each input was outside. */
  int64_t* predictions_limited; /**< [32] Predictions limited to the range of the targets. */
  int64_t partial_count;        /**< [40] Rows of "partials". */
  const int32_t* partials;      /**< [48] partial_count x d orders >= 0, row-major. */
  int64_t quantile_count;       /**< [56] Length of "quantiles". */
  const double* quantiles;      /**< [64] Levels between 0 and 1. */
  int64_t sample_count;         /**< [72] Number of draws for "sample". */
  uint64_t seed;                /**< [80] Of these draws. */
  int64_t* columns;             /**< [88] NULL, or receives the columns of `what`; with an out of
                                     all zeros only that. */
} mercer_predict_options;

/* What to predict for each row of X: NULL or
 *    "value"             predictions, one score for each class, or log p of a model "density"
 *    "class"             the class of the largest score, the lowest on a tie; F32, F64 or I32
 *    "probability"       of each class ("Probabilities" in GUIDE.md)
 *    "prepared"          inputs as they are, made those of the map
 *    "latent_mean", "latent_variance"
 *                        of each process of a model "gp", "dirichlet" or "svgp", at inputs as
 *                        they are
 *    "predictive_variance"
 *                        of model "gp": of a new target of the mean weight, with its noise
 *    "gradient_variance" of each number of "gradient"
 *    "quantile"          of new targets, for each output quantile_count numbers about "value"
 *    "covariance"        of the m values, m x m numbers
 *    "joint_covariance"  of the values of all rows, for each row X_j m x m numbers
 *    "sample"            sample_count draws of the m values; a draw is one function: number s
 *                        depends on seed and s alone, of map "exact" on the rows before, too
 *    "preimage"          of a model "kernel_pca" fitted with "preimages": the row that its
 *                        components, which are its values, stand for
 *    "divergence", "curl", "potential", "stream"
 *                        of a field, in the inputs' own units, at inputs as they are
 *    "gradient", "hessian_diagonal", "laplacian", "partials"
 *                        derivatives of the values in the inputs' own units, derivative b of output
 *                        o at b m + o, in the order of mercer_derivative_kind */

/** Predicts `what` for each row: values at inputs clipped as mercer_extrapolation says, derivatives
 *  at the inputs given. "gradient" is the only derivative where inputs are transformed or rows made
 *  unit; it is 0 where a NaN is filled, and at a level of ranked inputs the slope between its
 *  neighbours.
 *  Shapes: X n x d, dense or CSR; out n x columns, F32 or F64; options may be NULL.
 *  Errors: MERCER_UNSUPPORTED (a `what` that this model does not have, naming those it has;
 *  clipping without ranges), MERCER_DIMENSION_MISMATCH, MERCER_INVALID_ARGUMENT (an input outside
 *  its range with REFUSE, or outside the kernel's domain, by row and column; for "class" also NaN
 *  and Inf). Otherwise NaN affects its own row only. Cost: n (map + D m); a gradient two
 *  projections. */
MERCER_API mercer_status mercer_model_predict(const mercer_model* model, mercer_rows X,
                                              const char* what,
                                              const mercer_predict_options* options,
                                              mercer_context* context, mercer_matrix out);

/** Frees a model. */
MERCER_API void mercer_model_free(mercer_model* model);

/* ==== What a model holds ====
 *
 * Example: the names of the columns, kept with the model and its file.
 *
 *   mercer_status status = mercer_model_set_metadata(model, "{\"columns\":[\"x\",\"y\"]}");
 *   mercer_model_info info = {.struct_size = sizeof info};
 *   if (status == MERCER_OK) status = mercer_model_shape(model, &info);
 */

/** What a model reads and writes. 72 bytes. */
typedef struct mercer_model_info {
  uint32_t struct_size;      /**< [0] sizeof(mercer_model_info). */
  int32_t has_probabilities; /**< [4] 1: mercer_model_predict knows "probability". */
  int64_t rows;              /**< [8] n, rows of the fit. */
  int64_t inputs;            /**< [16] d. */
  int64_t outputs;           /**< [24] m, scores of a row. */
  int64_t features;          /**< [32] D, of the map. */
  int64_t classes;           /**< [40] K; 0: a regression. */
  int32_t is_linear;         /**< [48] 1: it has weights. */
  int32_t reserved;          /**< [52] 0. */
  double penalty;            /**< [56] lambda, given or chosen. */
  int64_t weight_rows;       /**< [64] Rows of w of mercer_model_weights; 0: it has none. */
} mercer_model_info;

/** Fills in *info, reading only its struct_size. */
MERCER_API mercer_status mercer_model_shape(const mercer_model* model, mercer_model_info* info);

/** A new handle on the model's map; it may outlive the model. */
MERCER_API mercer_status mercer_model_map(const mercer_model* model, mercer_map** out);

/** The weights of the model: from features of prepared inputs to transformed targets.
 *  Shapes: w weight_rows x m: D x m, of a complex map 2 D x m, Re w and
 *  -Im w in turn; of a map of several outputs a row for each column of the map of one output z that
 *  it is made of, roots multiplied in, so that the values are z'w; of map exact of a field's kernel
 *  a row a_j for each row of the fit, and the values are sum_j K(x, x_j) a_j. intercept 1 x m.
 *  Either may be zeros.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for a model that is not linear. */
MERCER_API mercer_status mercer_model_weights(const mercer_model* model, mercer_matrix w,
                                              mercer_matrix intercept);

/** A text of a model: "spec", in canonical form; "report", JSON on what a search did and how far
 *  the model can be trusted ("Reports" in GUIDE.md), "{}" if none; "norms", {"norms":[...]} of each
 *  output in the kernel's space, of linear models; "preparation" and "numbers", how inputs and
 *  values are changed and what the map learnt; "metadata", "" if none.
 *  Errors: another word; convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_model_text(const mercer_model* model, const char* what,
                                           char* buffer, int64_t capacity, int64_t* needed);

/** Keeps any UTF-8 text of at most 1 MiB with the model and its file (names of columns,
 *  classes), replacing an earlier one. Errors: a longer text. */
MERCER_API mercer_status mercer_model_set_metadata(mercer_model* model, const char* text);

#ifdef __cplusplus
}
#endif
#endif
