// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is missing in the dense rows of a comparison, filled as the library's models fill it.
#pragma once

#include <string>
#include <vector>

#include "subsample.h"

namespace mercer::cli {

/// NaN becomes the median of its column over the rows that are fitted on: the smallest number that
/// rows of half the weight do not exceed. flag: an input of 0 and 1 more for each that misses some
/// of them there. Fails naming a column without any number there by `names`, one for each column.
void fill_missing(Subsample* rows, bool flag, const std::vector<std::string>& names);

}  // namespace mercer::cli
