// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Columns of numbers that say where a row stood or what it is called, and not what it is like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.h"

namespace mercer::cli {

/// The column of an input in its file, from 1.
int64_t column_of(const Dataset& data, int64_t input);
/// An input's name, of a file without names the number of its column.
std::string input_name(const Dataset& data, int64_t input);

/// A sentence for each input that counts the rows, is an index or an id (distinct whole numbers
/// under no name or one such as id), or holds dates as 20240131, and one for those that are the
/// same in every row. Text inputs are not looked at.
std::vector<std::string> suspicious_inputs(const Dataset& data);

}  // namespace mercer::cli
