// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Units of several targets, of which some are missing (NaN).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::model {

/// Of the targets of an output that are not NaN, in rows of weight > 0 (no weights: 1 each).
/// deviation, the root of their mean square about the mean, is 0 where they differ by rounding
/// alone: by 1e-14 of the mean. No square overflows or underflows.
struct OutputMoments {
  double mean = 0, deviation = 0;
  double observed = 0;   // their weights
  bool constant = true;  // to the last bit
};
OutputMoments output_moments(MatrixView<const double> Y, int64_t output,
                             std::span<const double> weights);

/// (y - mean)/deviation by output, over what was observed; an output without a target has mean 0, one
/// that does not vary scale 1, or |mean| where rounding makes it differ.
struct OutputUnits {
  std::vector<double> mean, scale;
};

OutputUnits output_units(MatrixView<const double> Y, std::span<const double> weights);

/// Y in units; missing targets stay so.
Matrix<double> in_units(MatrixView<const double> Y, const OutputUnits& units, Context& context);

}  // namespace mercer::model
