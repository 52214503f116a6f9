// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Units of several targets, some of which may be missing (NaN).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::model {

/// Moments of an output's observed targets in rows of weight > 0 (no weights: 1 each). The standard
/// deviation is 0 if they differ by rounding alone, 1e-14 of the mean. No square overflows or
/// underflows.
struct OutputMoments {
  double mean = 0, deviation = 0;
  double observed = 0;   // sum of weights
  bool constant = true;  // to the last bit
};
OutputMoments output_moments(MatrixView<const double> Y, int64_t output,
                             std::span<const double> weights);

/// (y - mean)/deviation by output, over observed targets. Without any the mean is 0; a constant
/// output has scale 1, or |mean| if it varies by rounding.
struct OutputUnits {
  std::vector<double> mean, scale;
};

OutputUnits output_units(MatrixView<const double> Y, std::span<const double> weights);

/// Y in units; missing targets stay so.
Matrix<double> in_units(MatrixView<const double> Y, const OutputUnits& units, Context& context);

}  // namespace mercer::model
