// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks that numbers are finite and small enough to sum their squares: others are refused by row
// and column on entry, so that a NaN or an overflow never becomes a weight or a score.
#pragma once

#include "base/matrix_view.h"
#include "base/rows.h"

namespace mercer {

/// Beyond this magnitude sums of squares over rows may overflow a double.
inline constexpr double kLargestSummed = 1e150;

/// Whether NaN is an error or a missing number.
enum class MissingNumbers { refused, allowed };

/// INVALID_ARGUMENT naming the first entry of X, by row, that is NaN (unless allowed), infinite or
/// beyond kLargestSummed in magnitude; rows and columns count from 0. One pass over X, two over
/// rows with a NaN.
void require_summable(const char* name, const Rows& X,
                      MissingNumbers missing = MissingNumbers::refused);

}  // namespace mercer
