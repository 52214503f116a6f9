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
/// "standard_error":..,"constant":..,"linear":..,"balanced":{..},"classes":[{..}]},"trials":[{..}],
/// "relevance":[..],"warnings":[..]}: unknown numbers are null. "{}" for no report.
std::string print_report(const model::FitReport& report, model::Task task);

/// One trial of a report, with its time.
std::string print_trial(const model::SearchCandidate& trial);

/// The inverse of print_report. INVALID_ARGUMENT naming a key that is missing or invalid.
model::FitReport parse_report(std::string_view json);

}  // namespace mercer::spec
