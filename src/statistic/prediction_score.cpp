// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/prediction_score.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "statistic/row_weights.h"

namespace mercer::statistic {

double r_squared(MatrixView<const double> Y, MatrixView<const double> predictions,
                 std::span<const double> weights) {
  const RowWeights w(weights, Y.rows);
  double sum = 0;
  int64_t varying = 0;
  for (int64_t k = 0; k < Y.cols; ++k) {
    const auto counts = [&](int64_t i) { return w[i] > 0 && !std::isnan(Y(i, k)); };
    int64_t counting = 0;  // the first row that counts
    while (counting < Y.rows && !counts(counting)) ++counting;
    const double first =
        counting < Y.rows ? Y(counting, k) : 0;  // a constant's differences are then exactly 0
    double mean = 0, weight = 0;
    for (int64_t i = counting; i < Y.rows; ++i) weight += counts(i) ? w[i] : 0;
    for (int64_t i = counting; i < Y.rows; ++i)
      if (counts(i)) mean += w[i] * ((Y(i, k) - first) / weight);
    double residual = 0, total = 0;
    for (int64_t i = counting; i < Y.rows; ++i) {
      if (!counts(i)) continue;
      const double error = Y(i, k) - predictions(i, k);
      const double deviation = (Y(i, k) - first) - mean;
      residual += w[i] * error * error;
      total += w[i] * deviation * deviation;
    }
    if (total == 0) continue;
    sum += 1 - residual / total;
    ++varying;
  }
  return varying > 0 ? sum / static_cast<double>(varying) : kNaN;
}

int64_t class_of(std::span<const double> scores) {
  if (std::ranges::any_of(scores, [](double score) { return std::isnan(score); })) return kNoClass;
  return std::ranges::max_element(scores) - scores.begin();
}

double accuracy(MatrixView<const double> Y, MatrixView<const double> scores,
                std::span<const double> weights) {
  const auto columns = static_cast<size_t>(scores.cols);
  const RowWeights w(weights, Y.rows);
  double right = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const int64_t found = class_of({scores.row(i), columns});
    if (found != kNoClass && Y(i, 0) == static_cast<double>(found)) right += w[i];
  }
  return right / w.total();
}

}  // namespace mercer::statistic
