// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Training data ready for the library, the fit of the command, and scores of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "commands.h"
#include "json.h"
#include "mercer/mercer.hpp"
#include "metadata.h"
#include "session.h"

namespace mercer::cli {

struct TrainingSet {
  Dataset data;  // Y holds class numbers when classes is not empty
  Metadata metadata;
  int64_t K = 0;  // classes, 0: regression
  bool standardize = true;
};

/// A sentence for each input that numbers the rows, unless they are ordered, and for constant ones.
std::vector<std::string> suspicious_inputs(const Dataset& data, bool ordered);

/// Reads, chooses the task, numbers the classes, and says all of it.
TrainingSet read_training_set(const LearnRequest& request, const Streams& streams);

struct OperatorOption {
  Json kernel;        // of several outputs, around the map's; null: the map's own
  Json outputs;       // of the spec; null: left out
  std::string graph;  // a file of their matrix; empty: none
};

/// What --operator says of how targets belong together; of no text nothing. Fails naming --operator.
OperatorOption read_operator(const std::string& text, const std::string& specs);
/// Adds it to the spec of a fit on this data. Fails where these targets cannot belong together so.
void add_operator(const OperatorOption& option, const TrainingSet& set, Json* spec);

/// The plan of a fit, of which as much is refused as can be before data is read.
Plan checked_plan(const FitRequest& request);

/// The spec of a fit as the options say; `assess`: with a score that no choice has seen.
Json fit_spec(const FitRequest& request, const Plan& plan, const TrainingSet& set, bool assess);

/// What fits of the same rows share beside the map: task, preparation, seed, weights of classes.
Json spec_of_rows(const LearnRequest& request, const TrainingSet& set);

/// A fit on the first n rows; failures are in words of their file, trials are printed as they come.
using TrialCallback = std::function<void(const Json&)>;
void tell_trials(Session& session, const TrialCallback& tell);
Model fit_rows(const Json& spec, const TrainingSet& set, int64_t n, Session& session,
               const TrialCallback& tell = nullptr);

/// As read_training_set, of a sample of the file's lines. Fails for options that need all in memory.
TrainingSet read_streamed(const FitRequest& request, const Streams& streams);
/// A fit on all rows of the file, of which n of the set becomes how many were fitted. An earlier run
/// of which there is a checkpoint goes on.
Model fit_stream(const Json& spec, const FitRequest& request, TrainingSet* set, Session& session);
/// The checkpoint of each process, in the order of ranks; none unless asked for.
std::vector<std::string> checkpoints_of(const FitRequest& request);
/// Once the model is written: the checkpoint of this process, if any.
void remove_checkpoint(const FitRequest& request);

/// The score of rows [first, first + count) of the set, by their weights.
double score_rows(const Model& model, const TrainingSet& set, int64_t first, int64_t count,
                  Session& session);

/// What mercer_map_certify says on these rows as prepared, at most 4,096; null: map without one.
Json certificate_of(const Model& model, const Dataset& data, int64_t first, int64_t count,
                    Session& session);

}  // namespace mercer::cli
