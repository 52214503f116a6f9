// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_self_test: the report's parts, in C and by the wrapper; small buffers, caps and cancellation.
#include "mercer/self_test.h"

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "support/reference.h"

namespace mercer::test::self_test_test {

TEST_CASE("self-test: the report names the machine, passes and holds every answer") {
  const std::string text = self_test();
  INFO(text);
  const Reference report = Reference::parse(text);
  CHECK(report["passed"].get<bool>());
  CHECK(report["version"].get<std::string>() == mercer_version());
  CHECK(report["simd_supported"].get<std::string>().find(report["simd"].get<std::string>()) == 0);
  CHECK(report["blas"].get<std::string>().find("OpenBLAS") == 0);
  CHECK(report["threads"].get<int64_t>() >= 1);
  CHECK(report["blas_threads"].get<int64_t>() >= 1);
  CHECK(report["samplers"].size() >= 13);
  CHECK(report["maps"].size() >= 45);
  int measured = 0;
  for (const auto& one : report["maps"]) {
    if (!one.contains("deviations")) continue;
    ++measured;
    CHECK(one["deviations"].get<double>() < 6);
  }
  CHECK(measured >= 30);
}

TEST_CASE("self-test: its text has a size; a cap and a request to stop are heard") {
  int64_t needed = 0;
  char few[10];
  CHECK(fault(mercer_self_test(nullptr, few, sizeof few, &needed), MERCER_INVALID_ARGUMENT,
              "mercer_self_test", "capacity = 10") == "");
  CHECK(needed > 1000);
  const auto capped = context(1, 1 << 20);
  CHECK(fault(mercer_self_test(capped.get(), nullptr, 0, nullptr), MERCER_OUT_OF_MEMORY,
              "memory_cap") == "");
  const auto stopped = context();
  REQUIRE(mercer_context_cancel(stopped.get(), 1) == MERCER_OK);
  CHECK(fault(mercer_self_test(stopped.get(), nullptr, 0, nullptr), MERCER_CANCELLED) == "");
}

}  // namespace mercer::test::self_test_test
