// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// First columns that are no inputs.
#pragma once

#include <string>

#include "read/table.h"

namespace mercer::cli {

/// What the first column is, where it has no name and counts the rows from 0 or 1, as the index of
/// a data frame does, or holds names of rows, for which R writes no word into the header; else
/// nothing. Fails for names of rows that are not another number or text in every row.
std::string index_column(const Table& table);

}  // namespace mercer::cli
