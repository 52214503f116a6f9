// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What single columns say of how the data came about, before any model is trusted.
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "base/rows.h"
#include "model/prepare/coding.h"

namespace mercer::model {

/// Numbers that stand for missing ones, among dense inputs and targets; dense inputs that are
/// copies of others; of several dense inputs those that nearly are the target. Y: targets as they
/// were given, or class numbers. Cost: two looks at the numbers, and a sort of 1,000 rows.
std::vector<std::string> column_warnings(Task task, const Rows& X, MatrixView<const double> Y,
                                         Context& context);

}  // namespace mercer::model
