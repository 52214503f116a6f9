// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/score.h: scores of predictions.
#include "mercer/score.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"
#include "solver/row_weights.h"
#include "statistic/metrics.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

using View = MatrixView<const double>;
using Options = mercer_score_options;
using Weights = std::span<const double>;

constexpr Options kDefaults = {sizeof(Options), MERCER_METRIC_DEFAULT, 0, 0, nullptr};
constexpr uint32_t kFirstSize = 24;
constexpr int64_t kDefaultBins = 15;
constexpr double kDefaultTau = 0.5;

Weights weights_of(const double* weights, int64_t n) {
  if (weights == nullptr) return {};
  return vector("options->weights", weights, "scores->n", n).values();
}

/// Every metric writes one number, but the confusion matrix.
struct Metric {
  mercer_metric id;
  const char* name;
  bool classes;
  bool probabilities;  // it asks for them
  void (*write)(View Y, View f, Weights w, const Options& options, double* score);
  int64_t laws = 0;  // 1: predictions are means and variances; 2: Y, too
  int64_t targets(int64_t d) const { return classes ? 1 : laws == 1 ? d / 2 : d; }
};

template <double (*score)(View, View, Weights)>
void plain(View Y, View f, Weights w, const Options&, double* out) {
  *out = score(Y, f, w);
}

void pinball(View Y, View f, Weights w, const Options& options, double* out) {
  *out = statistic::pinball(Y, f, options.tau, w);
}

void explained_pinball(View Y, View f, Weights w, const Options& options, double* out) {
  *out = statistic::explained_loss({false, options.tau}, Y, f, w);
}

void explained_deviance(View Y, View f, Weights w, const Options&, double* out) {
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k)
      require(!(Y(i, k) < 0), MERCER_INVALID_ARGUMENT, at(i, k),
              "Y is %g, expected a count, a number >= 0, for metric EXPLAINED_DEVIANCE", Y(i, k));
  *out = statistic::explained_loss({true}, Y, f, w);
}

void calibration_error(View Y, View f, Weights w, const Options& options, double* out) {
  *out = statistic::calibration_error(Y, f, options.bins, w);
}

void confusion(View Y, View f, Weights w, const Options&, double* out) {
  Matrix<double> counts(f.cols, f.cols);
  statistic::confusion(Y, f, counts.view(), w);
  std::copy_n(counts.data(), f.cols * f.cols, out);
}

constexpr Metric kMetrics[] = {
    {MERCER_METRIC_R2, "R2", false, false, plain<statistic::r_squared>},
    {MERCER_METRIC_RMSE, "RMSE", false, false, plain<statistic::root_mean_square>},
    {MERCER_METRIC_MAE, "MAE", false, false, plain<statistic::mean_absolute>},
    {MERCER_METRIC_PINBALL, "PINBALL", false, false, pinball},
    {MERCER_METRIC_ACCURACY, "ACCURACY", true, false, plain<statistic::accuracy>},
    {MERCER_METRIC_CONFUSION, "CONFUSION", true, false, confusion},
    {MERCER_METRIC_AUC, "AUC", true, false, plain<statistic::area_under_curve>},
    {MERCER_METRIC_LOG_LOSS, "LOG_LOSS", true, true, plain<statistic::log_loss>},
    {MERCER_METRIC_CALIBRATION_ERROR, "CALIBRATION_ERROR", true, true, calibration_error},
    {MERCER_METRIC_EXPLAINED_PINBALL, "EXPLAINED_PINBALL", false, false, explained_pinball},
    {MERCER_METRIC_EXPLAINED_DEVIANCE, "EXPLAINED_DEVIANCE", false, false, explained_deviance},
    {MERCER_METRIC_NEGATIVE_LOG_DENSITY, "NEGATIVE_LOG_DENSITY", false, false,
     plain<statistic::negative_log_density>, 1},
    {MERCER_METRIC_DIVERGENCE, "DIVERGENCE", false, false, plain<statistic::divergence>, 2},
};

Options read(const Options* given) {
  Options read = read_options("options", given, kDefaults, kFirstSize);
  check_range("options->metric", read.metric, MERCER_METRIC_DEFAULT, MERCER_METRIC_DIVERGENCE);
  check_range("options->bins", read.bins, 0, 1000000);
  require(read.tau >= 0 && read.tau < 1, MERCER_INVALID_ARGUMENT,
          "options->tau = %g, expected a number between 0 and 1, or 0 for 0.5", read.tau);
  return read;
}

