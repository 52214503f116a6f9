// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How well predictions fit targets. Y, predictions, scores: n rows; weights: one for each row, or
// none, which is 1 each; with weights, counts are sums of weights and bins hold about equal weight.
#pragma once

#include <cstdint>
#include <span>

#include "base/views.h"

namespace mercer::statistic {

/// R^2 = 1 - sum (y - f)^2 / sum (y - mean y)^2, averaged over the outputs whose targets vary; NaN
/// if none does. A target of NaN was not observed and is left out. Y and predictions: n x m.
double r_squared(MatrixView<const double> Y, MatrixView<const double> predictions,
                 std::span<const double> weights = {});

/// The column of the largest score, the first of equals; kNoClass if one is NaN. At least one
/// score.
inline constexpr int64_t kNoClass = -1;
int64_t class_of(std::span<const double> scores);

/// Share of the rows whose class, Y(i, 0), is the column of the largest score, the first of equals.
/// A row with a NaN score, or whose Y is no column, counts as wrong. NaN for no rows. Y: n x 1,
/// scores: n x K, K >= 1.
double accuracy(MatrixView<const double> Y, MatrixView<const double> scores,
                std::span<const double> weights = {});

// Errors of predictions of numbers, beside R^2: means over the outputs. Y and
// predictions: n x m; a target of NaN was not observed and is left out. NaN for no rows, and where
// a prediction is NaN.

/// sqrt(mean (y - f)^2) of each output.
double root_mean_square(MatrixView<const double> Y, MatrixView<const double> predictions,
                        std::span<const double> weights = {});
/// mean |y - f|.
double mean_absolute(MatrixView<const double> Y, MatrixView<const double> predictions,
                     std::span<const double> weights = {});
/// mean of tau (y - f) where y > f, (1 - tau) (f - y) elsewhere (Koenker, Bassett 1978).
double pinball(MatrixView<const double> Y, MatrixView<const double> predictions, double tau,
               std::span<const double> weights = {});

// Of predictive laws N(f, v), laws: n x 2 m, the means f and then the variances v > 0; in nats.

/// mean of (log(2 pi v) + (y - f)^2 / v) / 2. Y: n x m.
double negative_log_density(MatrixView<const double> Y, MatrixView<const double> laws,
                            std::span<const double> weights = {});
/// mean of KL(N(g, u) || N(f, v)) = (u/v - log(u/v) - 1 + (g - f)^2 / v) / 2. reference: n x 2 m,
/// g and then u; a g of NaN is left out.
double divergence(MatrixView<const double> reference, MatrixView<const double> laws,
                  std::span<const double> weights = {});

// Scores of predictions by a loss other than squares: 1 - the mean loss over that of the best
// constant, as R^2 is for squares (pinball loss: Koenker and Machado 1999; Poisson deviance:
// Cameron and Windmeijer 1996).

/// The loss of target y and prediction f: pinball at tau (at 1/2, half the absolute error), or
/// Poisson deviance, f being the log of the mean.
struct RowLoss {
  bool deviance = false;
  double tau = 0.5;  // for pinball
  double operator()(double y, double f) const noexcept;
  /// The constant f of least mean loss over column o: a quantile, or the log of the mean.
  double best_constant(MatrixView<const double> Y, int64_t o,
                       std::span<const double> weights = {}) const;
};

/// 1 - loss / loss of the best constant, averaged over the outputs that vary; NaN if none does. A
/// target of NaN is left out.
double explained_loss(const RowLoss& loss, MatrixView<const double> Y,
                      MatrixView<const double> predictions, std::span<const double> weights = {});

// How well scores and probabilities of K classes fit the rows' classes, Y(i, 0). INVALID_ARGUMENT
// naming the row for a number that is no class or a row with a NaN; accuracy counts those as wrong.
// NaN for no rows.

/// counts (K x K): rows of class i whose largest score is that of class j, the first of equals.
void confusion(MatrixView<const double> Y, MatrixView<const double> scores,
               MatrixView<double> counts, std::span<const double> weights = {});

/// Area under the curve of true against false positives (Fawcett 2006): the probability that a row
/// of the class has a higher score than one of another, ties counting half, by ranks. Two classes
/// are ranked by the difference of their scores; for more it is the mean over classes, each against
/// the rest. Classes without rows, or with all of them, are left out; NaN if none is left.
double area_under_curve(MatrixView<const double> Y, MatrixView<const double> scores,
                        std::span<const double> weights = {});

/// Mean of -log p of the row's class; p below 1e-15 counts as that.
double log_loss(MatrixView<const double> Y, MatrixView<const double> probabilities,
                std::span<const double> weights = {});

/// Expected calibration error of the predicted class: rows are sorted by their largest probability
/// into bins of equally many (Naeini et al. 2015, Guo et al. 2017), and it is the mean over rows of
/// |share that is right - mean of the largest probability| in their bin. bins >= 1.
double calibration_error(MatrixView<const double> Y, MatrixView<const double> probabilities,
                         int64_t bins, std::span<const double> weights = {});

}  // namespace mercer::statistic
