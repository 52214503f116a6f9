// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/preparation.h"

#include <algorithm>

namespace mercer::model {

bool Preparation::centres() const noexcept {
  return std::ranges::any_of(mean, [](double m) { return m != 0; }) ||
         std::ranges::any_of(curves, [](const Curve& curve) { return curve(0) != 0; });
}

Preparation Preparation::divided_by(double lengthscale, int64_t inputs) const {
  Preparation result = *this;
  const auto count = static_cast<size_t>(flagged_inputs(inputs));
  if (mean.empty()) {
    result.mean.assign(count, 0.0);
    result.scale.assign(count, 1.0);
  }
  for (double& s : result.scale) s *= lengthscale;
  result.row_norm /= lengthscale;
  return result;
}

void Preparation::restore_inputs(MatrixView<double> prepared) const noexcept {
  for (int64_t i = 0; i < prepared.rows; ++i)
    for (size_t j = 0; j < static_cast<size_t>(prepared.cols); ++j) {
      double& x = prepared.row(i)[j];
      if (!mean.empty()) x = mean[j] + scale[j] * x;
      if (!curves.empty()) x = curves[j].inverse(x);
    }
}

void Preparation::restore_targets(MatrixView<double> scores) const noexcept {
  if (targets.empty()) return;
  for (int64_t i = 0; i < scores.rows; ++i) {
    double* row = scores.row(i);
    for (int64_t o = 0; o < scores.cols; ++o) row[o] = targets[o].inverse(row[o]);
  }
}

}  // namespace mercer::model
