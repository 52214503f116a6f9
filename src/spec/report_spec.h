// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reports of fits as JSON.
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"

namespace mercer::spec {

/// {"criterion":..,"criterion_rows":..,"criterion_score":..,"lengthscale":..,"lambda":..,
/// "effective_dimension":..,"score":{"kind":..,"measure":..,"rows":..,"value":..,
/// "standard_error":..,"constant":..,"linear":..,"balanced":{..},"classes":[{..}]},"trials":[{..}],"relevance":[..],
/// "warnings":[..]}: numbers that are not known are null, scores are R^2 or accuracy. "{}" for no
/// report.
std::string print_report(const model::FitReport& report, model::Task task);

/// One of its trials, and how long it took.
std::string print_trial(const model::SearchCandidate& trial);

/// The inverse of print_report. INVALID_ARGUMENT naming what is missing or not as expected.
model::FitReport parse_report(std::string_view json);

}  // namespace mercer::spec
