// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How long something takes when nothing else does: the least of three times.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

namespace mercer::bench {

template <class Run>
double best_seconds(const Run& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int time = 0; time < 3; ++time) {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

/// The least over all iterations.
template <class Run>
double best_seconds(benchmark::State& state, const Run& run) {
  double best = 1e30;
  for (auto _ : state) best = std::min(best, best_seconds(run));
  return best;
}

}  // namespace mercer::bench
