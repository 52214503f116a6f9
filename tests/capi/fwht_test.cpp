// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/transform.h: the transform through the C API, and what it refuses.
#include "fixture.h"

using namespace mercer::test;

namespace {

template <class T>
std::vector<T> integers(int64_t rows, int64_t ld) {
  std::vector<T> X(static_cast<size_t>(rows * ld));
  for (size_t i = 0; i < X.size(); ++i)
    X[i] = static_cast<T>(static_cast<double>(i * i % 101) - 50);
  return X;
}

template <class T>
void check_twice(int64_t n) {
  std::vector<T> X = integers<T>(70, n + 3);
  const std::vector<T> before = X;
  const auto view = result_of(X.data(), 70, n, n + 3);
  REQUIRE(mercer_fwht(view, nullptr) == MERCER_OK);
  REQUIRE(mercer_fwht(view, nullptr) == MERCER_OK);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 70; ++i) {
    for (int64_t j = 0; j < n + 3; ++j) {
      const auto at = static_cast<size_t>(i * (n + 3) + j);
      wrong += X[at] != (j < n ? static_cast<T>(n) * before[at] : before[at]);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("fwht: small integers are exact, twice is n times, gaps are left alone", "[capi]") {
  for (const int64_t n : {1, 2, 8, 64, 1024}) {
    check_twice<double>(n);               // entries stay below 2^53: every addition is exact
    if (n <= 256) check_twice<float>(n);  // 50 n^2 < 2^24
  }
}

TEST_CASE("fwht: threads give the same bytes", "[capi]") {
  std::vector<double> once = integers<double>(3000, 64), twice = once;
  CHECK(mercer_fwht(result_of(once, 64), nullptr) == MERCER_OK);
  CHECK(mercer_fwht(result_of(twice, 64), context(7).get()) == MERCER_OK);
  CHECK(std::memcmp(once.data(), twice.data(), once.size() * sizeof(double)) == 0);
}

TEST_CASE("fwht: bad sizes are named", "[capi]") {
  float X[4] = {77, 0, 0, 0};
  const auto says = [](const mercer_matrix& matrix, auto... parts) {
    return refused(mercer_fwht(matrix, nullptr), "mercer_fwht: ", parts...);
  };
  CHECK(says(result_of(X, 1, 3), "X.cols = 3, expected a power of two") == "");
  CHECK(says(result_of(X, 1, 0, 3), "X.cols = 0") == "");
  CHECK(says(result_of(X, 1, -4), "X.cols = -4") == "");
  CHECK(says(result_of(X, 1, 4, 2), "X.ld = 2") == "");
  CHECK(says(result_of(X, -1, 4), "X.rows = -1") == "");
  CHECK(says(result_of<float>(nullptr, 1, 4), "X.data = NULL") == "");
  CHECK(says(result_of(X, 1, 2, -1, true), "X.number = 2") == "");
  CHECK(says(result_of(X, kHuge / 2, 4), "X.rows = 4611686018427387903") == "");
  CHECK(says(mercer_matrix{}, "X.struct_size = 0, expected a mercer_matrix") == "");
  CHECK(X[0] == 77);
  CHECK(mercer_fwht(result_of<float>(nullptr, 0, 4), nullptr) == MERCER_OK);
  const auto running = context();
  mercer_context_cancel(running.get(), 1);
  CHECK(fault(mercer_fwht(result_of(X, 1, 4), running.get()), MERCER_CANCELLED, "mercer_fwht") ==
        "");
}

}  // namespace
