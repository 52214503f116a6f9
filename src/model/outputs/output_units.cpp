// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/output_units.h"

#include <algorithm>
#include <cmath>

namespace mercer::model {
namespace {

constexpr double kRounding = 1e-14;  // of the mean

double common_scale(const std::vector<OutputMoments>& outputs) {
  double largest = 0, squares = 0, observed = 0;
  for (const OutputMoments& one : outputs) largest = std::max(largest, one.deviation);
  if (largest == 0) return 1;
  for (const OutputMoments& one : outputs) {
    const double share = one.deviation / largest;
    squares += static_cast<double>(one.observed) * share * share;
    observed += static_cast<double>(one.observed);
  }
  return largest * std::sqrt(squares / observed);
}

}  // namespace

OutputMoments output_moments(int64_t n, const std::function<double(int64_t)>& y) {
  // About the first number: sums of equal ones are exact, however many they are.
  OutputMoments moments;
  double first = 0, sum = 0, largest = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(y(i))) continue;
    if (moments.observed++ == 0) first = y(i);
    moments.constant = moments.constant && y(i) == first;
    sum += y(i) - first;
  }
  if (moments.observed == 0) return moments;
  const auto count = static_cast<double>(moments.observed);
  moments.mean = first + sum / count;
  if (moments.constant) return moments;
  for (int64_t i = 0; i < n; ++i)
    if (!std::isnan(y(i))) largest = std::max(largest, std::abs(y(i) - moments.mean));
  for (int64_t i = 0; i < n; ++i) {
    const double share = (y(i) - moments.mean) / largest;
    if (!std::isnan(share)) squares += share * share;
  }
  const double deviation = largest * std::sqrt(squares / count);
  if (deviation > kRounding * std::abs(moments.mean)) moments.deviation = deviation;
  return moments;
}

OutputUnits output_units(MatrixView<const double> Y, OutputScale kind) {
  OutputUnits units;
  std::vector<OutputMoments> outputs;
  for (int64_t o = 0; o < Y.cols; ++o) {
    outputs.push_back(output_moments(Y.rows, [&](int64_t i) { return Y(i, o); }));
    const OutputMoments& one = outputs.back();
    units.mean.push_back(one.mean);
    const double flat = one.constant ? 1 : std::abs(one.mean);
    units.scale.push_back(one.deviation > 0 ? one.deviation : flat);
  }
  if (kind == OutputScale::common) std::ranges::fill(units.scale, common_scale(outputs));
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
