// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"

namespace mercer::statistic {
namespace {

/// Weights of rows: n numbers >= 0, or none, which is 1 each.
class RowWeights {
 public:
  RowWeights(std::span<const double> weights, int64_t rows)
      : weights_(weights),
        total_(weights.empty() ? static_cast<double>(rows)
                               : std::accumulate(weights.begin(), weights.end(), 0.0)) {}
  double operator[](int64_t i) const noexcept { return weights_.empty() ? 1.0 : weights_[i]; }
  double total() const noexcept { return total_; }

 private:
  std::span<const double> weights_;
  double total_;
};

/// finish(mean over rows of loss(row, output)), averaged over the outputs with targets.
template <class Loss, class Finish>
double mean_over_outputs(MatrixView<const double> Y, std::span<const double> weights,
                         const Loss& loss, const Finish& finish) {
  const RowWeights w(weights, Y.rows);
  double sum = 0;
  int64_t observed = 0;
  for (int64_t k = 0; k < Y.cols; ++k) {
    double total = 0, weight = 0;
    for (int64_t i = 0; i < Y.rows; ++i) {
      if (std::isnan(Y(i, k))) continue;
      total += w[i] * loss(i, k);
      weight += w[i];
    }
    if (weight == 0) continue;
    sum += finish(total / weight);
    ++observed;
  }
  return observed > 0 ? sum / static_cast<double>(observed) : kNaN;
}

double as_it_is(double mean) { return mean; }

/// The same of loss(y - f).
template <class Loss>
double mean_of_residuals(MatrixView<const double> Y, MatrixView<const double> predictions,
                         std::span<const double> weights, const Loss& loss,
                         double (*finish)(double) = as_it_is) {
  return mean_over_outputs(
      Y, weights, [&](int64_t i, int64_t k) { return loss(Y(i, k) - predictions(i, k)); }, finish);
}

constexpr double kLeastProbability = 1e-15;

int64_t class_at(MatrixView<const double> Y, int64_t i, int64_t classes) {
  const double y = Y(i, 0);
  require(y >= 0 && y < static_cast<double>(classes) && y == std::floor(y), MERCER_INVALID_ARGUMENT,
          at_row(i), "Y has class %g, expected a whole number from 0 to %ld", y, classes - 1);
  return static_cast<int64_t>(y);
}

int64_t found_at(MatrixView<const double> scores, int64_t i) {
  const int64_t found = class_of({scores.row(i), static_cast<size_t>(scores.cols)});
  require(found != kNoClass, MERCER_INVALID_ARGUMENT, at_row(i),
          "predictions holds NaN, expected numbers");
  return found;
}

struct RankedRow {
  double score;
  bool inside;  // the row is of the class
  double weight;
};

/// The area for one class; NaN if all rows or none are of the class. Mann-Whitney: among pairs of a
/// row inside and one outside the class, the share in which the one inside has the larger score,
/// ties counting half.
double area(std::vector<RankedRow>& rows) {
  std::ranges::sort(rows, {}, &RankedRow::score);
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

double root_mean_square(MatrixView<const double> Y, MatrixView<const double> predictions,
                        std::span<const double> weights) {
  return mean_of_residuals(
      Y, predictions, weights, [](double u) { return u * u; },
      [](double mean) { return std::sqrt(mean); });
}

double mean_absolute(MatrixView<const double> Y, MatrixView<const double> predictions,
                     std::span<const double> weights) {
  return mean_of_residuals(Y, predictions, weights, [](double u) { return std::abs(u); });
}

double pinball(MatrixView<const double> Y, MatrixView<const double> predictions, double tau,
               std::span<const double> weights) {
  return mean_of_residuals(Y, predictions, weights,
                           [tau](double u) { return u > 0 ? tau * u : (tau - 1) * u; });
}

double negative_log_density(MatrixView<const double> Y, MatrixView<const double> laws,
                            std::span<const double> weights) {
  const auto loss = [&](int64_t i, int64_t k) {
    const double v = laws(i, Y.cols + k), u = Y(i, k) - laws(i, k);
    return (std::log(2 * std::numbers::pi) + std::log(v) + u * (u / v)) / 2;
  };
  return mean_over_outputs(Y, weights, loss, as_it_is);
}

double divergence(MatrixView<const double> reference, MatrixView<const double> laws,
                  std::span<const double> weights) {
  const int64_t m = reference.cols / 2;
  const auto loss = [&](int64_t i, int64_t k) {
    const double v = laws(i, m + k), u = reference(i, k) - laws(i, k);
    const double own = reference(i, m + k), above = (own - v) / v;
    // Of variances that are close the logarithm keeps the digits of their difference.
    const double log = std::abs(above) < 0.5 ? std::log1p(above) : std::log(own) - std::log(v);
    return (above - log + u * (u / v)) / 2;
  };
  return mean_over_outputs(reference.block_cols(0, m), weights, loss, as_it_is);
}

double RowLoss::operator()(double y, double f) const noexcept {
  if (deviance) return 2 * ((y > 0 ? y * (std::log(y) - f) : 0) - (y - std::exp(f)));
  return y > f ? tau * (y - f) : (1 - tau) * (f - y);
}

double RowLoss::best_constant(MatrixView<const double> Y, int64_t o,
                              std::span<const double> weights) const {
  const RowWeights w(weights, Y.rows);
  std::vector<std::pair<double, double>> rows;
  double total = 0, sum = 0, below = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (std::isnan(Y(i, o))) continue;
    const double weight = w[i];
    rows.emplace_back(Y(i, o), weight);
    total += weight;
    sum += weight * Y(i, o);
  }
  if (deviance) return std::log(sum / total);
  std::ranges::sort(rows);
  for (const auto& [y, weight] : rows) {
    below += weight;
    if (below >= tau * total) return y;
  }
  return kNaN;
}

double explained_loss(const RowLoss& loss, MatrixView<const double> Y,
                      MatrixView<const double> predictions, std::span<const double> weights) {
  const RowWeights w(weights, Y.rows);
  double explained = 0, varying = 0;
  for (int64_t o = 0; o < Y.cols; ++o) {
    const double constant = loss.best_constant(Y, o, weights);
    double own = 0, all = 0;
    for (int64_t i = 0; i < Y.rows; ++i) {
      if (std::isnan(Y(i, o))) continue;
      own += w[i] * loss(Y(i, o), predictions(i, o));
      all += w[i] * loss(Y(i, o), constant);
    }
    if (!(all > 0)) continue;
    explained += 1 - own / all;
    ++varying;
  }
  return varying > 0 ? explained / varying : kNaN;
}

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
  std::vector<RankedRow> rows(Y.rows);
  for (int64_t i = 0; i < Y.rows; ++i) found_at(scores, i);
  double sum = 0, counted = 0;
  for (int64_t k = classes == 2 ? 1 : 0; k < classes; ++k) {
    for (int64_t i = 0; i < Y.rows; ++i) {
      const double score = classes == 2 ? scores(i, 1) - scores(i, 0) : scores(i, k);
      require(!std::isnan(score), MERCER_INVALID_ARGUMENT, at_row(i),
              "predictions is %g, %g, whose difference is NaN, expected scores that can be ordered",
              scores(i, 0), scores(i, 1));
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
  std::vector<RankedRow> rows;  // the largest probability, inside: its class is right
  for (int64_t i = 0; i < Y.rows; ++i) {
    const int64_t found = found_at(probabilities, i);
    rows.push_back({probabilities(i, found), class_at(Y, i, probabilities.cols) == found, w[i]});
  }
  std::ranges::stable_sort(rows, {}, &RankedRow::score);
  std::vector<double> gaps(bins, 0.0);
  double before = 0;  // and with the row itself
  for (const RankedRow& row : rows) {
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
