// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/regression_metrics.h"

#include <cmath>

#include "base/numbers.h"
#include "statistic/row_weights.h"

namespace mercer::statistic {
namespace {

/// finish(mean over rows of loss(y - f)), averaged over the outputs with targets.
template <class Loss, class Finish>
double mean_over_outputs(MatrixView<const double> Y, MatrixView<const double> predictions,
                         std::span<const double> weights, const Loss& loss, const Finish& finish) {
  const RowWeights w(weights, Y.rows);
  double sum = 0;
  int64_t observed = 0;
  for (int64_t k = 0; k < Y.cols; ++k) {
    double total = 0, weight = 0;
    for (int64_t i = 0; i < Y.rows; ++i) {
      if (std::isnan(Y(i, k))) continue;
      total += w[i] * loss(Y(i, k) - predictions(i, k));
      weight += w[i];
    }
    if (weight == 0) continue;
    sum += finish(total / weight);
    ++observed;
  }
  return observed > 0 ? sum / static_cast<double>(observed) : kNaN;
}

double as_it_is(double mean) { return mean; }

}  // namespace

double root_mean_square(MatrixView<const double> Y, MatrixView<const double> predictions,
                        std::span<const double> weights) {
  return mean_over_outputs(
      Y, predictions, weights, [](double u) { return u * u; },
      [](double mean) { return std::sqrt(mean); });
}

double mean_absolute(MatrixView<const double> Y, MatrixView<const double> predictions,
                     std::span<const double> weights) {
  return mean_over_outputs(
      Y, predictions, weights, [](double u) { return std::abs(u); }, as_it_is);
}

double pinball(MatrixView<const double> Y, MatrixView<const double> predictions, double tau,
               std::span<const double> weights) {
  return mean_over_outputs(
      Y, predictions, weights, [tau](double u) { return u > 0 ? tau * u : (tau - 1) * u; },
      as_it_is);
}

}  // namespace mercer::statistic
