// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "scoring.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace mercer::cli {
namespace {

constexpr LossRow kLosses[] = {
    {"huber", "regression", "explained_absolute_error", MERCER_METRIC_EXPLAINED_PINBALL, "delta"},
    {"log_cosh", "regression", "explained_absolute_error", MERCER_METRIC_EXPLAINED_PINBALL,
     "delta"},
    {"epsilon_insensitive", "regression", "explained_absolute_error",
     MERCER_METRIC_EXPLAINED_PINBALL, "delta"},
    {"quantile", "regression", "explained_pinball", MERCER_METRIC_EXPLAINED_PINBALL, "tau"},
    {"poisson", "regression", "explained_deviance", MERCER_METRIC_EXPLAINED_DEVIANCE, "", true},
    {"hinge", "classification", "accuracy", MERCER_METRIC_ACCURACY},
    {"squared_hinge", "classification", "accuracy", MERCER_METRIC_ACCURACY}};

std::string formatted(const char* format, double score) {
  char text[64];
  std::snprintf(text, sizeof text, format, score);
  return text;
}

// A target that a row lacks adds nothing, and the squares of others count for more by as much.
void add_squares(const Matrix<double>& predicted, const Dataset& data, int64_t k,
                 std::vector<double>* losses) {
  std::vector<double> targets, weights;
  for (int64_t i = 0; i < data.n; ++i) {
    const double y = data.Y[i * data.m + k];
    const double weight = data.weights.empty() ? 1 : data.weights[i];
    targets.push_back(std::isnan(y) ? 0 : y);
    weights.push_back(std::isnan(y) ? 0 : weight);
  }
  std::vector<double> squares;
  const double mean = mean_of(targets, weights).value;
  for (size_t i = 0; i < targets.size(); ++i)
    squares.push_back(weights[i] > 0 ? std::pow(targets[i] - mean, 2) : 0);
  const double variance = mean_of(squares, data.weights).value * static_cast<double>(data.m);
  for (size_t i = 0; i < targets.size(); ++i)
    if (weights[i] > 0)
      (*losses)[i] += std::pow(predicted(static_cast<int64_t>(i), k) - targets[i], 2) / variance;
}

}  // namespace

const LossRow* find_loss(const std::string& name) {
  const auto* const row =
      std::ranges::find_if(kLosses, [&](const LossRow& one) { return one.name == name; });
  return row == std::end(kLosses) ? nullptr : row;
}

std::string score_text(bool classification, double score) {
  if (!classification && std::isnan(score))
    return "R^2 not defined (the target does not vary, or numbers are not finite)";
  return formatted(classification ? "accuracy %.4f" : "R^2 %.5f", score);
}

std::string measure_text(const std::string& measure, double score) {
  const bool classification = measure == "accuracy";
  if (classification || measure == "r_squared") return score_text(classification, score);
  const std::string what = measure == "explained_deviance"         ? "explained deviance"
                           : measure == "explained_absolute_error" ? "explained absolute error"
                                                                   : "explained pinball loss";
  return what + (std::isnan(score) ? " not defined" : formatted(" %.5f", score));
}

std::string score_number(double score, int width) {
  const std::string text = std::isnan(score) ? "-" : formatted("%.5f", score);
  return std::string(std::max(0, width - static_cast<int>(text.size())), ' ') + text;
}

mercer_score_options Scoring::options(mercer_score_options of_rows) const {
  if (loss == nullptr) return of_rows;
  of_rows.metric = loss->metric;
  if (loss->reads == std::string("tau")) of_rows.tau = tau;
  return of_rows;
}

std::string Scoring::text(double score) const {
  const char* const usual = classification ? "accuracy" : "r_squared";
  return measure_text(loss == nullptr ? usual : loss->measure, score);
}

std::string Scoring::measure() const {
  const std::string told = text(0);
  return told.substr(0, told.rfind(' '));
}

Matrix<double> Scoring::means(Matrix<double> predicted) const {
  if (!predicts_logs()) return predicted;
  for (int64_t i = 0; i < predicted.rows(); ++i)
    for (int64_t k = 0; k < predicted.cols(); ++k) predicted(i, k) = std::exp(predicted(i, k));
  return predicted;
}

Scoring scoring_of(const Model& model) {
  const Json spec = parse_json(model.spec());
  const Json tau = spec.value("tau", Json());
  return {model.classes() > 0,
          model.classes() > 0 ? nullptr : find_loss(spec.value("loss", std::string())),
          tau.is_number() ? tau.get<double>() : 0};
}

std::vector<double> row_losses(const Matrix<double>& predicted, const Dataset& data, int64_t K) {
  std::vector<double> losses(data.n, 0.0);
  if (K == 0) {
    for (int64_t k = 0; k < data.m; ++k) add_squares(predicted, data, k, &losses);
    return losses;
  }
  const std::vector<int32_t> classes = classes_of(predicted.view());
  for (size_t i = 0; i < losses.size(); ++i) losses[i] = classes[i] == data.Y[i] ? 0 : 1;
  return losses;
}

Json table_of(const Matrix<double>& numbers) {
  Json table = Json::array();
  for (int64_t i = 0; i < numbers.rows(); ++i) {
    table.push_back(Json::array());
    for (int64_t k = 0; k < numbers.cols(); ++k) table.back().push_back(numbers(i, k));
  }
  return table;
}

// Of a mean sum w_i x_i / W: root of sum w_i^2 (x_i - mean)^2 / W^2, times n / (n - 1).
MeanOfRows mean_of(const std::vector<double>& numbers, const std::vector<double>& weights) {
  const auto weight = [&](size_t i) { return weights.empty() ? 1 : weights[i]; };
  const auto n = static_cast<double>(numbers.size());
  double sum = 0, total = 0, squares = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    sum += weight(i) * numbers[i];
    total += weight(i);
  }
  MeanOfRows mean{sum / total, 0};
  for (size_t i = 0; i < numbers.size(); ++i)
    squares += std::pow(weight(i) * (numbers[i] - mean.value), 2);
  mean.standard_error = std::sqrt(squares * n / (n - 1)) / total;
  return mean;
}

}  // namespace mercer::cli
