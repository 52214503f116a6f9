/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SEARCH_H
#define MERCER_SEARCH_H

/* Search for the lengthscale and lambda of a model. n counts rows, d inputs, D features, K
 * classes. */

#include "mercer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Search for lengthscale and lambda ====
 *
 * Up to 3,000 rows every lambda of a grid from 10 to 1e-12 is judged by leave-one-out, above few on
 * held_out_fraction of the rows. The lengthscale is walked by factors of 2 from the median distance
 * of rows on a part of the features and rows, for each transform of the inputs that may be chosen,
 * then by 2^(1/2) on a larger part of both. Of all pairs of lengthscale and lambda whose mean loss
 * exceeds the least by at most the standard error of that paired difference the one of least
 * effective dimension Tr H is taken (above 3,000 rows: of those of the best lengthscale). Then
 * lengthscales for each input are learnt, for 2 to 100 inputs of dense rows, at least 5 rows each
 * (of classes up to 3,000 rows), by the gradient of the marginal likelihood (MacKay 1994); they are
 * taken if they beat the one for all by more than two standard errors (one of a regression above
 * 3,000 rows), above 3,000 rows under each transform whose best loss was within a tenth of the
 * least. What is chosen is fitted on all rows.
 *
 * Example: random features of a Gaussian kernel for n rows of d doubles and one target.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_search(NULL, &X, &Y, 0, NULL, &model);
 */

/** A trial of the search, as told to report. */
typedef struct mercer_search_candidate {
  uint32_t struct_size;
  /** 0 coarse, 1 fine, 2 with a lengthscale for each input, 3 on all rows: what is kept. */
  int32_t stage;
  /** D of the trial. */
  int64_t features;
  /** Rows fitted on. */
  int64_t rows;
  /** In units of the inputs after standardisation; 0 for a kernel without one, NaN for one for each
   *  input. */
  double lengthscale;
  /** The best for this lengthscale; of stage 3 the one kept. */
  double lambda;
  /** By leave-one-out or on held-out rows: 1 - R^2 (NaN where an output is constant), or the error
   *  rate. Too good for what is kept: it is the best of many. */
  double score;
  /** Time of the trial. */
  double seconds;
  /** mercer_transform of the inputs. */
  int32_t transform;
  /** 0. */
  int32_t reserved;
  /** What candidates are compared by, the mean over rows: of a regression the score, of classes the
   *  loss of MERCER_SELECTION_LOO, which tells candidates of equal error rates apart. NaN of
   *  logistic regression, whose lambda is chosen by log loss. */
  double loss;
} mercer_search_candidate;

/** Called on the calling thread after each candidate. Must not unwind. */
typedef void (*mercer_search_report)(void* user, const mercer_search_candidate* candidate);

/** What is fitted to classes with the lengthscale found. */
typedef enum mercer_estimator {
  /** Least squares for up to 3,000 rows, and where LOGISTIC would take longer (many classes) or its
   *  features more than 512 MiB; else LOGISTIC, unless least squares has the lower log loss on
   *  the rows held out by more than the standard error of the difference, both calibrated. */
  MERCER_ESTIMATOR_AUTO = 0,
  /** Least squares on one-hot codes; the only one of a regression. */
  MERCER_ESTIMATOR_RIDGE = 1,
  /** Logistic regression: "model":"logistic" of mercer_model_fit_spec. */
  MERCER_ESTIMATOR_LOGISTIC = 2
} mercer_estimator;

/** Whether lengthscales for each input are learnt (automatic relevance determination). */
typedef enum mercer_ard {
  /** For 2 to 100 inputs of dense rows, at least 5 rows for each (of classes up to 3,000 rows);
   *  kept where they win by more than two standard errors (one of a regression above 3,000 rows).
   */
  MERCER_ARD_AUTO = 0,
  /** Never. */
  MERCER_ARD_OFF = 1,
  /** Always, and always kept; MERCER_UNSUPPORTED where they cannot be learnt. */
  MERCER_ARD_ON = 2
} mercer_ard;

