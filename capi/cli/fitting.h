// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The fit of the fit command, and scores of rows, for commands that fit more than once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "commands.h"
#include "json.h"
#include "mercer/mercer.hpp"
#include "session.h"
#include "training_set.h"

namespace mercer::cli {

/// The plan of a fit, of which as much is refused as can be before data is read.
Plan checked_plan(const FitRequest& request);

/// The spec of a fit as the options say; `assess`: with a score that no choice has seen.
Json fit_spec(const FitRequest& request, const Plan& plan, const TrainingSet& set, bool assess);

/// What fits of the same rows share beside the map: task, preparation, seed, weights of classes.
Json spec_of_rows(const LearnRequest& request, const TrainingSet& set);

/// A fit on the first n rows of the set; what fails is told in words of its file. Trials of a search
/// are told as they come.
using TellTrial = std::function<void(const Json&)>;
Model fit_rows(const Json& spec, const TrainingSet& set, int64_t n, Session& session,
               const TellTrial& tell = nullptr);

/// The score of rows [first, first + count) of the set, by their weights.
double score_rows(const Model& model, const TrainingSet& set, int64_t first, int64_t count,
                  Session& session);

}  // namespace mercer::cli
