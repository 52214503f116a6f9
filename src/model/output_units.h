// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Units of several targets, of which some are missing (NaN).
#pragma once

#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::model {

/// (y - mean)/scale by output, over what was observed; an output without a target has mean 0, one
/// that does not vary scale 1.
struct OutputUnits {
  std::vector<double> mean, scale;
};

/// Standard deviations of the outputs, or for all of them the root of their mean square.
enum class OutputScale { own, common };
OutputUnits output_units(MatrixView<const double> Y, OutputScale kind);

/// Y in units; missing targets stay so.
Matrix<double> in_units(MatrixView<const double> Y, const OutputUnits& units, Context& context);

}  // namespace mercer::model
