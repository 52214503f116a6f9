// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Indices of a TensorSRHT: against the documented streams, counts, uniformity, distinct tuples by
// either route, independence of factors and blocks.
#include "projection/tensor_srht.h"

#include "random/distributions.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace tensor_srht_index_test {
using namespace mercer;
using namespace mercer::projection;

using Index = std::vector<int32_t>;

Index draw(const IndexLaw& law, int64_t block = 0) {
  Index index(static_cast<size_t>(law.factors * index_block(law)));
  Context context;
  draw_index(law, block, context, index);
  return index;
}

// The indices of one factor.
Index factor_of(const IndexLaw& law, const Index& index, int64_t i) {
  const int64_t n = index_block(law);
  return {index.begin() + i * n, index.begin() + (i + 1) * n};
}

std::vector<Index> tuples_of(const IndexLaw& law) {
  const Index index = draw(law);
  std::vector<Index> tuples(law.columns);
  for (int64_t i = 0; i < law.factors; ++i) {
    for (int64_t l = 0; l < law.columns; ++l) tuples[l].push_back(index[i * law.columns + l]);
  }
  return tuples;
}

bool in_range(const Index& index, int64_t d) {
  return std::all_of(index.begin(), index.end(), [&](int32_t k) { return k >= 0 && k < d; });
}

std::vector<int64_t> counts(const Index& index, int64_t d) {
  std::vector<int64_t> out(d);
  for (const int32_t k : index) ++out[k];
  return out;
}

random::Cursor cursor(const IndexLaw& law, int64_t i, int64_t block) {
  return random::Cursor(random::Stream(
      law.seed, random::Tag::permutation,
      (static_cast<uint64_t>(law.first_factor + i) << 32) + static_cast<uint64_t>(block)));
}

// Chi-square of cells(seed) over seeds, each a cell below `count`.
template <class Cell>
void check_uniform(int64_t count, int64_t seeds, const Cell& cell) {
  std::vector<int64_t> cells(count);
  for (int64_t seed = 0; seed < seeds; ++seed) ++cells[cell(static_cast<uint64_t>(seed))];
  // 40 such checks in this file at most.
  CHECK(test::chi_square_uniform(cells) <=
        test::chi_square_threshold(static_cast<double>(count - 1), test::kFailure, 40));
}

TEST_CASE("TensorSRHT index: upsampled is a shuffle of ceil(m/d) copies, cut") {
  for (const int64_t d : {1, 2, 8, 64}) {
    for (const int64_t m : {int64_t{1}, d, d + 1, 3 * d - 1, 3 * d}) {
      const IndexLaw law{SrhtRows::upsampled, 3, d, m, 7, 2};
      const int64_t copies = (m + d - 1) / d;
      IndexLaw whole = law;
      whole.columns = copies * d;
      const Index index = draw(law), uncut = draw(whole);
      CAPTURE(d, m);
      REQUIRE(index_block(law) == m);
      REQUIRE(in_range(index, d));
      for (int64_t i = 0; i < 3; ++i) {
        const Index one = factor_of(law, index, i), all = factor_of(whole, uncut, i);
        CHECK(counts(all, d) == std::vector<int64_t>(d, copies));
        CHECK(std::equal(one.begin(), one.end(), all.begin()));
        // The documented stream.
        std::vector<int64_t> order(copies * d);
        random::Cursor from = cursor(law, i, 0);
        random::permutation(from, order);
        CHECK(std::equal(all.begin(), all.end(), order.begin(),
                         [&](int32_t a, int64_t b) { return a == b % d; }));
      }
    }
  }
}

