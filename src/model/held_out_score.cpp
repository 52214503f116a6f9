// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/held_out_score.h"

#include <algorithm>

#include "model/row_loss.h"
#include "model/scored_rows.h"

namespace mercer::model {
namespace {

/// Weighted sums over rows, per column of the stacked scores.
struct Sums {
  double weight = 0;
  std::vector<double> squared_error;  // per weights and output
  std::vector<double> wrong, soft;    // per weights
  std::vector<double> origin;         // per output: its first value, so that constants cancel
  std::vector<double> y, y_squared;   // per output, about the origin
};

void add_row(const double* scores, const double* y, double weight, bool classify, Sums& sums) {
  if (weight == 0) return;  // it may hold anything
  sums.weight += weight;
  const size_t outputs = sums.y.size();
  if (sums.origin.empty()) sums.origin.assign(y, y + outputs);
  for (size_t o = 0; o < outputs; ++o) {
    const double difference = y[o] - sums.origin[o];
    sums.y[o] += weight * difference;
    sums.y_squared[o] += weight * difference * difference;
  }
  for (size_t k = 0; k < sums.squared_error.size(); ++k) {
    const double e = scores[k] - y[k % outputs];
    sums.squared_error[k] += weight * e * e;
  }
  if (!classify) return;
  for (size_t k = 0; k < sums.wrong.size(); ++k) {
    const double m = margin(scores + k * outputs, y, static_cast<int64_t>(outputs));
    sums.wrong[k] += m > 0 ? 0.0 : weight;
    sums.soft[k] += weight * soft_error(m);
  }
}

/// All processes' sums. Those of y move to an origin that is common to them.
void reduce_sums(const solver::BlockSource& rows, Sums& sums) {
  if (rows.reduction() == nullptr) return;
  const size_t outputs = sums.y.size();
  std::vector<double> origin = sums.origin;
  origin.resize(outputs, 0.0);  // of a process without rows
  std::vector<double> common(origin);
  for (double& value : common) value *= sums.weight;
  common.push_back(sums.weight);
  solver::reduce(rows, common);
  for (size_t o = 0; o < outputs; ++o) {
    const double shift = origin[o] - common[o] / common[outputs];
    sums.y_squared[o] += shift * (2 * sums.y[o] + sums.weight * shift);
    sums.y[o] += sums.weight * shift;
  }
  sums.weight = common[outputs];
  for (std::vector<double>* part :
       {&sums.squared_error, &sums.wrong, &sums.soft, &sums.y, &sums.y_squared})
    solver::reduce(rows, *part);
}

std::vector<HeldOutScore> summarise(const Sums& sums) {
  const size_t outputs = sums.y.size();
  const double n = sums.weight;
  std::vector<HeldOutScore> result(sums.wrong.size());
  for (size_t k = 0; k < result.size(); ++k) {
    result[k].weight = n;
    for (size_t o = 0; o < outputs; ++o) {
      const double mean = sums.y[o] / n;
      const double variance = sums.y_squared[o] / n - mean * mean;
      const double error = sums.squared_error[k * outputs + o] / n;
      result[k].squared_error += error;
      // An output that is constant on these rows has no R^2: its error counts as it is.
      result[k].unexplained +=
          (variance > 0 ? error / variance : error) / static_cast<double>(outputs);
      result[k].varies = result[k].varies && variance > 0;
    }
    result[k].error_rate = sums.wrong[k] / n;
    result[k].soft_error = sums.soft[k] / n;
  }
  return result;
}

}  // namespace

std::vector<HeldOutScore> score_rows(const solver::BlockSource& rows, Task task,
                                     std::span<const solver::Weights> weights, Context& context) {
  const auto outputs = static_cast<size_t>(weights[0].w.cols());
  Sums sums{0,
            std::vector<double>(weights.size() * outputs),
            std::vector<double>(weights.size()),
            std::vector<double>(weights.size()),
            {},
            std::vector<double>(outputs),
            std::vector<double>(outputs)};
  const bool classify = task == Task::classification;
  for_each_scored(rows, weights, context,
                  [&](int64_t, const double* code, double weight, const double* scores) {
                    add_row(scores, code, weight, classify, sums);
                  });
  reduce_sums(rows, sums);
  return summarise(sums);
}

}  // namespace mercer::model
