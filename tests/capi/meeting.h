// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Two processes that share rows, played by threads.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <vector>

namespace mercer::test {

/// What two processes meet at: every number becomes its sum over both.
struct Meeting {
  std::barrier<> barrier{2};
  double* numbers[2] = {};

  void sum(int process, int64_t n, double* own) {
    numbers[process] = own;
    barrier.arrive_and_wait();
    std::vector<double> total(n);
    for (size_t i = 0; i < total.size(); ++i) total[i] = numbers[0][i] + numbers[1][i];
    barrier.arrive_and_wait();
    std::copy(total.begin(), total.end(), own);
  }
};

}  // namespace mercer::test
