// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a process may do with the library: share handles between threads, fork, run out of memory.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

constexpr int64_t n = 3000, d = 5, D = 128;

std::vector<float> features(const mercer_map* map, mercer_status* status) {
  const auto X = numbers<float>(n, d);
  std::vector<float> Z(static_cast<size_t>(n * D));
  *status = mercer_map_apply_f32(map, n, X.data(), d, Z.data(), D);
  return Z;
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_CASE("eight threads on one map, packing it for the first time, give equal bytes", "[capi]") {
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

TEST_CASE("errors of one thread are not seen by another", "[capi]") {
  mercer_kernel* out = nullptr;
  CHECK(mercer_kernel_gaussian(nullptr, 1, &out) == MERCER_INVALID_ARGUMENT);
  std::string elsewhere = "?";
  std::thread([&] { elsewhere = mercer_last_error(); }).join();
  CHECK(elsewhere == "");
}

#ifndef __SANITIZE_THREAD__  // the thread sanitizer does not support threads after fork
TEST_CASE("after a fork the child works and agrees", "[capi]") {
  const auto map = fourier(d, D);
  mercer_status status = MERCER_INTERNAL;
  const auto here = features(map.get(), &status);
  REQUIRE(status == MERCER_OK);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // a child that hangs is a failure, not a wait
    const auto there = features(map.get(), &status);
    const auto model = small_model();
    _exit(status == MERCER_OK && model != nullptr && same_bytes(here, there) ? 0 : 1);
  }
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK((WIFEXITED(result) && WEXITSTATUS(result) == 0));
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // they abort where malloc fails
TEST_CASE("what does not fit into memory is a status", "[capi]") {
  mercer_statistics* statistics = nullptr;
  CHECK(fault(mercer_statistics_create(int64_t{1} << 29, 1, &statistics), MERCER_OUT_OF_MEMORY,
              "mercer_statistics_create") == "");
  CHECK(statistics == nullptr);
}
#endif

}  // namespace
