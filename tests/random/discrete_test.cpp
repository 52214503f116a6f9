// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Signs, integers below n, permutations and samples without replacement.
#include "samplers.h"
#include "support/refusal.h"
#include "support/statistic.h"

using namespace mercer::random;
using namespace mercer::test;

TEST_CASE("rademacher: all patterns of eight neighbours equally often", "[random]") {
  std::vector<double> signs(8 * 100000);
  fill_rademacher(test_stream(40), 0, signs);
  std::vector<int> counts(256);
  for (size_t i = 0; i < signs.size(); i += 8) {
    size_t pattern = 0;
    for (size_t k = 0; k < 8; ++k) pattern = 2 * pattern + (signs[i + k] > 0);
    ++counts[pattern];
  }
  CHECK(chi_square_uniform(counts) < chi_square_threshold(255));
}

TEST_CASE("complex_rademacher: pairs of the four units equally often", "[random]") {
  std::vector<double> units(4 * 100000);
  fill_complex_rademacher(test_stream(41), 0, units);
  std::map<std::array<double, 4>, int> counts;
  for (size_t i = 0; i < units.size(); i += 4)
    ++counts[{units[i], units[i + 1], units[i + 2], units[i + 3]}];
  REQUIRE(counts.size() == 16);
  std::vector<int> cells;
  for (const auto& [pair, count] : counts) {
    CHECK(std::abs(pair[0]) + std::abs(pair[1]) == 1.0);
    cells.push_back(count);
  }
  CHECK(chi_square_uniform(cells) < chi_square_threshold(15));
}

TEST_CASE("uniform_below: uniform without modulo bias", "[random]") {
  Cursor cursor(test_stream(42));
  for (const uint64_t n : {uint64_t{2}, uint64_t{6}, uint64_t{100}}) {
    std::vector<int> counts(n);
    for (int i = 0; i < 60000; ++i) ++counts.at(uniform_below(cursor, n));
    INFO(n);
    CHECK(chi_square_uniform(counts) <
          chi_square_threshold(static_cast<double>(n - 1), kFailure, 5));
  }
  // Of the 2^64 words four share three values: without rejection every third value comes twice as
  // often (scaling a word), or the lowest third of them (its remainder).
  const uint64_t third = uint64_t{1} << 62;
  std::vector<int> residues(3);
  std::vector<int> counts(3);
  for (int i = 0; i < 60000; ++i) {
    const uint64_t value = uniform_below(cursor, 3 * third);
    ++counts.at(value / third);
    ++residues.at(value % 3);
  }
  CHECK(chi_square_uniform(counts) < chi_square_threshold(2, kFailure, 5));
  CHECK(chi_square_uniform(residues) < chi_square_threshold(2, kFailure, 5));
  CHECK(uniform_below(cursor, 1) == 0);
}

TEST_CASE("permutation: all 4! orders equally often", "[random]") {
  Cursor cursor(test_stream(43));
  std::map<std::vector<int64_t>, int> counts;
  std::vector<int64_t> order(4);
  for (int i = 0; i < 48000; ++i) {
    permutation(cursor, order);
    ++counts[order];
  }
  REQUIRE(counts.size() == 24);
  std::vector<int> cells;
  for (const auto& [pattern, count] : counts) cells.push_back(count);
  CHECK(chi_square_uniform(cells) < chi_square_threshold(23));
}

TEST_CASE("permutation: every entry once, sizes 0 and 1", "[random]") {
  Cursor cursor(test_stream(44));
  for (const size_t n : {0, 1, 2, 1000, 4096}) {
    std::vector<int64_t> order(n), all(n);
    permutation(cursor, order);
    std::sort(order.begin(), order.end());
    std::iota(all.begin(), all.end(), 0);
    CHECK(order == all);
  }
}

TEST_CASE("sample_without_replacement: all 120 ordered triples of six equally often", "[random]") {
  Cursor cursor(test_stream(45));
  std::map<std::vector<int64_t>, int> counts;
  std::vector<int64_t> chosen(3);
  for (int i = 0; i < 60000; ++i) {
    sample_without_replacement(cursor, 6, chosen);
    ++counts[chosen];
  }
  REQUIRE(counts.size() == 120);
  std::vector<int> cells;
  for (const auto& [triple, count] : counts) {
    CHECK((triple[0] != triple[1] && triple[0] != triple[2] && triple[1] != triple[2]));
    cells.push_back(count);
  }
  CHECK(chi_square_uniform(cells) < chi_square_threshold(119));
}

TEST_CASE("sample_without_replacement: distinct and in range, up to all of them", "[random]") {
  for (const int64_t n : {int64_t{1000}, int64_t{5000}, int64_t{1} << 62}) {
    Cursor cursor(test_stream(46));
    std::vector<int64_t> chosen(1000);
    sample_without_replacement(cursor, n, chosen);
    std::sort(chosen.begin(), chosen.end());
    CHECK(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
    CHECK(chosen.front() >= 0);
    CHECK(chosen.back() < n);
  }
}

TEST_CASE("sample_without_replacement: the first entries of the permutation", "[random]") {
  Cursor one(test_stream(47)), two(test_stream(47));
  std::vector<int64_t> order(500), chosen(200);
  permutation(one, order);
  sample_without_replacement(two, 500, chosen);
  CHECK(std::equal(chosen.begin(), chosen.end(), order.begin()));
}

TEST_CASE("sample_without_replacement: more than n is refused", "[random]") {
  Cursor cursor(test_stream(48));
  std::vector<int64_t> chosen(3);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, sample_without_replacement(cursor, 2, chosen),
                "sample of 3 out of n = 2", "expected at most n");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, sample_without_replacement(cursor, -1, chosen), "n = -1");
  CHECK_NOTHROW(sample_without_replacement(cursor, 0, {}));
}
