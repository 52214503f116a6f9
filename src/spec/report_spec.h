// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reports of fits as JSON, and what a model has of its rows: with its weights and kernel all that
// programs without this library need for its values.
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

// Of models.

/// The steps from inputs to prepared inputs and from scores to values, as documented in GUIDE.md,
/// "Reports".
std::string print_preparation(const model::Model& model);

/// {"NAME":{"shape":[...],"values":[...]}} of what the model's map keeps beside its spec:
/// landmarks, say.
std::string print_numbers(const model::Model& model);

}  // namespace mercer::spec
