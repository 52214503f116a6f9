// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/transform.h: the transform through the C API, and what it refuses.
#include <cstring>
#include <vector>

#include "fixture.h"
#include "mercer/mercer.h"
#include "support/catch.h"

namespace {

std::vector<double> rows_of(int64_t rows, int64_t ld) {
  std::vector<double> X(static_cast<size_t>(rows * ld));
  for (size_t i = 0; i < X.size(); ++i) X[i] = static_cast<double>(i * i % 101) - 50;
  return X;
}

}  // namespace

TEST_CASE("fwht: small integers are exact, twice is n times, gaps are left alone", "[capi]") {
  // Entries stay below 2^53: every addition is exact.
  for (const int64_t n : {1, 2, 8, 64, 1024}) {
    std::vector<double> X = rows_of(70, n + 3);
    const std::vector<double> before = X;
    REQUIRE(mercer_fwht_f64(70, n, X.data(), n + 3, nullptr) == MERCER_OK);
    REQUIRE(mercer_fwht_f64(70, n, X.data(), n + 3, nullptr) == MERCER_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < 70; ++i) {
      for (int64_t j = 0; j < n + 3; ++j) {
        const auto at = static_cast<size_t>(i * (n + 3) + j);
        wrong += X[at] != (j < n ? static_cast<double>(n) * before[at] : before[at]);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("fwht: threads give the same bytes", "[capi]") {
  std::vector<double> once = rows_of(3000, 64), twice = once;
  mercer_context_options options{};
  options.struct_size = sizeof options;
  mercer_context_options_init(&options);
  options.threads = 7;
  mercer_context* context = nullptr;
  REQUIRE(mercer_context_create(&options, &context) == MERCER_OK);
  CHECK(mercer_fwht_f64(3000, 64, once.data(), 64, nullptr) == MERCER_OK);
  CHECK(mercer_fwht_f64(3000, 64, twice.data(), 64, context) == MERCER_OK);
  CHECK(std::memcmp(once.data(), twice.data(), once.size() * sizeof(double)) == 0);
  mercer_context_free(context);
}

TEST_CASE("fwht: bad sizes are named", "[capi]") {
  float X[4] = {};
  const auto says = [](const char* text) {
    return std::strstr(mercer_last_error(), text) != nullptr;
  };
  CHECK(mercer_fwht_f32(1, 3, X, 3, nullptr) == MERCER_INVALID_ARGUMENT);
  CHECK(says("mercer_fwht_f32: n = 3, expected a power of two"));
  CHECK(mercer_fwht_f32(1, 0, X, 3, nullptr) == MERCER_INVALID_ARGUMENT);
  CHECK(says("n = 0"));
  CHECK(mercer_fwht_f32(1, 4, X, 2, nullptr) == MERCER_INVALID_ARGUMENT);
  CHECK(says("ldx = 2"));
  CHECK(mercer_fwht_f32(-1, 4, X, 4, nullptr) == MERCER_INVALID_ARGUMENT);
  CHECK(says("rows = -1"));
  CHECK(mercer_fwht_f32(1, 4, nullptr, 4, nullptr) == MERCER_INVALID_ARGUMENT);
  CHECK(says("X = NULL"));
  CHECK(mercer_fwht_f32(0, 4, nullptr, 4, nullptr) == MERCER_OK);
}
