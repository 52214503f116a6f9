// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Threads that cannot be started, the caller's rounding mode on every thread, loops after a fork.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <thread>

#include "base/float_environment.h"
#include "base/parallel.h"
#include "support/catch.h"

namespace thread_failure_test {
using namespace mercer;

std::atomic<bool> limited{false};
std::atomic<int> threads_left{0};  // that may be started while limited

/// A thread's own start, and its place among the threads that may exist given back at its end.
struct Start {
  void* (*start)(void*);
  void* argument;
};
void* run_and_leave(void* given) {
  const Start start = *static_cast<Start*>(given);
  delete static_cast<Start*>(given);
  void* const result = start.start(start.argument);
  ++threads_left;
  return result;
}

/// In place of the C library's: while limited, only so many threads exist at any one time.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!limited) return real(thread, attributes, start, argument);
  if (threads_left.fetch_sub(1) > 0) {
    return real(thread, attributes, run_and_leave, new Start{start, argument});
  }
  ++threads_left;
  return EAGAIN;
}

/// Chunks of a loop on so many threads that did not run exactly once.
int64_t missed_chunks(Context& context, int threads, int64_t chunks) {
  context.threads = threads;
  std::vector<std::atomic<int>> runs(chunks);
  parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
    ++runs[chunk];
    std::this_thread::yield();
    for (int turn = 0; turn < 2000; ++turn) std::atomic_signal_fence(std::memory_order_seq_cst);
  });
  int64_t missed = 0;
  for (const std::atomic<int>& count : runs) missed += count != 1;
  return missed;
}

#ifndef __SANITIZE_THREAD__  // it does not support threads after fork
/// Exit status of a forked child that runs body(), -1 if it was killed.
template <class Body>
int run_in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that hangs is a failure, not a wait
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#endif

// First of all: later, threads that were started before stand by.
TEST_CASE("threads that cannot be started leave their share to the others") {
  for (const int left : {3, 2, 4, 0, 1}) {
    threads_left = left;
    limited = true;
    int64_t missed = 0;
    Context context;
    for (int round = 0; round < 5; ++round) missed += missed_chunks(context, 60, 1000);
    limited = false;
    CHECK(missed == 0);
    CHECK(context.threads_used >= 1);
  }
  Context after;
  CHECK(missed_chunks(after, 9, 100) == 0);
}

TEST_CASE("a loop runs under its caller's rounding mode on every thread") {
  for (const int mode : {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD, FE_TONEAREST}) {
    std::atomic<int> others{0};
    Context context;
    context.threads = 7;
    std::fesetround(mode);
    parallel_for(context, 200, [&](int64_t, int) noexcept {
      if (std::fegetround() != mode) ++others;
      std::this_thread::yield();
    });
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(others == 0);
    CHECK(after == mode);
  }
}

TEST_CASE("standard rounding ends with its scope") {
  std::fesetround(FE_TOWARDZERO);
  int inside = 0, around_callback = 0;
  const FloatEnvironment callers = FloatEnvironment::current();
  {
    const StandardRounding rounding;
    inside = std::fegetround();
    const RoundingOf caller(callers);
    around_callback = std::fegetround();
  }
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(inside == FE_TONEAREST);
  CHECK(around_callback == FE_TOWARDZERO);
  CHECK(after == FE_TOWARDZERO);
}

#ifdef __SSE2__
TEST_CASE("standard rounding keeps subnormals, and gives flushing back") {
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);  // flush to zero, subnormals are zeros
  unsigned inside = 0;
  {
    const StandardRounding rounding;
    inside = __builtin_ia32_stmxcsr();
  }
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  CHECK((inside & 0x8040) == 0);
  CHECK((after & 0x8040) == 0x8040);
}
#endif

#ifndef __SANITIZE_THREAD__
TEST_CASE("a child forked while threads run loops has loops of its own") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      Context context;
      while (!stop) missed_chunks(context, 4, 20);
    });
  }
  int failures = 0;
  for (int round = 0; round < 100; ++round) {
    failures += run_in_child([] {
                  Context context;
                  return missed_chunks(context, 4, 200) == 0 && context.threads_used == 1 ? 0 : 1;
                }) != 0;
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(failures == 0);
}
#endif

}  // namespace thread_failure_test
