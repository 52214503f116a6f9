// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From the JSON of a fit to its options.
#pragma once

#include <string_view>

#include "model/fit.h"

namespace mercer::spec {

/// The model and the map, how rows are prepared, what is searched and how lambda is chosen. Every
/// key has a default. Errors: INVALID_ARGUMENT naming key, value and what is allowed; VERSION;
/// UNSUPPORTED for "needs":"data".
model::FitPlan fit_plan(std::string_view json);

}  // namespace mercer::spec
