// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers that sums of squares can take: refused by row and column where they enter, so that a NaN
// or an overflow never becomes a weight or a score.
#pragma once

#include "base/matrix_view.h"
#include "base/rows.h"

namespace mercer {

/// Squares of numbers beyond it, summed over rows, leave the range of a double.
inline constexpr double kLargestSummed = 1e150;

/// Whether NaN is an error or a number that is missing.
enum class MissingNumbers { refused, allowed };

/// INVALID_ARGUMENT naming the first entry of X, by row, that is NaN (unless that is allowed),
/// infinite or beyond kLargestSummed in magnitude; rows and columns are counted from 0. One pass
/// over X, two of rows with a NaN.
void require_summable(const char* name, const Rows& X,
                      MissingNumbers missing = MissingNumbers::refused);

}  // namespace mercer
