// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/explained_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/numbers.h"

namespace mercer::statistic {
namespace {

double weight_of(std::span<const double> weights, int64_t i) {
  return weights.empty() ? 1.0 : weights[i];
}

}  // namespace

double RowLoss::operator()(double y, double f) const noexcept {
  if (deviance) return 2 * ((y > 0 ? y * (std::log(y) - f) : 0) - (y - std::exp(f)));
  return y > f ? tau * (y - f) : (1 - tau) * (f - y);
}

double RowLoss::best_constant(MatrixView<const double> Y, int64_t o,
                              std::span<const double> weights) const {
  std::vector<std::pair<double, double>> rows;
  double total = 0, sum = 0, below = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (std::isnan(Y(i, o))) continue;
    const double weight = weight_of(weights, i);
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
  double explained = 0, varying = 0;
  for (int64_t o = 0; o < Y.cols; ++o) {
    const double constant = loss.best_constant(Y, o, weights);
    double own = 0, all = 0;
    for (int64_t i = 0; i < Y.rows; ++i) {
      if (std::isnan(Y(i, o))) continue;
      own += weight_of(weights, i) * loss(Y(i, o), predictions(i, o));
      all += weight_of(weights, i) * loss(Y(i, o), constant);
    }
    if (!(all > 0)) continue;
    explained += 1 - own / all;
    ++varying;
  }
  return varying > 0 ? explained / varying : kNaN;
}

}  // namespace mercer::statistic
