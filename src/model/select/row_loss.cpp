// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/row_loss.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mercer::model {
namespace {

constexpr double kSoftness = 0.1;  // width of the smooth step, in margins

}  // namespace

double margin(const double* scores, const double* code, int64_t classes) noexcept {
  double own = 0, other = -kInfinity;
  for (int64_t o = 0; o < classes; ++o) {
    if (std::isnan(scores[o])) return scores[o];  // std::max would ignore it
    if (code[o] == 1.0) {
      own = scores[o];
    } else {
      other = std::max(other, scores[o]);
    }
  }
  return own - other;
}

double soft_error(double margin) noexcept {
  return std::isnan(margin) ? 1.0 : 1.0 / (1.0 + std::exp(margin / kSoftness));
}

double RowLoss::operator()(const double* scores, const double* code) const noexcept {
  const auto outputs = static_cast<int64_t>(scale_.size());
  if (task_ == Task::classification) return soft_error(margin(scores, code, outputs));
  double loss = 0;
  for (int64_t o = 0; o < outputs; ++o) {
    const double error = std::isnan(code[o]) ? 0.0 : scores[o] - code[o];
    loss += scale_[o] * error * error;
  }
  return loss;
}

RowLoss plain_loss(Task task, int64_t outputs) { return {task, std::vector<double>(outputs, 1.0)}; }

}  // namespace mercer::model
