// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/class_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "statistic/prediction_score.h"

namespace mercer::statistic {
namespace {

using Long = long long;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastProbability = 1e-15;

int64_t class_at(MatrixView<const double> Y, int64_t i, int64_t classes) {
  const double y = Y(i, 0);
  require(y >= 0 && y < static_cast<double>(classes) && y == std::floor(y), MERCER_INVALID_ARGUMENT,
          "Y: row %lld (counted from 0) has class %g, expected a whole number from 0 to %lld",
          static_cast<Long>(i), y, static_cast<Long>(classes - 1));
  return static_cast<int64_t>(y);
}

int64_t found_at(MatrixView<const double> scores, int64_t i) {
  const int64_t found = class_of({scores.row(i), static_cast<size_t>(scores.cols)});
  require(found != kNoClass, MERCER_INVALID_ARGUMENT,
          "predictions: row %lld (counted from 0) holds NaN, expected numbers",
          static_cast<Long>(i));
  return found;
}

/// Of a score of each row, and whether the row is of the class; NaN if all are or none is.
/// Mann-Whitney: the sum of the class's ranks, of equal scores their mean.
double area(std::vector<std::pair<double, bool>>& rows) {
  std::ranges::sort(rows, {}, &std::pair<double, bool>::first);
  double rank_sum = 0, inside = 0;
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    double of_class = rows[i].second;
    for (; end < rows.size() && rows[end].first == rows[i].first; ++end)
      of_class += rows[end].second;
    rank_sum += of_class * (static_cast<double>(i + end) + 1) / 2;  // ranks i + 1 ... end
    inside += of_class;
    i = end;
  }
  const double outside = static_cast<double>(rows.size()) - inside;
  if (inside == 0 || outside == 0) return kNaN;
  return (rank_sum - inside * (inside + 1) / 2) / (inside * outside);
}

}  // namespace

void confusion(MatrixView<const double> Y, MatrixView<const double> scores,
               MatrixView<double> counts) {
  for (int64_t i = 0; i < counts.rows; ++i) std::fill_n(counts.row(i), counts.cols, 0.0);
  for (int64_t i = 0; i < Y.rows; ++i)
    counts(class_at(Y, i, scores.cols), found_at(scores, i)) += 1;
}

double area_under_curve(MatrixView<const double> Y, MatrixView<const double> scores) {
  const int64_t classes = scores.cols;
  std::vector<std::pair<double, bool>> rows(static_cast<size_t>(Y.rows));
  double sum = 0, counted = 0;
  for (int64_t k = classes == 2 ? 1 : 0; k < classes; ++k) {
    for (int64_t i = 0; i < Y.rows; ++i) {
      found_at(scores, i);
      const double score = classes == 2 ? scores(i, 1) - scores(i, 0) : scores(i, k);
      require(!std::isnan(score), MERCER_INVALID_ARGUMENT,
              "predictions: row %lld (counted from 0) is %g, %g, whose difference is NaN, expected "
              "scores that can be ordered",
              static_cast<Long>(i), scores(i, 0), scores(i, 1));
      rows[static_cast<size_t>(i)] = {score, class_at(Y, i, classes) == k};
    }
    const double one = area(rows);
    if (std::isnan(one)) continue;
    sum += one;
    ++counted;
  }
  return counted > 0 ? sum / counted : kNaN;
}

double log_loss(MatrixView<const double> Y, MatrixView<const double> probabilities) {
  double sum = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    found_at(probabilities, i);
    const double p = probabilities(i, class_at(Y, i, probabilities.cols));
    sum -= std::log(std::max(p, kLeastProbability));
  }
  return sum / static_cast<double>(Y.rows);
}

double calibration_error(MatrixView<const double> Y, MatrixView<const double> probabilities,
                         int64_t bins) {
  std::vector<std::pair<double, bool>> rows;  // largest probability, whether its class is right
  for (int64_t i = 0; i < Y.rows; ++i) {
    const int64_t found = found_at(probabilities, i);
    rows.emplace_back(probabilities(i, found), class_at(Y, i, probabilities.cols) == found);
  }
  std::ranges::stable_sort(rows, {}, &std::pair<double, bool>::first);
  const auto n = static_cast<int64_t>(rows.size());
  double error = 0;
  for (int64_t b = 0; b < bins; ++b) {
    double gap = 0;
    for (int64_t i = b * n / bins; i < (b + 1) * n / bins; ++i) {
      const auto& [probability, right] = rows[static_cast<size_t>(i)];
      gap += (right ? 1.0 : 0.0) - probability;
    }
    error += std::abs(gap);
  }
  return error / static_cast<double>(n);
}

}  // namespace mercer::statistic
