/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MODEL_H
#define MERCER_MODEL_H

/* Models: prepare, map, and ridge or another loss, in one handle; w as in mercer/ridge.h. n counts
 * rows, d inputs, D features, m outputs, K classes. */

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
 *   if (status == MERCER_OK) status = mercer_model_predict(model, &X, NULL, NULL, &scores);
 */

/** Preparation, map and weights in one handle and one file. */
typedef struct mercer_model mercer_model;

/** Fits what a spec says to data; every key has a default, mercer_specs lists them, and
 *  capi/GUIDE.md ("Fits") says how each choice is made. What the spec gives stands, what it leaves
 *  open is searched: a lengthscale for all inputs or one for each, lambda, a transform of the
 *  inputs, of classes the estimator; the result is scored on rows that no choice has seen
 *  (mercer_model_report). {"search": false}, a map of the caller's (data->map) and a source choose
 *  lambda alone, by "select"; sets ask for "lambda" and data->map, and are not prepared.
 *  Shapes: mercer_data. Random: "seed" fixes map, splits and samples.
 *  Errors: MERCER_INVALID_ARGUMENT (a key or value, by its path; NaN but missing inputs that are
 *  filled, Inf, numbers beyond 1e150, classes, weights, inputs outside the kernel's domain, by row
 *  and column), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (keys that do not go together, a
 *  complex map, sparse rows to be centred), MERCER_NOT_CONVERGED, MERCER_NOT_POSITIVE_DEFINITE,
 *  MERCER_IO (a source's callback).
 *  Threads and cost: any number at once; without a search n (map + D^2) + D^3 and O(D^2) bytes, for
 *  n < D n^2 D; a search some ten times a part of that, up to 1,000 rows six times as often. */
MERCER_API mercer_status mercer_model_fit(const char* json, const mercer_data* data,
                                          mercer_context* context, mercer_model** out);

/** What becomes of an input outside the range of the training rows. */
typedef enum mercer_extrapolation {
  /** In predictions: what the model was fitted with. In fits: clip. */
  MERCER_EXTRAPOLATION_DEFAULT = 0,
  /** It is moved to the end of its range. Predictions of a regression are limited, too: to the
   *  range of the training targets widened by half of it on either side (of the loss poisson, whose
   *  predictions are log means, to the logs of that). */
  MERCER_EXTRAPOLATION_CLIP = 1,
  /** Nothing. */
  MERCER_EXTRAPOLATION_FREE = 2,
  /** MERCER_INVALID_ARGUMENT naming row, input, value and range. */
  MERCER_EXTRAPOLATION_REFUSE = 3
} mercer_extrapolation;

/** What a prediction is. */
typedef enum mercer_output {
  /** The scores of what was learnt: predictions, or one for each class. */
  MERCER_OUTPUT_SCORES = 0,
  /** Of a classification: p_k = softmax(a s_k + b_k) of the scores, a and b fitted on rows that the
   *  scores were not (Platt 1999; temperature scaling with biases): of a search rows held out; of a
   *  fit at most 5,000 of its rows, each scored by the fit without it (closed-form leave-one-out),
   *  and none where lambda lets it interpolate them; of "model":"logistic" rows held out, but a =
   *  1, b = 0 for the loss "logistic" where "lambda" is given; elsewhere that loss has normal
   *  priors of deviation 1/2 about a = 1, b = 0, so that few rows change little. Files of earlier
   *  versions may have none. The class of the largest probability need not be that of the largest
   *  score. */
  MERCER_OUTPUT_PROBABILITIES = 1
} mercer_output;

/** How rows are predicted, and where to write what was met. All zeros but struct_size are the
 *  defaults, so it has no init. */
typedef struct mercer_predict_options {
  uint32_t struct_size;
  /** mercer_output; of mercer_model_classify SCORES. */
  int32_t output;
  /** mercer_extrapolation; default: what the model was fitted with. */
  int32_t extrapolation;
  /** Must be 0. */
  int32_t reserved;
  /** Where to write how many rows had some input outside its training range; this and the others
   *  NULL: nowhere. -1 if the model keeps no ranges (of a file of an earlier version). */
  int64_t* rows_outside;
  /** How many inputs that were, over all rows; or -1. */
  int64_t* values_outside;
  /** d numbers: in how many rows each input was; or -1. */
  int64_t* inputs_outside;
  /** How many predictions were limited to the range of the training targets; or -1. */
  int64_t* predictions_limited;
} mercer_predict_options;

