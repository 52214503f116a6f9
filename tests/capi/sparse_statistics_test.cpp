// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics of sparse rows: the bits of those of the dense rows that they stand for, and what a
// cancelled sum leaves.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

struct Sums {
  double gram[36], cross[12], sum_z[6], sum_y[2], sum_y2[2];
  bool operator==(const Sums& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
};
Sums sums_of(const mercer_statistics* statistics) {
  Sums s{};
  CHECK(get_sums(statistics, s.gram, s.cross, s.sum_z, s.sum_y, s.sum_y2) == MERCER_OK);
  return s;
}

/// All rows added, and the first 700 removed again.
Sums change(const RowsView& Z, const RowsView& Y) {
  mercer_statistics* made = nullptr;
  REQUIRE(mercer_statistics_create(6, 2, &made) == MERCER_OK);
  const StatisticsHandle owned(made);
  CHECK(fault(mercer_statistics_add(made, 1, Z, Y, nullptr), MERCER_OK) == "");
  RowsView z = Z, y = Y;
  z.n = y.n = 700;
  CHECK(fault(mercer_statistics_add(made, -1, z, y, nullptr), MERCER_OK) == "");
  int64_t n = 0;
  n = shape_of(made).rows;
  CHECK(n == Z.n - 700);
  return sums_of(made);
}

TEST_CASE("statistics of sparse rows have the bits of those of dense rows", "[capi]") {
  constexpr int64_t n = 2500;  // three blocks
  const auto Z = sparse_numbers<double, int32_t>(n, 6);
  const auto Y = sparse_numbers<double, int64_t>(n, 2);
  const auto narrow = sparse_numbers<float, int64_t>(n, 6);
  const Sums expected = change(Z.dense_view(), Y.dense_view());
  CHECK(expected.gram[0] > 0);
  CHECK(change(Z.view(), Y.dense_view()) == expected);
  CHECK(change(Z.dense_view(), Y.view()) == expected);
  CHECK(change(Z.view(), Y.view()) == expected);
  CHECK(change(narrow.view(), Y.view()) == change(narrow.dense_view(), Y.dense_view()));
}

TEST_CASE("a cancelled sum of sparse rows says how many were added", "[capi]") {
  constexpr int64_t n = 5000;
  const auto Z = sparse_numbers<double, int32_t>(n, 6);
  const auto Y = numbers(n, 2);
  mercer_statistics* made = nullptr;
  REQUIRE(mercer_statistics_create(6, 2, &made) == MERCER_OK);
  const StatisticsHandle owned(made);
  const auto stopped = context(
      1, 0, [](void*, int64_t done, int64_t total) -> int32_t { return 5 * done >= 2 * total; });
  CHECK(fault(mercer_statistics_add(made, 1, Z.view(), rows_of(Y, 2), stopped.get()),
              MERCER_CANCELLED, "mercer_statistics_add") == "");
  int64_t added = -1;
  added = shape_of(made).rows;
  CHECK((added < n && added % 1024 == 0));
}

TEST_CASE("sums of dense and of sparse rows report progress up to all rows", "[capi]") {
  constexpr int64_t n = 3000;
  const auto Z = sparse_numbers<double, int32_t>(n, 6);
  const auto Y = numbers(n, 2);
  for (const RowsView& rows : {Z.view(), Z.dense_view()}) {
    mercer_statistics* made = nullptr;
    REQUIRE(mercer_statistics_create(6, 2, &made) == MERCER_OK);
    const StatisticsHandle owned(made);
    std::vector<double> seen;  // parts of the call
    const auto watch = [](void* user, int64_t done, int64_t total) -> int32_t {
      static_cast<std::vector<double>*>(user)->push_back(static_cast<double>(done) /
                                                         static_cast<double>(total));
      return 0;
    };
    const auto watched = context(1, 0, watch, &seen);
    CHECK(mercer_statistics_add(made, 1, rows, rows_of(Y, 2), watched.get()) == MERCER_OK);
    REQUIRE(seen.size() >= 3);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    // After the first of three blocks.
    CHECK(
        std::ranges::any_of(seen, [](double part) { return std::abs(part - 1024.0 / n) < 1e-4; }));
    CHECK(seen.back() == 1);
  }
}

}  // namespace
