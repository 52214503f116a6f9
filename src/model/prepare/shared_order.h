// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Order statistics of numbers that lie in several processes, by sums alone.
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

/// For every question the smallest number x of any process up to which the processes' weights sum
/// to at least wanted[q], the same in all of them; wanted: the same in all, and no more than all
/// weights. 0 wanted: -infinity. Minimum: a weight of 1 for the least number of each process, 1
/// wanted. Maximum: as many wanted as there are processes with a number.
std::vector<double> shared_order(std::span<const double> wanted, const WeightUpTo& weight_up_to,
                                 solver::Reduction& reduction, Context& context);

}  // namespace mercer::model
