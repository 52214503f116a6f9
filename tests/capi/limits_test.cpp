// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every call of the table of long calls, where it takes a second: how long it goes on after a request
// to stop, in processor time of its one thread, so that other programs count little; and the memory
// that it takes under a cap.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "fixture.h"
#include "progress_calls.h"
#include "support/measured_memory.h"

namespace limits_test {
using namespace mercer::test;

constexpr double kLong = 1, kAnswer = 0.25;  // seconds

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// When a call told its progress.
struct Told {
  double start = seconds_of(CLOCK_THREAD_CPUTIME_ID), last = start;
  double silent_from = 0, silence = 0;  // the longest

  void now() {
    const double at = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    if (at - last > silence) silent_from = last - start, silence = at - last;
    last = at;
  }
  double seconds() const { return last - start; }
  static int32_t listen(void* user, int64_t, int64_t) {
    static_cast<Told*>(user)->now();
    return 0;
  }
};

Told heard(const LongCall& call) {
  Told told;
  const auto running = context(1, 0, Told::listen, &told);
  INFO(call.function << " " << call.way);
  CHECK(fault(call.run(running.get()), MERCER_OK) == "");
  told.now();
  return told;
}

/// Seconds for which a call goes on that is asked to stop after `from`.
double answer(const LongCall& call, double from) {
  const auto running = context(1);
  std::atomic<double> asked{0}, ended{0};
  std::atomic<bool> started{false}, done{false};
  clockid_t clock{};
  std::thread caller([&] {
    pthread_getcpuclockid(pthread_self(), &clock);
    started = true;
    call.run(running.get());
    ended = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    done = true;
    while (asked == 0) std::this_thread::yield();
  });
  while (!started) std::this_thread::yield();
  while (!done && seconds_of(clock) < from)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double now = seconds_of(clock);
  mercer_context_cancel(running.get(), 1);
  asked = now;
  caller.join();
  return ended - asked;
}

/// Sizes at which all but a few calls take kLong.
constexpr int64_t kSizes[] = {512, 1024, 2048, 4096};

TEST_CASE("every long call answers a request to stop within a quarter of a second", "[slow]") {
  std::set<size_t> took_long;
  for (const int64_t n : kSizes) {
    const std::vector<LongCall> calls = long_calls(n, n / 4);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (took_long.count(i) > 0) continue;
      INFO(calls[i].function << " " << calls[i].way << ", n = " << n);
      const Told told = heard(calls[i]);
      if (told.seconds() >= kLong) took_long.insert(i);
      // A call that tells nothing for so long may still ask whether it is to stop. Twice: what it
      // takes is measured beside other programs.
      const double from = told.silent_from + 0.01;
      if (told.silence > kAnswer)
        CHECK(std::min(answer(calls[i], from), answer(calls[i], from)) <= kAnswer);
    }
  }
  CHECK(took_long.size() >= 10);
}

/// Whether a call makes what it is given, which no cap sees.
bool makes_its_own(const LongCall& call) {
  return std::string_view(call.function).starts_with("mercer_rows_sums");
}

TEST_CASE("every long call keeps to its memory cap within a tenth, or says what it needs",
          "[slow]") {
  if (!measures_memory()) {
    WARN("operator new is not counted here: nothing is measured");
    return;
  }
  constexpr int64_t kSlack = int64_t{256} << 10;  // vectors of n numbers, objects, messages
  int64_t refused = 0, done = 0;
  for (const LongCall& call : long_calls(2048, 512)) {
    if (makes_its_own(call)) continue;
    INFO(call.function << " " << call.way);
    const auto used = [&](int64_t cap, mercer_status expected) {
      const auto capped = context(1, cap);
      const MemoryPeak peak;
      const mercer_status status = call.run(capped.get());
      CHECK((status == MERCER_OK || status == expected));
      (status == MERCER_OK ? done : refused) += 1;
      return status == MERCER_OK ? peak.bytes() : 0;
    };
    const auto most = static_cast<double>(used(0, MERCER_OK));
    for (const double share : {0.25, 0.5, 0.75}) {
      const auto cap = static_cast<int64_t>(share * most) + 1;
      CHECK(used(cap, MERCER_OUT_OF_MEMORY) <= cap + cap / 10 + kSlack);
    }
  }
  CHECK((refused >= 100 && done >= 100));
}

}  // namespace limits_test
