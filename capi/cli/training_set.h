// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Training data ready for the library, and what was decided about it on the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands.h"
#include "metadata.h"
#include "session.h"

namespace mercer::cli {

struct TrainingSet {
  Dataset data;  // Y holds class numbers when classes is not empty
  Metadata metadata;
  int64_t K = 0;  // classes, 0: regression
  bool standardize = true;
};

/// A sentence for each input of numbers that says which row it is and not what the row is like, and
/// one for those that are the same in every row.
std::vector<std::string> suspicious_inputs(const Dataset& data);

/// Reads, chooses the task, numbers the classes, and says all of it.
TrainingSet read_training_set(const LearnRequest& request, const Streams& streams);

}  // namespace mercer::cli
