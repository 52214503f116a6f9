// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over the processes that share one data set: all the communication that a distributed fit
// needs.
#pragma once

#include <span>

namespace mercer::solver {

class RowStatistics;

/// Every process makes the same calls of sum, with equally many numbers.
class Reduction {
 public:
  virtual ~Reduction() = default;
  /// Replaces each number by its sum over the processes, the same bits in all of them.
  virtual void sum(std::span<double> numbers) = 0;
};

/// Sums the statistics over the processes, after moving them to one origin: the mean of all rows.
void all_reduce(RowStatistics& statistics, Reduction& reduction);

}  // namespace mercer::solver
