// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums that leave statistics and come back: from one process to another, from another language.
#include <cmath>
#include <cstring>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

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
  mercer_ridge* ridge = nullptr;
  REQUIRE(mercer_ridge_create(statistics, 1, nullptr, &ridge) == MERCER_OK);
  const RidgeHandle owned(ridge);
  std::vector<double> w(8);
  REQUIRE(solve(ridge, 1e-3, w.data(), nullptr) == MERCER_OK);
  return w;
}

TEST_CASE("sums that are set come out bit for bit, in place of what was there", "[capi]") {
  const auto from = small_statistics(40, D, m), to = small_statistics(7, D, m);
  Sums sums = get(from.get());
  const Sums whole = sums;
  sums.gram[1] = NAN;  // the upper triangle is not read
  REQUIRE(set(to.get(), 40, sums) == MERCER_OK);
  CHECK(get(to.get()) == whole);
  int64_t n = 0;
  n = shape_of(to.get()).rows;
  CHECK(n == 40);
}

TEST_CASE("sums that larger rows left, once removed, come back", "[capi]") {
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

TEST_CASE("a fit on sums that were set is the fit on their rows", "[capi]") {
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

TEST_CASE("sums of two halves, added up, are those of all rows", "[capi]") {
  const auto Z = numbers(40, D), Y = numbers(40, m);
  Sums sums[2];
  for (size_t k = 0; k < 2; ++k) {
    const auto half = small_statistics(0, D, m);
    const RowsView z = mercer_rows_f64(20, D, Z.data() + 20 * D * static_cast<int64_t>(k));
    const RowsView y = mercer_rows_f64(20, m, Y.data() + 20 * m * static_cast<int64_t>(k));
    REQUIRE(mercer_statistics_add(half.get(), 1, z, y, nullptr) == MERCER_OK);
    sums[k] = get(half.get());
  }
  auto* first = reinterpret_cast<double*>(&sums[0]);
  const auto* second = reinterpret_cast<const double*>(&sums[1]);
  for (size_t j = 0; j < sizeof(Sums) / sizeof(double); ++j) first[j] += second[j];
  const auto all = small_statistics(0, D, m);
  REQUIRE(set(all.get(), 40, sums[0]) == MERCER_OK);
  const auto expected = weights_of(small_statistics(40, D, m).get()), found = weights_of(all.get());
  double worst = 0;
  for (size_t j = 0; j < 8; ++j) worst = std::max(worst, std::abs(expected[j] - found[j]));
  CHECK(worst < 1e-11);
}

TEST_CASE("sums that are none are refused, and nothing changes", "[capi]") {
  const auto sums = small_statistics(40, D, m);
  const Sums before = get(sums.get());
  const auto says = [&](int64_t n, const auto& change, const char* part) {
    Sums bad = before;
    change(bad);
    return refused(set(sums.get(), n, bad), "mercer_statistics_set: ", part);
  };
  const auto nothing = [](Sums&) {};
  CHECK(says(-1, nothing, "n = -1") == "");
  CHECK(says(0, nothing, "gram(0, 0)") == "");
  CHECK(says(
            40, [](Sums& s) { s.gram[4] = NAN; }, "gram(1, 0) = nan") == "");
  CHECK(says(
            40, [](Sums& s) { s.gram[5] = -1; }, "gram(1, 1) = -1") == "");
  CHECK(says(
            40, [](Sums& s) { s.cross[3] = INFINITY; }, "cross(1, 1) = inf") == "");
  CHECK(says(
            40, [](Sums& s) { s.sum_z[2] = NAN; }, "sum_z(0, 2) = nan") == "");
  CHECK(says(
            40, [](Sums& s) { s.sum_y[1] = NAN; }, "sum_y(0, 1) = nan") == "");
  CHECK(says(
            40, [](Sums& s) { s.sum_y2[1] = -2; }, "sum_y2(0, 1) = -2") == "");
  // Finite, but no rows have such sums: of products more than those of squares allow.
  CHECK(says(
            40, [](Sums& s) { s.gram[8] = -1.001 * std::sqrt(s.gram[0] * s.gram[10]); },
            "gram(2, 0) = -") == "");
  CHECK(says(
            40, [](Sums& s) { s.cross[5] = 1.001 * std::sqrt(s.gram[10] * s.sum_y2[1]); },
            "cross(2, 1) = ") == "");
  CHECK(says(
            40, [](Sums& s) { s.gram[0] = 0; }, "cross(0, 0) = ") == "");
  CHECK(refused(set(nullptr, 40, before), "statistics = NULL") == "");
  CHECK(refused(set_sums(sums.get(), 40, nullptr, before.cross, before.sum_z, before.sum_y,
                         before.sum_y2),
                "gram.values = NULL") == "");
  CHECK(get(sums.get()) == before);
}

TEST_CASE("sums of products as large as those of squares allow are accepted", "[capi]") {
  const auto sums = small_statistics(0, D, m);
  Sums equal;  // every feature and output is 1/3 in 40 rows, up to the rounding of single precision
  std::fill(std::begin(equal.gram), std::end(equal.gram), 40.0 / 9 * (1 + 0x1p-24));
  std::fill(std::begin(equal.cross), std::end(equal.cross), 40.0 / 9 * (1 + 0x1p-23));
  std::fill(std::begin(equal.sum_z), std::end(equal.sum_z), 40.0 / 3);
  std::fill(std::begin(equal.sum_y), std::end(equal.sum_y), 40.0 / 3);
  std::fill(std::begin(equal.sum_y2), std::end(equal.sum_y2), 40.0 / 9);
  CHECK(set(sums.get(), 40, equal) == MERCER_OK);
}

TEST_CASE("no rows are sums of zero, and no outputs need no arrays", "[capi]") {
  const auto sums = small_statistics(40, D, m);
  REQUIRE(set(sums.get(), 0, Sums()) == MERCER_OK);
  CHECK(get(sums.get()) == Sums());
  const auto plain = small_statistics(40, D, 0);
  double gram[16], sum_z[4];
  REQUIRE(get_sums(plain.get(), gram, nullptr, sum_z, nullptr, nullptr) == MERCER_OK);
  CHECK(set_sums(plain.get(), 40, gram, nullptr, sum_z, nullptr, nullptr) == MERCER_OK);
}

}  // namespace
