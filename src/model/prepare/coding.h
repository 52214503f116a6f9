// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The task: what targets are.
#pragma once

#include <cstdint>

namespace mercer::model {

enum class Task { regression, classification };

/// Where the targets of a fit come from: the caller, nowhere, or the rows' prepared inputs.
enum class Targets { given, none, inputs };

struct Coding {
  Task task = Task::regression;
  int64_t classes = 0;  // classification: K >= 2; Y then holds one column of class numbers 0..K-1
  Targets targets = Targets::given;  // set by a fit; without `given` there is no Y
};

}  // namespace mercer::model
