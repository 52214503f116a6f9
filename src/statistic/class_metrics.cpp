// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/class_metrics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "statistic/prediction_score.h"
#include "statistic/row_weights.h"

namespace mercer::statistic {
namespace {

constexpr double kLeastProbability = 1e-15;

int64_t class_at(MatrixView<const double> Y, int64_t i, int64_t classes) {
  const double y = Y(i, 0);
  require(y >= 0 && y < static_cast<double>(classes) && y == std::floor(y), MERCER_INVALID_ARGUMENT,
          "Y: row %ld (counted from 0) has class %g, expected a whole number from 0 to %ld", i, y,
          classes - 1);
  return static_cast<int64_t>(y);
}

int64_t found_at(MatrixView<const double> scores, int64_t i) {
  const int64_t found = class_of({scores.row(i), static_cast<size_t>(scores.cols)});
  require(found != kNoClass, MERCER_INVALID_ARGUMENT,
          "predictions: row %ld (counted from 0) holds NaN, expected numbers", i);
  return found;
}

struct Ranked {
  double score;
  bool inside;  // the row is of the class
  double weight;
};

/// NaN if all rows or none are of the class. Mann-Whitney: among pairs of a row inside and one
/// outside the class, the share in which the one inside has the larger score, ties counting half.
double area(std::vector<Ranked>& rows) {
  std::ranges::sort(rows, {}, &Ranked::score);
  double won = 0, inside = 0, outside = 0;
  for (size_t i = 0; i < rows.size();) {
    double tied_inside = 0, tied_outside = 0;
    const double score = rows[i].score;
    for (; i < rows.size() && rows[i].score == score; ++i)
      (rows[i].inside ? tied_inside : tied_outside) += rows[i].weight;
    won += tied_inside * (outside + tied_outside / 2);
    inside += tied_inside;
    outside += tied_outside;
  }
  return inside == 0 || outside == 0 ? kNaN : won / (inside * outside);
}

}  // namespace

void confusion(MatrixView<const double> Y, MatrixView<const double> scores,
               MatrixView<double> counts, std::span<const double> weights) {
  const RowWeights w(weights, Y.rows);
  for (int64_t i = 0; i < counts.rows; ++i) std::fill_n(counts.row(i), counts.cols, 0.0);
  for (int64_t i = 0; i < Y.rows; ++i)
    counts(class_at(Y, i, scores.cols), found_at(scores, i)) += w[i];
}

double area_under_curve(MatrixView<const double> Y, MatrixView<const double> scores,
                        std::span<const double> weights) {
  const int64_t classes = scores.cols;
  const RowWeights w(weights, Y.rows);
  std::vector<Ranked> rows(Y.rows);
  for (int64_t i = 0; i < Y.rows; ++i) found_at(scores, i);
  double sum = 0, counted = 0;
  for (int64_t k = classes == 2 ? 1 : 0; k < classes; ++k) {
    for (int64_t i = 0; i < Y.rows; ++i) {
      const double score = classes == 2 ? scores(i, 1) - scores(i, 0) : scores(i, k);
      require(!std::isnan(score), MERCER_INVALID_ARGUMENT,
              "predictions: row %ld (counted from 0) is %g, %g, whose difference is NaN, expected "
              "scores that can be ordered",
              i, scores(i, 0), scores(i, 1));
      rows[i] = {score, class_at(Y, i, classes) == k, w[i]};
    }
    const double one = area(rows);
    if (std::isnan(one)) continue;
    sum += one;
    ++counted;
  }
  return counted > 0 ? sum / counted : kNaN;
}

double log_loss(MatrixView<const double> Y, MatrixView<const double> probabilities,
                std::span<const double> weights) {
  const RowWeights w(weights, Y.rows);
  double sum = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    found_at(probabilities, i);
    const double p = probabilities(i, class_at(Y, i, probabilities.cols));
    sum -= w[i] * std::log(std::max(p, kLeastProbability));
  }
  return sum / w.total();
}

double calibration_error(MatrixView<const double> Y, MatrixView<const double> probabilities,
                         int64_t bins, std::span<const double> weights) {
  const RowWeights w(weights, Y.rows);
  std::vector<Ranked> rows;  // the largest probability, inside: its class is right
  for (int64_t i = 0; i < Y.rows; ++i) {
    const int64_t found = found_at(probabilities, i);
    rows.push_back({probabilities(i, found), class_at(Y, i, probabilities.cols) == found, w[i]});
  }
  std::ranges::stable_sort(rows, {}, &Ranked::score);
  std::vector<double> gaps(bins, 0.0);
  double before = 0;  // and with the row itself
  for (const Ranked& row : rows) {
    if (row.weight == 0) continue;
    before += row.weight;
    const double place = std::ceil(before * static_cast<double>(bins) / w.total());
    const int64_t bin = std::clamp<int64_t>(static_cast<int64_t>(place) - 1, 0, bins - 1);
    gaps[bin] += row.weight * ((row.inside ? 1.0 : 0.0) - row.score);
  }
  double error = 0;
  for (const double gap : gaps) error += std::abs(gap);
  return error / w.total();
}

}  // namespace mercer::statistic