TEST_CASE("TensorSRHT index: every block of stacked is a permutation of its own") {
  for (const int64_t d : {1, 2, 8, 64}) {
    // 64 blocks of 64, in groups of 16; fewer columns than a group are one.
    const IndexLaw law{SrhtRows::stacked, 3, d, 63 * d + d / 2 + 1, 7, 2};
    const int64_t together = std::min<int64_t>(64, 1024 / d);
    REQUIRE(index_block(law) == together * d);
    std::set<Index> seen;
    for (int64_t block = 0; block < 64; ++block) {
      const Index index = draw(law, block / together);
      for (int64_t i = 0; i < 3; ++i) {
        const Index group = factor_of(law, index, i);
        const auto first = group.begin() + block % together * d;
        const Index one(first, first + d);
        CHECK(counts(one, d) == std::vector<int64_t>(d, 1));
        std::vector<int64_t> order(d);
        random::Cursor from = cursor(law, i, block);
        random::permutation(from, order);
        CHECK(std::equal(one.begin(), one.end(), order.begin()));
        seen.insert(one);
      }
    }
    if (d == 64) CHECK(seen.size() == 3 * 64);
  }
}

TEST_CASE("TensorSRHT index: tuples are distinct, and all are taken if there are no more") {
  constexpr int64_t kSizes[][3] = {{8, 1, 8}, {2, 10, 1024}, {4, 5, 1024}, {16, 3, 4096},
                                   {1, 7, 1}, {64, 2, 3000}, {2, 12, 4000}};
  for (const auto& [d, p, m] : kSizes) {
    const IndexLaw law{SrhtRows::tuple, p, d, m, 3, 1};
    const std::vector<Index> tuples = tuples_of(law);
    CAPTURE(d, p, m);
    for (const Index& tuple : tuples) REQUIRE(in_range(tuple, d));
    CHECK(std::set<Index>(tuples.begin(), tuples.end()).size() == static_cast<size_t>(m));
    // Digits of a sample without replacement of the documented stream.
    std::vector<int64_t> numbers(m);
    random::Cursor from = cursor(law, 0, 0);
    random::sample_without_replacement(from, static_cast<int64_t>(std::pow(d, p)), numbers);
    int64_t wrong = 0;
    for (size_t l = 0; l < tuples.size(); ++l) {
      for (const int32_t digit : tuples[l]) {
        wrong += digit != numbers[l] % d;
        numbers[l] /= d;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("TensorSRHT index: tuples by number up to 2^62, one index after another above") {
  // (d, p) with d^p just at and just above the change of route; 1024 factors are the most.
  for (const auto& [d, p] : {std::pair<int64_t, int64_t>{2, 62},
                             {4, 31},
                             {int64_t{1} << 28, 2},
                             {2, 63},
                             {2, 64},
                             {4, 32},
                             {int64_t{1} << 21, 3},
                             {8, 1024}}) {
    const IndexLaw law{SrhtRows::tuple, p, d, 600, 3, 1};
    const std::vector<Index> tuples = tuples_of(law);
    CAPTURE(d, p);
    for (const Index& tuple : tuples) REQUIRE(in_range(tuple, d));
    CHECK(std::set<Index>(tuples.begin(), tuples.end()).size() == 600);
    CHECK(tuples == tuples_of(law));
    // Every factor is spread over the whole range: half of the indices in each half of it.
    double worst = 0;
    for (size_t i = 0; i < static_cast<size_t>(p); ++i) {
      double score = 0;
      for (const Index& tuple : tuples) score += 2 * tuple[i] >= d ? 1 : -1;
      worst = std::max(worst, std::fabs(score) / std::sqrt(600.0));
    }
    CHECK(worst <= test::z_threshold(test::kFailure, static_cast<double>(8 * p)));
  }
}

TEST_CASE("TensorSRHT index: uniform at every position, factors and blocks independent") {
  constexpr int64_t kSeeds = 20000;
  for (const SrhtRows form : {SrhtRows::upsampled, SrhtRows::stacked}) {
    const auto law = [&](uint64_t seed) { return IndexLaw{form, 2, 4, 6, seed, 0}; };
    const auto n = static_cast<size_t>(index_block(law(0)));
    for (const size_t l : {size_t{0}, n - 1}) {
      // Both factors' indices at once.
      check_uniform(16, kSeeds, [&](uint64_t seed) {
        const Index index = draw(law(seed));
        return index[l] * 4 + index[n + l];
      });
    }
  }
  const auto stacked = [](uint64_t seed) { return IndexLaw{SrhtRows::stacked, 1, 4, 8, seed, 0}; };
  check_uniform(16, kSeeds, [&](uint64_t seed) {
    const Index index = draw(stacked(seed));
    return index[0] * 4 + index[4];
  });
  // Ordered pairs of distinct columns: d (d - 1) for stacked.
  check_uniform(12, kSeeds, [&](uint64_t seed) {
    const Index index = draw(stacked(seed));
    return index[0] * 3 + index[3] - (index[3] > index[0] ? 1 : 0);
  });
}

TEST_CASE("TensorSRHT index: tuples are uniform, and so are pairs of them") {
  const auto law = [](uint64_t seed) { return IndexLaw{SrhtRows::tuple, 3, 2, 5, seed, 0}; };
  const auto number = [](const Index& tuple) { return tuple[0] + 2 * tuple[1] + 4 * tuple[2]; };
  for (const size_t l : {size_t{0}, size_t{4}})
    check_uniform(8, 20000, [&](uint64_t seed) { return number(tuples_of(law(seed))[l]); });
  check_uniform(56, 40000, [&](uint64_t seed) {
    const std::vector<Index> tuples = tuples_of(law(seed));
    const int a = number(tuples[1]), b = number(tuples[3]);
    return a * 7 + b - (b > a ? 1 : 0);
  });
  // Above 2^62: three of 64 binary factors.
  const auto wide = [](uint64_t seed) { return IndexLaw{SrhtRows::tuple, 64, 2, 3, seed, 0}; };
  check_uniform(8, 20000, [&](uint64_t seed) {
    const Index tuple = tuples_of(wide(seed))[2];
    return tuple[0] + 2 * tuple[31] + 4 * tuple[63];
  });
}

TEST_CASE("TensorSRHT index: a function of the seed and of the factor's number alone") {
  for (const SrhtRows form : {SrhtRows::upsampled, SrhtRows::stacked, SrhtRows::tuple}) {
    const IndexLaw law{form, 3, 16, 40, 5, 4};
    IndexLaw other = law;
    CHECK(draw(law) == draw(other));
    other.seed = 6;
    CHECK(draw(law) != draw(other));
    other = law;
    other.first_factor = 5;
    CHECK(draw(law) != draw(other));
    if (form == SrhtRows::tuple) continue;
    for (int64_t i = 0; i + 1 < 3; ++i)
      CHECK(factor_of(law, draw(law), i + 1) == factor_of(other, draw(other), i));
  }
}

TEST_CASE("TensorSRHT index: more columns than tuples are refused") {
  const auto fault = [](int64_t d, int64_t p, int64_t m) {
    return test::refusal_fault(
        MERCER_INVALID_ARGUMENT,
        [&] {
          check_index({SrhtRows::tuple, p, d, m, 0, 0});
        },
        std::to_string(m) + " columns", "d^p = " + std::to_string(d) + "^" + std::to_string(p));
  };
  CHECK(fault(4, 2, 17) == "");
  CHECK(fault(1, 1024, 2) == "");
  CHECK(fault(2, 31, (int64_t{1} << 31) + 1) == "");
  CHECK_NOTHROW(check_index({SrhtRows::tuple, 2, 4, 16, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::tuple, 62, 2, int64_t{1} << 62, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::tuple, 1024, int64_t{1} << 28, int64_t{1} << 62, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::stacked, 1, 4, 1000, 0, 0}));
  CHECK_NOTHROW(check_index({SrhtRows::upsampled, 1, 4, 1000, 0, 0}));
}

}  // namespace tensor_srht_index_test
