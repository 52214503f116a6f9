// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers that a kernel does not accept, found where rows are refused: rows that maps learn from,
// and codes.
#pragma once

#include <cstdint>
#include <optional>

#include "base/rows.h"
#include "kernel/kernel.h"

namespace mercer::feature {

struct BadInput {
  int64_t row;
  int64_t column;
  double value;
};

/// The first number of rows [begin, end) that is not finite or outside the kernel's domain; in
/// sparse rows among stored numbers, columns that are stored twice added up.
std::optional<BadInput> find_bad_input(const kernel::Kernel& kernel, const Rows& X, int64_t begin,
                                       int64_t end);

/// Throws INVALID_ARGUMENT naming row, column, value and what the kernel takes.
[[noreturn]] void refuse(const kernel::Kernel& kernel, const BadInput& bad);

/// Refuses the first such number of X.
void require_inputs(const kernel::Kernel& kernel, const Rows& X);

}  // namespace mercer::feature