/** What is searched, and how. */
typedef struct mercer_search_options {
  uint32_t struct_size;
  /** 0 or 1: centre and scale inputs inside the model; default 1. */
  int32_t standardize;
  /** 0 or 1: fit an intercept; default 1. */
  int32_t center;
  /** mercer_precision of the features; default F32. */
  int32_t precision;
  /** D of the final map; 0 (default): 2048, or, where rows are few and so more features cost
   *  little, 4096 or 8192, while n D is at most 2^23, d D at most 2^25 and the memory cap leaves
   *  room. A map that takes a row for each feature (nystroem) has no more than there are rows that
   *  choose, which "warnings" of the report say where a number was given. */
  int64_t features;
  /** > 0: fixed; 0 (default): searched. */
  double lengthscale;
  /** >= 0: fixed; negative (default -1): searched. */
  double lambda;
  /** In (0, 1); default 0.1. */
  double held_out_fraction;
  /** Of map, split and subsample; default 0. */
  uint64_t seed;
  /** Map spec without "inputs", "features" and "seed", or a map's name alone (fourier stands for
   *  {"map":"fourier"}), which NULL is. Without "map" it is the "default_map" of its kernel in
   *  mercer_specs. Without "projection" a fourier map has "sobol" for up to 64 inputs, "sorf" for
   *  up to 4,096 if its kernel is isotropic, else "sobol" for up to 1,023, then "dense". Of an
   *  isotropic kernel, sparse rows of more than 32,768 inputs are hashed to 16,384 first: each
   *  prepared input is added to one of these, times a sign (Weinberger et al. 2009), which keeps
   *  squared distances up to about 1 %. The model takes all inputs, its map the hashed ones.
   *  Without "kernel" it is the map's "default_kernel" of mercer_specs, the Gaussian for fourier.
   *  The lengthscale inside is replaced; lengthscales for each input, and those of the parts of a
   *  kernel, are multiplied by a common factor instead, which is what is searched, from 1 (where
   *  those of all parts are 1, from the median distance), and what lengthscale means then. */
  const char* map;
  /** NULL (default): none. */
  mercer_search_report report;
  /** First argument of report. */
  void* user;
  /** mercer_extrapolation of predictions that do not say; default CLIP. */
  int32_t extrapolation;
  /** 0 or 1: score the fit on rows that no choice has seen; default 1. See mercer_model_search. */
  int32_t assess;
  /** mercer_scale, STANDARD where standardize is 0; default STANDARD. */
  int32_t scale;
  /** mercer_missing: inputs of NaN; default REFUSE. */
  int32_t missing;
  /** mercer_transform of inputs: LOG of skewed ones (|skewness| > 1), RANK of all; not of those of
   *  0 and 1 alone; AUTO, the default, tries NONE, LOG and RANK on up to 100 dense standardised
   *  inputs where the lengthscale is searched, and keeps what beats NONE by more than a standard
   *  error; else it is NONE. */
  int32_t transform;
  /** mercer_transform of the targets of a regression, undone in predictions, plainly, so that they
   *  are about medians; default NONE. */
  int32_t target_transform;
  /** 0 or 1: scale prepared rows to norm 1; default 0. */
  int32_t unit_rows;
  /** mercer_estimator; default AUTO. */
  int32_t estimator;
  /** Of the rows: n numbers >= 0, at least two above 0, in the order of X; NULL (default): 1 each.
   *  Rows of weight 0 are left out before anything else. The others count by it, relative to their
   *  mean (mercer_fit_options.weights: only ratios matter), in preparation,
   *  fits, choices, calibration, scores and baselines; splits, subsamples, landmarks, the
   *  threshold of an optical map with threshold_from targets and the median distance that the
   *  lengthscale is walked from are of rows as they are, and standard errors take each row for one
   *  observation. Read during the call alone. */
  const double* weights;
  /** mercer_class_weight of a classification; default NONE. */
  int32_t class_weight;
  /** mercer_ard; default AUTO. */
  int32_t ard;
} mercer_search_options;

/** Fills in the defaults. Errors: options->struct_size not set. */
MERCER_API mercer_status mercer_search_options_init(mercer_search_options* options);

/** Searches, then fits once on all rows; options may be NULL.
 *  Shapes: X, Y and K as in mercer_model_fit.
 *  With options->assess a score comes with it that no choice has seen: up to 1,000 rows by five
 *  folds, the whole search repeated without each; above, on a tenth of the rows, at most 10,000,
 *  which no choice sees, means and scales of inputs included, and which join the rows that the
 *  weights are solved from once they are scored. Inputs outside the range of the rows learnt from
 *  are clipped, or left where extrapolation is FREE. With a target_transform, whose curve is of all
 *  rows, every score of the search is of transformed targets. Below 10 rows there is none. On the
 *  same rows a constant (the mean, the largest class) and ridge on the prepared inputs
 *  (least squares on one-hot codes for classes) are scored. Folds hold about as many rows of each
 *  class; rows that repeat the inputs of others may fall on either side, and are warned of.
 *  Classifications have probabilities (MERCER_OUTPUT_PROBABILITIES), calibrated on the rows held
 *  out, up to 3,000 rows on five folds.
 *  Random: map, held-out rows and subsample; options->seed fixes them.
 *  Errors: those of mercer_model_fit and mercer_map_from_spec; LOGISTIC for K = 0;
 *  MERCER_UNSUPPORTED (a fixed lengthscale for a kernel without one; MERCER_ARD_ON with a
 *  lengthscale that is given or not there, a map without gradients, one input, sparse or unit
 *  rows).
 *  Threads and cost: any number at once; about ten fits with at most half of rows and features
 *  (with all of them where these are few, up to about a thousand), some sixty gradients through 512
 *  features of at most 8,000 rows where lengthscales for each input are learnt (up to 100 dense
 *  inputs, at least five rows for each; of classes up to 3,000 rows), one fit with all; six times
 *  that for up to 1,000 rows. Memory: 20 D^2 bytes plus a block of rows (8 n D + 24 n^2 for n < D);
 *  up to 100 MB for those gradients, a cache of features of up to 512 MiB for LOGISTIC. */
MERCER_API mercer_status mercer_model_search(const mercer_search_options* options,
                                             const mercer_rows* X, const mercer_rows* Y, int64_t K,
                                             mercer_context* context, mercer_model** out);

#ifdef __cplusplus
}
#endif
#endif
