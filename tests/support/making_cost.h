// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What making an object costs its thread, and that this is nothing to speak of.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "support/catch.h"

namespace mercer::test {

/// Kept by malloc and, in large pieces, by the system for it; nothing where malloc is replaced.
inline int64_t allocated_bytes() {
  const auto info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

/// Of this thread's work, whatever else the machine does.
inline double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct MakingCost {
  double seconds = 1e300;  // the least of three times
  int64_t bytes = 0;       // that the object holds
};

/// make() returns what owns the object.
template <class Make>
MakingCost making_cost(const Make& make) {
  MakingCost cost;
  for (int i = 0; i < 3; ++i) {
    const int64_t before = allocated_bytes();
    const double start = thread_seconds();
    const auto made = make();
    cost.seconds = std::min(cost.seconds, thread_seconds() - start);
    cost.bytes = allocated_bytes() - before;
  }
  return cost;
}

inline void check_cheap(const MakingCost& cost) {
#ifdef __SANITIZE_ADDRESS__
  constexpr double kMostSeconds = 0.1;  // every access is checked
#else
  constexpr double kMostSeconds = 0.01;
#endif
  CHECK(cost.seconds < kMostSeconds);
  CHECK(cost.bytes < 1000000);
}

}  // namespace mercer::test
