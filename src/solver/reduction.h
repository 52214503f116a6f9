// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over the processes that share one data set: the one thing that a fit on several machines
// needs beside its own rows.
#pragma once

#include <span>

namespace mercer::solver {

class RowStatistics;

/// Every process calls sum equally often, with as many numbers each time.
class Reduction {
 public:
  virtual ~Reduction() = default;
  /// Each number becomes its sum over the processes, the same bits in all of them.
  virtual void sum(std::span<double> numbers) = 0;
};

/// The statistics of all processes' rows, in each of them. Origins are made one first: the mean of
/// all rows.
void all_reduce(RowStatistics& statistics, Reduction& reduction);

}  // namespace mercer::solver
