// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics: sums that leave them and come back, sums of sparse rows.
#include "fixture.h"

namespace statistics_test {
using namespace mercer::test;

constexpr int64_t D = 4, m = 2;

struct Sums {
  double gram[16] = {}, cross[8] = {}, sum_z[4] = {}, sum_y[2] = {}, sum_y2[2] = {};
  bool operator==(const Sums& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
};
Sums get(const mercer_statistics* statistics) {
  Sums s;
  CHECK(get_sums(statistics, s.gram, s.cross, s.sum_z, s.sum_y, s.sum_y2) == MERCER_OK);
  return s;
}
mercer_status set(mercer_statistics* statistics, int64_t n, const Sums& s) {
  return set_sums(statistics, n, s.gram, s.cross, s.sum_z, s.sum_y, s.sum_y2);
}

std::vector<double> weights_of(const mercer_statistics* statistics) {
  const auto owned =
      made<RidgeHandle>([&](auto out) { return mercer_ridge_create(statistics, 1, nullptr, out); });
  std::vector<double> w(8);
  REQUIRE(solve(owned.get(), 1e-3, w.data(), nullptr) == MERCER_OK);
  return w;
}

TEST_CASE("sums that are set come out bit for bit, in place of what was there") {
  const auto from = small_statistics(40, D, m), to = small_statistics(7, D, m);
  Sums sums = get(from.get());
  const Sums whole = sums;
  sums.gram[1] = NAN;  // the upper triangle is not read
  REQUIRE(set(to.get(), 40, sums) == MERCER_OK);
  CHECK(get(to.get()) == whole);
  CHECK(shape_of(to.get()).rows == 40);
}

TEST_CASE("sums that larger rows left, once removed, come back") {
  for (const bool targets : {true, false}) {
    const auto from = small_statistics(0, D, m), to = small_statistics(0, D, m);
    std::vector<double> Z = numbers(40, D), Y = numbers(40, m), large = Z;
    for (double& z : large) z *= 1000;
    for (size_t i = 0; i < 40; ++i) Z[i * D] = 0;
    const std::vector<double> none(Y.size());
    const auto rows = rows_of(Z, D), more = rows_of(large, D), y = rows_of(Y, m);
    REQUIRE(mercer_statistics_add(from.get(), 1, rows, targets ? y : rows_of(none, m), nullptr) ==
            MERCER_OK);
    REQUIRE(mercer_statistics_add(from.get(), 1, more, y, nullptr) == MERCER_OK);
    REQUIRE(mercer_statistics_add(from.get(), -1, more, y, nullptr) == MERCER_OK);
    CHECK(set(to.get(), 40, get(from.get())) == MERCER_OK);
  }
}

TEST_CASE("a fit on sums that were set is the fit on their rows") {
  const auto from = small_statistics(40, D, m), to = small_statistics(0, D, m);
  REQUIRE(set(to.get(), 40, get(from.get())) == MERCER_OK);
  const auto expected = weights_of(from.get()), found = weights_of(to.get());
  double worst = 0;  // n eps times the condition number, which is below 1/lambda = 1e3
  for (size_t j = 0; j < 8; ++j) worst = std::max(worst, std::abs(expected[j] - found[j]));
  CHECK(worst < 1e-11);
  // Rows can be taken away again, and added.
  const auto Z = numbers(40, D), Y = numbers(40, m);
  REQUIRE(mercer_statistics_add(to.get(), -1, rows_of(Z, D), rows_of(Y, m), nullptr) == MERCER_OK);
  REQUIRE(mercer_statistics_add(to.get(), 1, rows_of(Z, D), rows_of(Y, m), nullptr) == MERCER_OK);
  const auto again = weights_of(to.get());
  for (size_t j = 0; j < 8; ++j) worst = std::max(worst, std::abs(expected[j] - again[j]));
  CHECK(worst < 1e-11);
}

TEST_CASE("sums that are none are refused, and nothing changes") {
  const auto sums = small_statistics(40, D, m);
  const Sums before = get(sums.get());
  const auto says = [&](int64_t n, const char* part, const auto& change) {
    Sums bad = before;
    change(bad);
    return refused(set(sums.get(), n, bad), "mercer_statistics_set: ", part);
  };
  const auto nothing = [](Sums&) {};
  CHECK(says(-1, "n = -1", nothing) == "");
  CHECK(says(0, "gram(0, 0)", nothing) == "");
  CHECK(says(40, "gram(1, 0) = nan", [](Sums& s) { s.gram[4] = NAN; }) == "");
  CHECK(says(40, "gram(1, 1) = -1", [](Sums& s) { s.gram[5] = -1; }) == "");
  CHECK(says(40, "cross(1, 1) = inf", [](Sums& s) { s.cross[3] = INFINITY; }) == "");
  CHECK(says(40, "sum_z(0, 2) = nan", [](Sums& s) { s.sum_z[2] = NAN; }) == "");
  CHECK(says(40, "sum_y(0, 1) = nan", [](Sums& s) { s.sum_y[1] = NAN; }) == "");
  CHECK(says(40, "sum_y2(0, 1) = -2", [](Sums& s) { s.sum_y2[1] = -2; }) == "");
  // Finite, but no rows have such sums: of products more than those of squares allow.
  CHECK(says(40, "gram(2, 0) = -",
             [](Sums& s) { s.gram[8] = -1.001 * std::sqrt(s.gram[0] * s.gram[10]); }) == "");
  CHECK(says(40, "cross(2, 1) = ", [](Sums& s) {
          s.cross[5] = 1.001 * std::sqrt(s.gram[10] * s.sum_y2[1]);
        }) == "");
  CHECK(says(40, "cross(0, 0) = ", [](Sums& s) { s.gram[0] = 0; }) == "");
  CHECK(refused(set(nullptr, 40, before), "statistics = NULL") == "");
  CHECK(refused(set_sums(sums.get(), 40, nullptr, before.cross, before.sum_z, before.sum_y,
                         before.sum_y2),
                "gram.values = NULL") == "");
  CHECK(get(sums.get()) == before);
}

TEST_CASE("sums of products as large as those of squares allow are accepted") {
  const auto sums = small_statistics(0, D, m);
  Sums equal;  // every feature and output is 1/3 in 40 rows, up to the rounding of single precision
  std::fill(std::begin(equal.gram), std::end(equal.gram), 40.0 / 9 * (1 + 0x1p-24));
  std::fill(std::begin(equal.cross), std::end(equal.cross), 40.0 / 9 * (1 + 0x1p-23));
  std::fill(std::begin(equal.sum_z), std::end(equal.sum_z), 40.0 / 3);
  std::fill(std::begin(equal.sum_y), std::end(equal.sum_y), 40.0 / 3);
  std::fill(std::begin(equal.sum_y2), std::end(equal.sum_y2), 40.0 / 9);
  CHECK(set(sums.get(), 40, equal) == MERCER_OK);
}

TEST_CASE("no rows are sums of zero, and no outputs need no arrays") {
  const auto sums = small_statistics(40, D, m);
  REQUIRE(set(sums.get(), 0, Sums()) == MERCER_OK);
  CHECK(get(sums.get()) == Sums());
  const auto plain = small_statistics(40, D, 0);
  double gram[16], sum_z[4];
  REQUIRE(get_sums(plain.get(), gram, nullptr, sum_z, nullptr, nullptr) == MERCER_OK);
  CHECK(set_sums(plain.get(), 40, gram, nullptr, sum_z, nullptr, nullptr) == MERCER_OK);
}

struct SparseSums {
  double gram[36], cross[12], sum_z[6], sum_y[2], sum_y2[2];
  bool operator==(const SparseSums& other) const {
    return std::memcmp(this, &other, sizeof other) == 0;
  }
};
SparseSums sums_of(const mercer_statistics* statistics) {
  SparseSums s{};
  CHECK(get_sums(statistics, s.gram, s.cross, s.sum_z, s.sum_y, s.sum_y2) == MERCER_OK);
  return s;
}

/// All rows added, and the first 700 removed again.
SparseSums change(const RowsView& Z, const RowsView& Y) {
  const auto owned =
      made<StatisticsHandle>([&](auto out) { return mercer_statistics_create(6, 2, out); });
  CHECK(fault(mercer_statistics_add(owned.get(), 1, Z, Y, nullptr), MERCER_OK) == "");
  RowsView z = Z, y = Y;
  z.n = y.n = 700;
  CHECK(fault(mercer_statistics_add(owned.get(), -1, z, y, nullptr), MERCER_OK) == "");
  const int64_t n = shape_of(owned.get()).rows;
  CHECK(n == Z.n - 700);
  return sums_of(owned.get());
}

TEST_CASE("statistics of sparse rows have the bits of those of dense rows") {
  constexpr int64_t n = 2500;  // three blocks
  const auto Z = sparse_numbers<double, int32_t>(n, 6);
  const auto Y = sparse_numbers<double, int64_t>(n, 2);
  const auto narrow = sparse_numbers<float, int64_t>(n, 6);
  const SparseSums expected = change(Z.dense_view(), Y.dense_view());
  CHECK(expected.gram[0] > 0);
  CHECK(change(Z.view(), Y.dense_view()) == expected);
  CHECK(change(Z.dense_view(), Y.view()) == expected);
  CHECK(change(Z.view(), Y.view()) == expected);
  CHECK(change(narrow.view(), Y.view()) == change(narrow.dense_view(), Y.dense_view()));
}

}  // namespace statistics_test
