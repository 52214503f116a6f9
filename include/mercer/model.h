/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MODEL_H
#define MERCER_MODEL_H

/* Models: prepare, map, and ridge or another loss, in one handle; w as in mercer/ridge.h. n counts
 * rows, d inputs, D features, m outputs, K classes. */

#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Models: prepare, map, ridge ====
 *
 * Example: fit on n rows of d floats, lambda by leave-one-out, predict the same rows.
 *
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_matrix scores = mercer_matrix_f64(n, 1, f);
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_fit(map, NULL, &X, &Y, 0, NULL, &model);
 *   if (status == MERCER_OK) status = mercer_model_predict(model, &X, NULL, NULL, &scores);
 */

/** Preparation, map and weights in one handle and one file. */
typedef struct mercer_model mercer_model;

/** How lambda is chosen. */
typedef enum mercer_selection {
  /** It is options.lambda. */
  MERCER_SELECTION_FIXED = 0,
  /** By the error on held_out_fraction of the rows, then a fit on all. */
  MERCER_SELECTION_HELD_OUT = 1,
  /** By K-fold cross-validation over `folds` folds, which hold about as many rows of each class.
   *  Rows of equal inputs may lie in different folds: where inputs are discrete new rows repeat old
   *  ones, too, and copies made by sampling look the same; leave such copies out before. */
  MERCER_SELECTION_KFOLD = 2,
  /** By generalised cross-validation: for n well above Tr H alone. */
  MERCER_SELECTION_GCV = 3,
  /** By leave-one-out, in closed form (Allen 1974) from one decomposition; the default. Of the
   *  lambdas whose mean loss exceeds the least by at most the standard error of that paired
   *  difference over the rows, the largest. Loss: the squared error summed over outputs; for
   *  classes 1/(1 + exp(10 margin)), the margin being the left-out score of the row's class less
   *  the largest other one. */
  MERCER_SELECTION_LOO = 4
} mercer_selection;

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

/** How inputs are centred and scaled. Inputs of 0 and 1 alone (flags, one-hot columns) stay as they
 *  are. */
typedef enum mercer_scale {
  /** Mean and standard deviation. For a kernel of bounded inputs (additive_chi2, intersection,
   *  jensen_shannon, hellinger and the semigroup kernels take inputs >= 0, skewed_chi2 inputs > -c)
   *  not centred but divided by their root mean square, of sparse rows that of the numbers listed,
   *  or by 1 if that is smaller and some input is negative. */
  MERCER_SCALE_STANDARD = 0,
  /** Median, and the distance of the quartiles over 1.349, that of the normal distribution. */
  MERCER_SCALE_ROBUST = 1,
  /** Mean alone. */
  MERCER_SCALE_CENTER = 2
} mercer_scale;

/** What becomes of inputs of NaN. */
typedef enum mercer_missing {
  /** MERCER_INVALID_ARGUMENT in a fit; NaN in its row in a prediction. */
  MERCER_MISSING_REFUSE = 0,
  /** The median of the column's numbers in training. */
  MERCER_MISSING_FILL = 1,
  /** The same, and for each input that missed some number in training one more input of the map,
   *  behind all others: 1 where it was filled, else 0. The map has as many inputs more. A search
   *  flags inputs that at least 5 rows miss, and fills others only, which its report warns of. */
  MERCER_MISSING_FLAG = 2
} mercer_missing;

/** A monotone curve that takes the skew out of a column. */
typedef enum mercer_transform {
  /** Columns stay as they are. */
  MERCER_TRANSFORM_NONE = 0,
  /** sign(x) log(1 + |x|/s), s the median of |x| over the training rows where x is not 0. */
  MERCER_TRANSFORM_LOG = 1,
  /** The normal quantile of x's rank, by 256 quantiles of the training rows; constant beyond. */
  MERCER_TRANSFORM_RANK = 2,
  /** Of inputs, in a search of the lengthscale alone: the one of these three that wins. */
  MERCER_TRANSFORM_AUTO = 3
} mercer_transform;

/** What classes weigh, in fits and choices; not in scores, nor in the rows that probabilities are
 *  calibrated by: the class of a balanced model is not always the most probable one. */
