// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// R^2 of an output is 1 - sum e^2 / sum (y - mean)^2 over the scored rows in which it was observed,
// their own mean; the score is the mean over outputs that vary. Its standard error is that of the
// mean of rows' shares in it.
#include "model/outputs/operator_score.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "model/assess/warnings.h"
#include "model/outputs/output_units.h"

namespace mercer::model {
namespace {

constexpr int64_t kFewScoredRows = 30;
constexpr double kNearlyExact = 1e-3;

std::string text(const char* format, double a, double b = 0) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, a, b);
  return buffer;
}

}  // namespace

OperatorErrors::OperatorErrors(std::vector<double> scale) : scale_(std::move(scale)) {}

std::vector<double> OperatorErrors::squares(const double* predicted, const double* y) const {
  std::vector<double> out;
  for (size_t o = 0; o < scale_.size(); ++o) {
    const double error = (predicted[o] - y[o]) / scale_[o];
    out.push_back(error * error);
  }
  return out;
}

void OperatorErrors::add(MatrixView<const double> train, MatrixView<const double> test,
                         MatrixView<const double> predicted, MatrixView<const double> other) {
  const std::vector<double> mean = output_units(train, OutputScale::own).mean;
  has_other_ = other.rows > 0;
  for (int64_t i = 0; i < test.rows; ++i) {
    const double* y = test.row(i);
    Row row{{y, y + test.cols}, squares(predicted.row(i), y), {}, squares(mean.data(), y)};
    if (has_other_) row.other = squares(other.row(i), y);
    rows_.push_back(std::move(row));
  }
}

/// Sums of squares about the mean of each output, in units; 0 where it does not vary.
std::vector<double> OperatorErrors::variances() const {
  std::vector<double> sums;
  for (size_t k = 0; k < scale_.size(); ++k) {
    const OutputMoments moments = output_moments(
        std::ssize(rows_), [&](int64_t i) { return rows_[static_cast<size_t>(i)].y[k]; });
    const double deviation = moments.deviation / scale_[k];
    sums.push_back(static_cast<double>(moments.observed) * deviation * deviation);
  }
  return sums;
}

OperatorScore OperatorErrors::score(bool nested) const {
  OperatorScore score;
  score.rows = std::ssize(rows_);
  score.nested = nested;
  const std::vector<double> total = variances();
  double vary = 0;
  for (const double sum : total) vary += sum > 0;
  if (vary == 0) return score;
  double own = 0, other = 0, mean = 0, squared = 0;
  for (const Row& row : rows_) {
    double share = 0;
    for (size_t k = 0; k < total.size(); ++k) {
      if (std::isnan(row.y[k]) || !(total[k] > 0)) continue;
      share += row.own[k] / total[k] / vary;
      mean += row.mean[k] / total[k] / vary;
      if (has_other_) other += row.other[k] / total[k] / vary;
    }
    own += share;
    squared += share * share;
  }
  const auto n = static_cast<double>(rows_.size());
  score.score = 1 - own;
  score.constant = 1 - mean;
  score.standard_error = std::sqrt(std::max(0.0, (n * squared - own * own) / std::max(1.0, n - 1)));
  if (has_other_) score.independent = 1 - other;
  return score;
}

std::vector<std::string> operator_warnings(const OperatorReport& report, bool lengthscale_at_edge,
                                           double largest, double smallest, bool few_coefficients) {
  const OperatorCandidate& chosen = report.chosen;
  const OperatorScore& score = report.score;
  std::vector<std::string> found =
      edge_warnings(chosen.lengthscale, lengthscale_at_edge, chosen.lambda, largest,
                    few_coefficients ? 0 : smallest, chosen.error < kNearlyExact);
  if (few_coefficients && smallest > 0 && chosen.lambda <= smallest &&
      !(chosen.error < kNearlyExact))
    found.push_back(
        text("lambda %.3g is the smallest that was tried, with %.0f features: more may serve",
             chosen.lambda, static_cast<double>(chosen.features)));
  if (score.rows > 0 && score.rows < kFewScoredRows)
    found.push_back(text("the score is of %.0f rows alone", static_cast<double>(score.rows)));
  if (score.score <= score.constant)
    found.push_back(text("R^2 %.4f does not beat the mean: %.4f", score.score, score.constant));
  if (score.score <= score.independent) {
    const bool clearly = score.score + score.standard_error < score.independent;
    found.push_back(
        text("R^2 %.4f does not beat independent outputs: %.4f", score.score, score.independent) +
        (clearly ? "; the structure may be wrong for these targets" : ""));
  }
  return found;
}

}  // namespace mercer::model
