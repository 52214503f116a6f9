// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/output_units.h"

#include <algorithm>
#include <cmath>

namespace mercer::model {
namespace {

constexpr double kUnitRounding = 1e-14;  // of the mean

}  // namespace

OutputMoments output_moments(MatrixView<const double> Y, int64_t output,
                             std::span<const double> weights) {
  const auto y = [&](int64_t i) { return Y(i, output); };
  const auto weight = [&](int64_t i) {
    const double own = weights.empty() ? 1 : weights[i];
    return std::isnan(y(i)) ? 0 : own;
  };
  // About the first number, so that sums of equal numbers are exact.
  OutputMoments moments;
  double first = 0, sum = 0, largest = 0, squares = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (weight(i) == 0) continue;
    if (moments.observed == 0) first = y(i);
    moments.observed += weight(i);
    moments.constant = moments.constant && y(i) == first;
    sum += weight(i) * (y(i) - first);
  }
  if (moments.observed == 0) return moments;
  moments.mean = first + sum / moments.observed;
  if (moments.constant) return moments;
  for (int64_t i = 0; i < Y.rows; ++i)
    if (weight(i) > 0) largest = std::max(largest, std::abs(y(i) - moments.mean));
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double share = (y(i) - moments.mean) / largest;
    if (weight(i) > 0) squares += weight(i) * share * share;
  }
  const double deviation = largest * std::sqrt(squares / moments.observed);
  if (deviation > kUnitRounding * std::abs(moments.mean)) moments.deviation = deviation;
  return moments;
}

OutputUnits output_units(MatrixView<const double> Y, std::span<const double> weights) {
  OutputUnits units;
  for (int64_t o = 0; o < Y.cols; ++o) {
    const OutputMoments one = output_moments(Y, o, weights);
    units.mean.push_back(one.mean);
    const double flat = one.constant ? 1 : std::abs(one.mean);
    units.scale.push_back(one.deviation > 0 ? one.deviation : flat);
  }
  return units;
}

Matrix<double> in_units(MatrixView<const double> Y, const OutputUnits& units, Context& context) {
  Matrix<double> scaled(Y.rows, Y.cols, context, "targets in units");
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t o = 0; o < Y.cols; ++o) {
      const auto k = static_cast<size_t>(o);
      scaled(i, o) = (Y(i, o) - units.mean[k]) / units.scale[k];
    }
  return scaled;
}

}  // namespace mercer::model