typedef enum mercer_class_weight {
  /** As many rows as they have. */
  MERCER_CLASS_WEIGHT_NONE = 0,
  /** Each as much as another: rows of class k are weighed by n / (K n_k), K the classes that have
   *  rows, n and n_k sums of the rows' weights. */
  MERCER_CLASS_WEIGHT_BALANCED = 1
} mercer_class_weight;

/** How a model is fitted. What the selection does not read (lambda of all but FIXED, the path of
 *  FIXED, folds of all but KFOLD, held_out_fraction of all but HELD_OUT) must keep its default. */
typedef struct mercer_fit_options {
  uint32_t struct_size;
  /** 0 or 1: centre and scale inputs inside the model, as `scale` says; default 1. */
  int32_t standardize;
  /** 0 or 1: fit an intercept; default 1. */
  int32_t center;
  /** mercer_precision of the features; default F32 (statistics are always double). */
  int32_t precision;
  /** mercer_selection; default LOO. */
  int32_t selection;
  /** Must be 0. */
  int32_t reserved;
  /** For FIXED, >= 0; default 1e-6. */
  double lambda;
  /** The path of the others, geometric: its largest lambda, default 10, */
  double lambda_largest;
  /** its smallest, > 0, default 1e-12, */
  double lambda_smallest;
  /** and how many, 1..1000000; default 27. */
  int64_t lambda_count;
  /** Of KFOLD, 2..1000000; default 5. */
  int64_t folds;
  /** Of HELD_OUT, in (0, 1); default 0.1. */
  double held_out_fraction;
  /** Fixes the held-out rows and the folds; default 0. */
  uint64_t seed;
  /** mercer_extrapolation of predictions that do not say; default CLIP. */
  int32_t extrapolation;
  /** mercer_scale, STANDARD where standardize is 0; default STANDARD. */
  int32_t scale;
  /** mercer_missing: inputs of NaN; default REFUSE. */
  int32_t missing;
  /** mercer_transform of inputs: LOG of skewed ones (|skewness| > 1), RANK of all; not of those of
   *  0 and 1 alone; default NONE. */
  int32_t transform;
  /** mercer_transform of the targets of a regression, undone in predictions, plainly, so that they
   *  are about medians; default NONE. */
  int32_t target_transform;
  /** 0 or 1: scale prepared rows to norm 1; default 0. */
  int32_t unit_rows;
  /** Of the rows: n numbers >= 0, not all 0, of a finite sum, in the order of X; NULL (default): 1
   *  each. Only their ratios count: they are first divided by their mean over the rows above 0,
   *  which n lambda, GCV and calibration take for numbers of rows; weights times a power of two
   *  give the same bits, times another constant the same model to rounding. A row of weight 2
   *  beside others of 1 is two equal rows in means, quantiles, sums, losses and scores, but one
   *  where rows are left or held out or counted: leave-one-out leaves all of it out. A row of
   *  weight 0 is not learnt from, but takes its place in folds. Read during the call alone. NULL
   *  for mercer_model_fit_source, whose rows bring theirs. */
  const double* weights;
  /** mercer_class_weight of a classification; default NONE. */
  int32_t class_weight;
  /** Must be 0. */
  int32_t reserved2;
} mercer_fit_options;

/** Fills in the defaults. Errors: options->struct_size not set. */
MERCER_API mercer_status mercer_fit_options_init(mercer_fit_options* options);

