// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The specs of fits and of fitted models: JSON to options and back. The options themselves are
// declared in model/fit_options.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/fit.h"
#include "model/model.h"
#include "model/update.h"

namespace mercer::spec {

/// The model and the map, how rows are prepared, what is searched and how lambda is chosen. Every
/// key has a default. Errors: INVALID_ARGUMENT naming key, value and what is allowed; VERSION;
/// UNSUPPORTED for "needs":"data".
model::FitPlan fit_plan(std::string_view json);

/// The options of an update of a model. INVALID_ARGUMENT naming key, value and what is allowed.
model::UpdateOptions update_options(std::string_view json);

/// "model" and "map", the entry's own keys, if there is one, and the keys of every fit.
std::vector<Field> fit_fields(const model::ModelEntry* entry);

/// The spec of a fitted model without "mercer": its map's parameters, its options, "needs":"data".
Parameters fitted_parameters(const Parameters& map, const model::FitOptions& fitted);

/// That with "select", as text: what a file of a model holds beside its numbers.
std::string print_fitted(const Parameters& map, const model::FitOptions& fitted);
struct FittedSpec {
  Parameters map;  // canonical
  model::FitOptions fit;
};
/// INVALID_ARGUMENT naming key, value and what is allowed; VERSION.
FittedSpec parse_fitted(std::string_view json);

}  // namespace mercer::spec
