// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Taking columns out of a table, in place.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset.h"

namespace mercer::cli {

/// The numbers of a column.
std::vector<double> column_of(const Table& table, int64_t column);
/// Inputs in the order given (distinct columns), targets copied out. The table's numbers are moved,
/// not copied.
Dataset take_columns(Table&& table, const std::vector<int64_t>& inputs,
                     const std::vector<int64_t>& targets);
/// Every column an input, none listed one by one: libsvm indices may be in the millions.
Dataset take_all(Table&& table);
/// All columns but `targets`, ascending.
std::vector<int64_t> other_columns(int64_t columns, const std::vector<int64_t>& targets);
/// The one column of `labels` becomes the target of `data`; fails when the counts of rows differ.
void attach_labels(Table&& labels, Dataset* data);

}  // namespace mercer::cli