/** Fits on X and Y, rows weighed by options->weights. K = 0: regression on Y; K >= 2: least-squares
 *  classification on one-hot codes, Y holds class numbers 0..K-1. The map is shared, not copied,
 *  and may be freed.
 *  Preparation: in this order, NaN is filled, columns are transformed, centred and scaled, flags
 *  appended, rows scaled to norm 1; then they are mapped. Medians, quartiles and ranks, and with
 *  missing or transform also means and deviations, are those of all rows while X has at most 2^20
 *  numbers, else of a sample that options->seed fixes.
 *  Shapes: X n x d, n >= 2, dense or CSR, F32 or F64; sparse rows are scaled alone, by the
 *  root mean square distance of a column's listed numbers from its mean, so that they stay sparse
 *  and rare columns do not outweigh all others; they are read at the cost of their non-zeros where
 *  the map does. Y n x m, m = 1 for classes, any rows; it is widened to dense doubles. options may
 *  be NULL. The map has d inputs, and one more for each flag of MERCER_MISSING_FLAG.
 *  Random: held-out rows, folds and that sample; options->seed fixes them. Numbers that the map
 *  draws: its own seed.
 *  Errors: MERCER_INVALID_ARGUMENT (NaN, unless it is a missing input that is filled, Inf and
 *  numbers beyond 1e150 in X or Y, a class out of range, a weight that is negative, NaN or Inf,
 *  naming row and column; inputs outside the domain of the map's kernel, naming both, too, and
 *  those below 0 of unit or log rows; weights that are all 0; a column without any number; class
 *  weights of a regression; an option that the others leave without effect: see
 *  mercer_fit_options), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (a complex map; sparse
 *  rows, and inputs of a bounded kernel, that would have to be centred or ranked; a transform of
 *  classes).
 *  Threads and cost: any number at once; n (map + D^2) + D^3, memory O(D^2) plus a block of rows;
 *  n < D uses the dual form (n x D). Classes are calibrated by one more look at 5,000 rows. */
MERCER_API mercer_status mercer_model_fit(const mercer_map* map, const mercer_fit_options* options,
                                          const mercer_rows* X, const mercer_rows* Y, int64_t K,
                                          mercer_context* context, mercer_model** out);

/** The same from a spec
 *  {"model":"ridge","map":{...},"lambda":x,"standardize":b,"center":b,"task":t,
 *  "precision":"f32"|"f64","scale":"standard"|"robust"|"center","missing":"refuse"|"fill"|"flag",
 *  "transform":"none"|"log"|"rank","target_transform":"none"|"log"|"rank","unit_rows":b,
 *  "class_weight":"none"|"balanced",
 *  "extrapolation":"clip"|"free"|"refuse"}; without "lambda" it is chosen by leave-one-out. For the
 *  task "classification" m = 1 and Y holds class numbers 0..K-1 (K = the largest + 1).
 *  A map made from data is made from the rows as they are given to it, standardised or not: from
 *  all up to 10,000 (or D, if more), else from as many of them; so is one that learns from targets,
 *  with these.
 *
 *  "model":"logistic" is the least (1/n) sum_i loss(z_i'w + b, y_i) + lambda/2 |w|^2, by L-BFGS, of
 *  "loss": for classes "logistic" (two: log(1 + e^-ts), t = +-1, w the log odds of class 1, of
 *  which the scores are -+ halves; more: -log softmax, a column for each) or "squared_hinge"; for
 *  numbers "huber" ("delta": where squares end; else 1.345 robust deviations of residuals),
 *  "quantile" ("tau", rounded within 0.01 of the targets' robust deviation) or "poisson"
 *  (predictions are log means). Targets of huber and quantile are divided by their robust deviation
 *  first: lambda is of these. "class_weight":"balanced" weighs rows by n / (K n_k). Without
 *  "lambda" it is the largest whose mean loss on rows held out (a tenth; of fewer than 3,000 rows
 *  each of five folds in turn) is within one standard error of the best; these rows also calibrate
 *  probabilities.
 *  Shapes: X and Y as in mercer_model_fit.
 *  Random: what the map draws or chooses, its "seed" fixes it; the rows held out, of seed 0.
 *  Errors: those of mercer_model_fit, mercer_map_from_spec and mercer_map_fit_spec; for logistic
 *  rows of one class only, counts below 0, with "lambda" MERCER_NOT_CONVERGED (after "iterations" a
 *  step is still expected to lower the objective by more than the share "tolerance": lambda too
 *  small for classes that features separate).
 *  Threads and cost: as mercer_model_fit; logistic: some tens of passes for each lambda, 4 n D
 *  outputs flops each, features kept in memory up to 512 MiB, else computed in each pass. */
MERCER_API mercer_status mercer_model_fit_spec(const char* json, const mercer_rows* X,
                                               const mercer_rows* Y, mercer_context* context,
                                               mercer_model** out);

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

/** What a search did and how far its model can be trusted, as JSON; "{}" for a model of a fit.
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
