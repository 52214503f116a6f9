// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/output_units.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mercer::model {
namespace {

/// Sum and number of body(y) over the observed targets of an output.
template <class Body>
std::pair<double, int64_t> sum_of(MatrixView<const double> Y, int64_t o, const Body& body) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (std::isnan(Y(i, o))) continue;
    sum += body(Y(i, o));
    ++count;
  }
  return {sum, count};
}

}  // namespace

OutputUnits output_units(MatrixView<const double> Y, OutputScale kind) {
  OutputUnits units;
  double squares = 0;
  int64_t observed = 0;
  for (int64_t o = 0; o < Y.cols; ++o) {
    const auto [sum, count] = sum_of(Y, o, [](double y) { return y; });
    const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
    const double square = sum_of(Y, o, [mean](double y) { return (y - mean) * (y - mean); }).first;
    // What rounding of the mean leaves is no deviation.
    const double deviation = count == 0 ? 0 : std::sqrt(square / static_cast<double>(count));
    units.mean.push_back(mean);
    units.scale.push_back(deviation > 1e-14 * std::abs(mean) ? deviation : 1);
    squares += square;
    observed += count;
  }
  if (kind == OutputScale::common) {
    const double common = observed == 0 ? 0 : std::sqrt(squares / static_cast<double>(observed));
    std::ranges::fill(units.scale, common > 0 ? common : 1);
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