/** scores = prepared rows, mapped, times weights: predictions, or one score per class. Inputs
 *  are clipped to the range of the training rows first, unless options or the model say otherwise
 *  (mercer_extrapolation), so that no prediction runs away from the training targets; rows inside
 *  are not touched. NaN is inside.
 *  Shapes: X n x d, dense or CSR, whatever the model was fitted on; scores n x outputs, F32 or F64;
 *  options may be NULL.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_INVALID_ARGUMENT (an input outside its range where
 *  that is refused, and where nothing is clipped one outside the domain of the map's kernel, naming
 *  row, column and value); MERCER_UNSUPPORTED (clip or refuse asked of a model without ranges,
 *  probabilities of one without). NaN, and where nothing is clipped Inf and inputs that overflow
 *  the features' precision, are none: they give NaN in their row alone.
 *  Threads and cost: any number at once; n (map + D m). */
MERCER_API mercer_status mercer_model_predict(const mercer_model* model, const mercer_rows* X,
                                              const mercer_predict_options* options,
                                              mercer_context* context, const mercer_matrix* scores);

/** labels[i]: class of the largest score of row i, the lowest on a tie. Inputs and options: as in
 *  mercer_model_predict.
 *  Shapes: X n x d, dense or CSR; labels: n; options may be NULL.
 *  Errors: NaN in X, unless the model fills it, Inf and numbers beyond 1e150, a row with a NaN
 *  score (too large for the features' precision, say), by its number; inputs outside the kernel's
 *  domain as in mercer_model_predict; MERCER_DIMENSION_MISMATCH,
 *  MERCER_UNSUPPORTED (a regression).
 *  Threads and cost: as mercer_model_predict. */
MERCER_API mercer_status mercer_model_classify(const mercer_model* model, const mercer_rows* X,
                                               const mercer_predict_options* options,
                                               mercer_context* context, int32_t* labels);

/** Frees a model. */
MERCER_API void mercer_model_free(mercer_model* model);

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

/** The weights, of prepared inputs' features and transformed targets.
 *  Shapes: w D x outputs, ldw >= outputs; intercept: outputs. Either may be NULL. */
MERCER_API mercer_status mercer_model_weights_f64(const mercer_model* model, double* w, int64_t ldw,
                                                  double* intercept);

/** The spec of a model, in canonical form. Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_model_spec(const mercer_model* model, char* buffer,
                                           int64_t capacity, int64_t* needed);

/** What a search did and how far its model can be trusted, as JSON; "{}" without a search.
 *  "criterion": "leave_one_out" or "held_out", how candidates were compared, on "criterion_rows"
 *  rows; "criterion_score": of the chosen one, too good as the best of many; "lengthscale",
 *  "lambda", "transform" of the inputs, "effective_dimension" Tr H of ridge (an estimate by 16
 *  probes where held-out rows chose);
 *  "score": {"kind": "nested" (each row by a search that had not seen it), "unseen" (rows that no
 *  choice has seen) or "none", "measure": "r_squared" or "accuracy", "rows", "value",
 *  "standard_error", "constant" and "linear": the same of a mean or the largest class, and of ridge
 *  on the prepared inputs themselves, clipped alike; of classes also "balanced": {"value",
 *  "standard_error", "linear"}: the mean over classes of recall, the share of their rows that is
 *  found, of which a constant has 1 / classes; "classes": [{"rows", "recall"}] by number};
 *  "trials": [{"stage": "coarse", "fine", "per_input" or "final", "transform", "features", "rows",
 *  "lengthscale", "lambda", "score", "loss", which candidates are compared by}];
 *  "relevance": of each input, the shortest lengthscale over its own (or its flag's, if that is
 *  shorter), 0 for inputs that were dropped; empty for one lengthscale; "warnings": sentences. What
 *  is not known is null.
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_model_report(const mercer_model* model, char* buffer,
                                             int64_t capacity, int64_t* needed);

/** Keeps any UTF-8 text of at most 1 MiB with the model and its file (names of columns and classes,
 *  say), in place of an earlier one. Errors: a longer text. */
MERCER_API mercer_status mercer_model_set_metadata(mercer_model* model, const char* text);

/** That text, "" if there is none. Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_model_metadata(const mercer_model* model, char* buffer,
                                               int64_t capacity, int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
