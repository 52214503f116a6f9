// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a process may do with the library: share handles between threads, fork, run out of memory.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "fixture.h"

namespace process_test {
using namespace mercer::test;

constexpr int64_t n = 3000, d = 5, D = 128;

std::vector<float> features(const mercer_map* map, mercer_status* status) {
  const auto X = numbers<float>(n, d);
  std::vector<float> Z(n * D);
  *status = mercer_map_apply_f32(map, n, X.data(), d, nullptr, Z.data(), D);
  return Z;
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_CASE("eight threads on one map, packing it for the first time, give equal bytes") {
  const auto map = fourier(d, D);
  std::vector<std::vector<float>> results(8);
  std::vector<mercer_status> statuses(8, MERCER_INTERNAL);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { results[i] = features(map.get(), &statuses[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  bool ok = true;
  for (size_t i = 0; i < 8; ++i)
    ok = ok && statuses[i] == MERCER_OK && same_bytes(results[i], results[0]);
  CHECK(ok);
  mercer_status status = MERCER_INTERNAL;
  const auto fresh = fourier(d, D);
  CHECK(same_bytes(features(fresh.get(), &status), results[0]));
}

TEST_CASE("errors of one thread are not seen by another") {
  mercer_kernel* out = nullptr;
  CHECK(mercer_kernel_from_spec(nullptr, &out) == MERCER_INVALID_ARGUMENT);
  std::string elsewhere = "?";
  std::thread([&] { elsewhere = mercer_last_error(); }).join();
  CHECK(elsewhere == "");
}

#ifndef __SANITIZE_THREAD__  // the thread sanitizer does not support threads after fork
/// Whether a forked child answers yes.
template <class Body>
bool works_in_child(const Body& body) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    alarm(60);  // a child that hangs is a failure, not a wait
    _exit(body() ? 0 : 1);
  }
  int result = -1;
  return waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

TEST_CASE("after a fork the child works and agrees") {
  const auto map = fourier(d, D);
  mercer_status status = MERCER_INTERNAL;
  const auto here = features(map.get(), &status);
  REQUIRE(status == MERCER_OK);
  CHECK(works_in_child([&] {
    const auto there = features(map.get(), &status);
    const auto model = small_model();
    return status == MERCER_OK && model != nullptr && same_bytes(here, there);
  }));
}

/// Draws a map whose projection is planned, of a length that no call before this had.
bool plan_something() {
  static std::atomic<int> calls{0};
  const std::string spec =
      R"({"map":"tensor_sketch","kernel":{"kernel":"polynomial"},"inputs":2,"features":)" +
      std::to_string(64 + calls++ % 20000) + "}";
  mercer_map* out = nullptr;
  const mercer_status made = mercer_map_from_spec(spec.c_str(), &out);
  const MapHandle map(out);
  if (made == MERCER_UNSUPPORTED) return true;  // without FFTW
  return mercer_map_prepare(out, MERCER_NUMBER_F32, nullptr) == MERCER_OK;
}

#ifndef __SANITIZE_ADDRESS__  // its allocator's locks are not held by forks: the child may hang there
TEST_CASE("a child forked while other threads plan transforms plans its own") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> planners;
  for (int i = 0; i < 3; ++i) {
    planners.emplace_back([&] {
      while (!stop) plan_something();
    });
  }
  int failures = 0;
  for (int round = 0; round < 30 && failures == 0; ++round)
    failures += works_in_child([] { return plan_something() && plan_something(); }) ? 0 : 1;
  stop = true;
  for (std::thread& planner : planners) planner.join();
  CHECK(failures == 0);
}
#endif

/// Features on `threads` threads, and how many came.
std::vector<float> features_on(int32_t threads, int32_t* came) {
  const auto running = context(threads);
  const auto map = fourier(d, D);
  const auto X = numbers<float>(n, d);
  std::vector<float> Z(n * D);
  const mercer_status applied =
      mercer_map_apply_f32(map.get(), n, X.data(), d, running.get(), Z.data(), D);
  mercer_context_threads_used(running.get(), came);
  return applied == MERCER_OK ? Z : std::vector<float>{};
}

// Run by the case below in a process of its own, whose loops have never had a thread; it leaves
// that process without the means to start one.
constexpr const char* kAlone = "MERCER_TEST_WITHOUT_THREADS";
TEST_CASE("without threads of its own", "[without_threads]") {
  if (std::getenv(kAlone) == nullptr) return;
  // The limit counts a user's processes, and none of root's.
  const rlimit none = {1, 1};
  REQUIRE(setrlimit(RLIMIT_NPROC, &none) == 0);
  REQUIRE((geteuid() != 0 || setuid(65534) == 0));
  int32_t alone = 0, limited = 0;
  const auto expected = features_on(1, &alone);
  const auto found = features_on(8, &limited);
  CHECK(!expected.empty());
  CHECK(found == expected);
  CHECK(limited == 1);
}

TEST_CASE("a process that may start no thread gets the same features") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);       // its own threads are not the question
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // the leak check starts a thread
    setenv(kAlone, "1", 1);
    execl("/proc/self/exe", "mercer_capi_test", "[without_threads]", nullptr);
    _exit(127);
  }
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK((WIFEXITED(result) && WEXITSTATUS(result) == 0));
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // they abort where malloc fails
TEST_CASE("what does not fit into memory is a status") {
  mercer_statistics* statistics = nullptr;
  CHECK(fault(mercer_statistics_create(int64_t{1} << 29, 1, &statistics), MERCER_OUT_OF_MEMORY,
              "mercer_statistics_create: an allocation of ", " bytes failed") == "");
  CHECK(statistics == nullptr);
}
#endif

}  // namespace process_test
