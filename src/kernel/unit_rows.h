// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

#include "base/rows.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

/// For a kernel that needs_unit_rows(): INVALID_ARGUMENT naming the first row of X, its norm and
/// what is expected, unless all norms are within 1e-4 of 1, about what four decimals of each number
/// keep. Rows with NaN pass: they stay NaN.
void check_unit_rows(const Kernel& kernel, const char* name, const Rows& X);

}  // namespace mercer::kernel
