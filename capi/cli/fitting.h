// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The fit of the fit command, for commands that fit more than once.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "commands.h"
#include "json.h"
#include "mercer/mercer.hpp"
#include "session.h"
#include "training_set.h"

namespace mercer::cli {

/// The spec of a map from what --map says, its name or a spec; empty: the library's choice.
Json map_spec(const std::string& map, const std::optional<int64_t>& features);

/// Its plan, of which as much is refused as can be before data is read.
Plan plan_of(const FitRequest& request);

/// The search on the first n rows, as the options of the request say; `assess`: with a score that
/// no choice has seen. Trials are printed on `out`, nullptr: nowhere.
Model fit_by_search(const FitRequest& request, const Plan& plan, const TrainingSet& set, int64_t n,
                    bool assess, Session& session, std::FILE* out);

}  // namespace mercer::cli
