// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is printed of training data: what it holds, every automatic choice, and what looks wrong.
#pragma once

#include <cstdint>

#include "gaps.h"
#include "streams.h"
#include "task.h"
#include "training_set.h"

namespace mercer::cli {

/// What came of reading the file.
struct Reading {
  int64_t rows = 0;        // of the file
  int64_t weightless = 0;  // of these left out
  double seconds = 0;
  MissingInputs missing = {};
  std::string targets = {};  // which rows lack
  bool task_chosen = false;  // here, not by the caller
};

/// Before text is encoded.
void tell_training(const TrainingSet& set, const Task& task, const Reading& reading,
                   const Streams& streams);

}  // namespace mercer::cli
