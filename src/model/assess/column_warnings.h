// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Warnings about single columns that suggest errors in the data.
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "model/prepare/coding.h"

namespace mercer::model {

/// Warns of codes for missing numbers in dense inputs and targets, of dense inputs that copy
/// others, and of single dense inputs that almost determine the target. Y: original targets, or
/// class numbers. Cost: two passes over the numbers, and a sort of 1,000 rows.
std::vector<std::string> column_warnings(Task task, const Rows& X, MatrixView<const double> Y,
                                         Context& context);

}  // namespace mercer::model
