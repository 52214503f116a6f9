// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the library refuses of kernel and map whatever the rows, told before they are read.
#pragma once

#include <cstdint>

#include "plan.h"

namespace mercer::cli {

/// Throws the library's Error. What depends on the number of inputs or rows is left to the fit.
void check_plan(const Plan& plan, int64_t features);

}  // namespace mercer::cli
