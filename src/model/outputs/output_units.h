// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Units of several targets, of which some are missing (NaN).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::model {

/// Of the numbers y(0) to y(n - 1) that are not NaN. deviation, the root of their mean square about
/// the mean, is 0 where they differ by rounding alone: by 1e-14 of the mean. No square overflows or
/// underflows.
struct OutputMoments {
  double mean = 0, deviation = 0;
  int64_t observed = 0;
  bool constant = true;  // to the last bit
};
OutputMoments output_moments(int64_t n, const std::function<double(int64_t)>& y);

/// (y - mean)/scale by output, over what was observed; an output without a target has mean 0, one
/// that does not vary scale 1, or |mean| where rounding makes it differ.
struct OutputUnits {
  std::vector<double> mean, scale;
};

/// Standard deviations of the outputs, or for all of them the root of their mean square.
enum class OutputScale { own, common };
OutputUnits output_units(MatrixView<const double> Y, OutputScale kind);

/// Y in units; missing targets stay so.
Matrix<double> in_units(MatrixView<const double> Y, const OutputUnits& units, Context& context);

}  // namespace mercer::model
