// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What --operator says of how targets belong together, as a part of the spec of a fit.
#pragma once

#include <string>

#include "json.h"
#include "training_set.h"

namespace mercer::cli {

struct OperatorOption {
  Json kernel;        // of several outputs, around the map's; null: the map's own
  Json outputs;       // of the spec; null: left out
  std::string graph;  // a file of their matrix; empty: none
};

/// Of no text nothing. Fails naming --operator.
OperatorOption read_operator(const std::string& text, const std::string& specs);

/// Adds it to the spec of a fit on this data. Fails where these targets cannot belong together so.
void add_operator(const OperatorOption& option, const TrainingSet& set, Json* spec);

}  // namespace mercer::cli
