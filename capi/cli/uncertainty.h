// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What predict writes of how sure a model "gp" is.
#pragma once

#include <string>
#include <vector>

#include "loaded_model.h"

namespace mercer::cli {

/// Columns behind the predictions.
struct FurtherColumns {
  std::vector<std::string> names;
  Matrix<double> numbers;
};

/// The name of each target, y or y1, y2, ... where the file had none.
std::vector<std::string> target_names(const LoadedModel& loaded);

/// Fails where options ask for what the model does not have.
void check_uncertainty(const LoadedModel& loaded, const ApplyRequest& request);
/// What options ask for: variances of new targets, ends of intervals, draws of the function.
std::vector<FurtherColumns> uncertainty_of(const LoadedModel& loaded, const Dataset& rows,
                                           const ApplyRequest& request, Session& session);

}  // namespace mercer::cli
