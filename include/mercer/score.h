/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SCORE_H
#define MERCER_SCORE_H

/* How well predictions fit. n counts rows, m outputs, K classes. */

#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Metrics of predictions ====
 *
 * Example: the mean absolute error of n predictions f of targets y.
 *
 *   mercer_rows F = mercer_rows_f64(n, 1, f);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_score_options options = {sizeof options, MERCER_METRIC_MAE, 0, 0, NULL};
 *   double error = 0;
 *   mercer_status status = mercer_prediction_score(F, Y, 0, &options, NULL, &error);
 */

/** Metric of predictions f and targets y, of n rows and m outputs, where y is not NaN; or of scores
 *  and probabilities p of K classes. */
typedef enum mercer_metric {
  /** R2 for K = 0, else ACCURACY. */
  MERCER_METRIC_DEFAULT = 0,
  /** 1 - sum_i (y_i - f_i)^2 / sum_i (y_i - mean y)^2, averaged over the outputs whose Y varies,
   *  NaN if none does. */
  MERCER_METRIC_R2 = 1,
  /** sqrt(mean_i (y_i - f_i)^2), averaged over the outputs, as are the next two. */
  MERCER_METRIC_RMSE = 2,
  /** mean_i |y_i - f_i|. */
  MERCER_METRIC_MAE = 3,
  /** mean_i max(tau (y_i - f_i), (tau - 1) (y_i - f_i)). */
  MERCER_METRIC_PINBALL = 4,
  /** Share of rows whose class is the column of the largest score, the lowest on a tie; targets
   *  that are no class and rows with a NaN score count as wrong. */
  MERCER_METRIC_ACCURACY = 5,
  /** K x K numbers: entry (a, b) counts rows of class a whose largest score is that of b. */
  MERCER_METRIC_CONFUSION = 6,
  /** Area under the ROC curve, ties counting half; for two classes by the difference of their
   *  scores, for more the mean over classes, each against the rest. NaN where all rows are of one
   *  class. */
  MERCER_METRIC_AUC = 7,
  /** mean_i -log p of the row's class, p not below 1e-15. */
  MERCER_METRIC_LOG_LOSS = 8,
  /** Expected calibration error: mean over rows of |accuracy - mean largest p| within bins of
   *  equally many rows, sorted by their largest p. */
  MERCER_METRIC_CALIBRATION_ERROR = 9,
  /** 1 - PINBALL over that of the best constant, averaged over the outputs whose Y varies, NaN if
   *  none does; tau = 0.5 compares absolute errors. */
  MERCER_METRIC_EXPLAINED_PINBALL = 10,
  /** 1 - Poisson deviance over that of the best constant, averaged in the same way; y are counts, f
   *  logs of means, as "loss":"poisson" predicts them. */
  MERCER_METRIC_EXPLAINED_DEVIANCE = 11,
  /** mean_i (log(2 pi v_i) + (y_i - f_i)^2 / v_i) / 2, averaged over the outputs: predictions are
   *  n x 2 m, means f and then variances v, such as "value" and "predictive_variance". */
  MERCER_METRIC_NEGATIVE_LOG_DENSITY = 12,
  /** mean_i KL(N(g_i, u_i) || N(f_i, v_i)) = mean_i (u/v - log(u/v) - 1 + (g - f)^2 / v) / 2, in the
   *  same way; Y is n x 2 m, means g and then variances u of a reference. */
  MERCER_METRIC_DIVERGENCE = 13
} mercer_metric;

/** Which metric, and its parameters. */
typedef struct mercer_score_options {
  uint32_t struct_size; /**< [0] sizeof(mercer_score_options), 32. */
  int32_t metric;       /**< [4] mercer_metric. */
  /** [8] CALIBRATION_ERROR: 1..1000000; 0: 15. Other metrics: 0. */
  int64_t bins;
  /** [16] PINBALL and EXPLAINED_PINBALL: between 0 and 1; 0: 0.5. Other metrics: 0. */
  double tau;
  /** [24] Row weights: n numbers >= 0, not all 0; NULL: 1 each. Means, shares and counts are
   *  weighted; bins hold about equal weight. */
  const double* weights;
} mercer_score_options;

/** How well predictions fit the targets Y of the same rows: by default R^2 (K = 0) or the accuracy
 *  (K >= 2).
 *  Shapes: predictions n x outputs, from mercer_model_predict or elsewhere, n >= 1; Y n x outputs,
 *  or n x 1 for classes; for two metrics means and variances; both dense or CSR (made dense);
 *  score: one number, K x K for CONFUSION; options may be NULL.
 *  Errors: K = 1, K < 0, no rows, a metric that does not fit K, bins or tau of another metric, a
 *  negative target of EXPLAINED_DEVIANCE, a variance that is not finite and > 0; a number that is
 *  no class and a NaN score, except for ACCURACY; rows that are no probabilities for LOG_LOSS and
 *  CALIBRATION_ERROR; a weight that is negative, NaN or Inf, by its row; MERCER_DIMENSION_MISMATCH. score is written only on success.
 *  Cost: one pass, for CALIBRATION_ERROR a sort, for AUC a sort per class. */
MERCER_API mercer_status mercer_prediction_score(mercer_rows predictions, mercer_rows Y, int64_t K,
                                                 const mercer_score_options* options,
                                                 mercer_context* context, double* score);

#ifdef __cplusplus
}
#endif
#endif