/// Fills in the metric's own numbers where they are not given; those of another metric are refused.
Options of_metric(Options read, const Metric& metric) {
  require(read.bins == 0 || metric.id == MERCER_METRIC_CALIBRATION_ERROR, MERCER_INVALID_ARGUMENT,
          "options->bins = %ld of metric %s, expected 0: CALIBRATION_ERROR alone has bins",
          read.bins, metric.name);
  const bool reads_tau =
      metric.id == MERCER_METRIC_PINBALL || metric.id == MERCER_METRIC_EXPLAINED_PINBALL;
  require(
      read.tau == 0 || reads_tau, MERCER_INVALID_ARGUMENT,
      "options->tau = %g of metric %s, expected 0: PINBALL and EXPLAINED_PINBALL alone have tau",
      read.tau, metric.name);
  if (read.bins == 0) read.bins = kDefaultBins;
  if (read.tau == 0) read.tau = kDefaultTau;
  return read;
}

const Metric& metric_of(const Options& options, int64_t K) {
  int32_t id = options.metric;
  if (id == MERCER_METRIC_DEFAULT) id = K == 0 ? MERCER_METRIC_R2 : MERCER_METRIC_ACCURACY;
  const Metric& metric =
      *std::ranges::find_if(kMetrics, [&](const Metric& m) { return m.id == id; });
  require(metric.classes == (K > 0), MERCER_INVALID_ARGUMENT,
          "options->metric = %d (%s) and K = %ld, expected K %s", id, metric.name, K,
          metric.classes ? ">= 2" : "= 0");
  return metric;
}

void check_probabilities(View p) {
  for (int64_t i = 0; i < p.rows; ++i) {
    double sum = 0, least = 1;
    for (int64_t k = 0; k < p.cols; ++k) {
      sum += p(i, k);
      least = p(i, k) < least ? p(i, k) : least;
    }
    require(std::abs(sum - 1) <= 1e-4 && least >= 0, MERCER_INVALID_ARGUMENT, at_row(i),
            "predictions sums to %g, its least number is %g, expected probabilities", sum, least);
  }
}

void check_variances(const char* argument, View laws) {
  for (int64_t i = 0; i < laws.rows; ++i)
    for (int64_t k = laws.cols / 2; k < laws.cols; ++k)
      require(!(laws(i, k) <= 0) && !std::isinf(laws(i, k)), MERCER_INVALID_ARGUMENT, at(i, k),
              "%s is %g, expected a variance, a finite number > 0", argument, laws(i, k));
}

}  // namespace

mercer_status mercer_prediction_score(mercer_rows predictions, mercer_rows Y, int64_t K,
                                      const mercer_score_options* options, mercer_context* context,
                                      double* score) {
  return guard_long("mercer_prediction_score", context, [&](Context& running) {
    require(K == 0 || K >= 2, MERCER_INVALID_ARGUMENT,
            "K = %ld, expected 0 (regression) or at least 2 classes", K);
    check_place("score", score);
    const Options given = read(options);
    const Metric& metric = metric_of(given, K);
    const Options asked = of_metric(given, metric);
    const auto scores = K == 0 ? read_rows("predictions", predictions, running)
                               : read_rows("predictions", predictions, K, "the K classes", running);
    check_at_least("predictions.n", scores.n(), 1);
    check_at_least("predictions.d", scores.d(), 1);
    require(metric.laws == 0 || scores.d() % 2 == 0, MERCER_DIMENSION_MISMATCH,
            "predictions.d = %ld of metric %s, expected m means and m variances", scores.d(),
            metric.name);
    const auto targets = read_rows("Y", Y, metric.targets(scores.d()),
                                   metric.classes     ? "class numbers"
                                   : metric.laws == 1 ? "the means of predictions"
                                                      : "the columns of predictions",
                                   running);
    check_same_rows(targets, scores);
    const Weights weights = weights_of(asked.weights, scores.n());
    solver::require_weights(weights, scores.n());
    require(solver::total_weight(weights, scores.n()) > 0, MERCER_INVALID_ARGUMENT,
            "options->weights sum to 0, expected some above 0");
    const DoubleRows f(scores, running), y(targets, running);
    if (metric.probabilities) check_probabilities(f.view());
    if (metric.laws > 0) check_variances("predictions", f.view());
    if (metric.laws > 1) check_variances("Y", y.view());
    // Counts are of the weights as they are; of means only ratios matter, and products stay finite.
    const std::vector<double> relative = solver::relative_weights(weights);
    metric.write(y.view(), f.view(), metric.id == MERCER_METRIC_CONFUSION ? weights : relative,
                 asked, score);
  });
}
