// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Order statistics of numbers spread over several processes, by sums alone.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/context.h"
#include "solver/reduction.h"

namespace mercer::model {

/// The weight of this process's numbers of question q that are <= x; ascends with x.
using WeightUpTo = std::function<double(std::size_t q, double x)>;

/// For every question q the smallest number x such that the weights of all numbers <= x, over all
/// processes, sum to at least wanted[q]. wanted is the same in all processes and at most the total
/// weight; 0: -infinity. Minimum: weight 1 for the least number of each process, wanted 1. Maximum:
/// wanted is the number of processes with a number.
std::vector<double> shared_order(std::span<const double> wanted, const WeightUpTo& weight_up_to,
                                 solver::Reduction& reduction, Context& context);

}  // namespace mercer::model
