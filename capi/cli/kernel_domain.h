// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that a kernel of bounded inputs does not take, told by the file's own rows.
#pragma once

#include "mercer/mercer.hpp"
#include "training_set.h"

namespace mercer::cli {

/// False where its value of rows of d inputs full of `number` is NaN.
bool takes(const Kernel& kernel, int64_t d, double number);

/// Fails naming the first row of the file, column and number that the kernel does not take. Bounds
/// are from below, and at most 0.
void check_domain(const Kernel& kernel, const TrainingSet& set);

}  // namespace mercer::cli
