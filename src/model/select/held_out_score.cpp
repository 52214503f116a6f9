// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/held_out_score.h"

#include "model/rows/scored_rows.h"
#include "model/select/row_loss.h"

namespace mercer::model {

std::vector<HeldOutScore> score_rows(const solver::BlockSource& rows, Task task,
                                     std::span<const solver::Weights> weights, Context& context) {
  const int64_t outputs = weights[0].w.cols();
  const RowLoss squares = plain_loss(Task::regression, outputs);
  std::vector<double> squared(weights.size(), 0.0), wrong(weights.size(), 0.0);
  double all = 0;
  for_each_scored(rows, weights, context,
                  [&](int64_t, const double* code, double weight, const double* scores) {
                    if (weight == 0) return;  // it may hold anything
                    all += weight;
                    for (size_t k = 0; k < squared.size(); ++k, scores += outputs) {
                      squared[k] += weight * squares(scores, code);
                      if (task == Task::classification && !(margin(scores, code, outputs) > 0))
                        wrong[k] += weight;
                    }
                  });
  solver::reduce(rows, {&all, 1});
  solver::reduce(rows, squared);
  solver::reduce(rows, wrong);
  std::vector<HeldOutScore> result;
  for (size_t k = 0; k < squared.size(); ++k)
    result.push_back({all, squared[k] / all, wrong[k] / all});
  return result;
}

}  // namespace mercer::model
