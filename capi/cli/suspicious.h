// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Columns of numbers that say where a row stood or what it is called, and not what it is like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.h"

namespace mercer::cli {

/// A sentence for each input that counts the rows, is an index or an id (distinct whole numbers
/// under no name or one such as id), or holds dates as 20240131, and one for those that are the
/// same in every row; and for codes of kinds, whole numbers that could be text. Text inputs are not
/// looked at.
std::vector<std::string> suspicious_inputs(const Dataset& data);

}  // namespace mercer::cli
