// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/rows/row_sets.h"

#include "support/catch.h"

namespace row_sets_test {
using namespace mercer::model;

/// Do the sets hold every row below n exactly once, each ascending?
bool is_partition(int64_t n, const std::vector<std::vector<int64_t>>& sets) {
  std::vector<int> seen(n, 0);
  for (const auto& set : sets) {
    if (!std::is_sorted(set.begin(), set.end())) return false;
    for (const int64_t row : set) {
      if (row < 0 || row >= n) return false;
      ++seen[row];
    }
  }
  return std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; });
}

TEST_CASE("held-out rows and the others are a partition of the rounded size") {
  struct Case {
    int64_t n;
    double fraction;
    int64_t most, held_out;
  };
  const Case cases[] = {{2, 0.9, 100, 1},      {2, 0.01, 100, 1},     {10, 0.25, 100, 3},
                        {1000, 0.1, 100, 100}, {1000, 0.5, 100, 100}, {7, 0.99, 100, 6}};
  int wrong = 0;
  for (const Case& c : cases) {
    const Split split = split_rows(all_rows(c.n), c.fraction, c.most, 3);
    wrong += !is_partition(c.n, {split.train, split.held_out});
    wrong += static_cast<int64_t>(split.held_out.size()) != c.held_out;
  }
  CHECK(wrong == 0);
}

TEST_CASE("held-out rows hold of each class its share") {
  // 21 of 1001 rows, at places that a shuffle of all rows misses for some seeds.
  std::vector<double> classes(1001, 0.0);
  for (size_t k = 0; k < 21; ++k) classes[47 * k + 3] = 1;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Split split = split_rows(all_rows(1001), 0.1, 1000, seed, Purpose::unseen, {classes});
    CHECK(is_partition(1001, {split.train, split.held_out}));
    CHECK(split.held_out.size() == 100);
    const auto rare =
        std::ranges::count_if(split.held_out, [&](int64_t i) { return classes[i] == 1; });
    CHECK((rare == 2 || rare == 3));
  }
  const auto first = split_rows(all_rows(1001), 0.1, 1000, 1, Purpose::unseen, {classes}).held_out;
  CHECK(first != split_rows(all_rows(1001), 0.1, 1000, 2, Purpose::unseen, {classes}).held_out);
}

TEST_CASE("folds are a partition into sizes that differ by one at most") {
  const auto folds = fold_rows(23, 5, 11);
  CHECK(is_partition(23, folds));
  const auto [least, most] = std::minmax_element(
      folds.begin(), folds.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  CHECK(most->size() - least->size() <= 1);
}

TEST_CASE("a split is a function of the seed") {
  CHECK(split_rows(all_rows(500), 0.2, 500, 4).held_out ==
        split_rows(all_rows(500), 0.2, 500, 4).held_out);
  // Two of C(500, 100) equally likely sets: equal with probability below 1e-100.
  CHECK(split_rows(all_rows(500), 0.2, 500, 4).held_out !=
        split_rows(all_rows(500), 0.2, 500, 5).held_out);
}

TEST_CASE("rows_without and sample_rows choose among the rows given") {
  const std::vector<int64_t> removed{0, 3, 4};
  CHECK(rows_without(6, removed) == std::vector<int64_t>{1, 2, 5});
  const auto sample = sample_rows({2, 4, 6, 8, 10, 12}, 4, 9);
  CHECK(sample.size() == 4);
  CHECK(std::adjacent_find(sample.begin(), sample.end(), std::greater_equal<>()) == sample.end());
  CHECK(std::all_of(sample.begin(), sample.end(),
                    [](int64_t r) { return r % 2 == 0 && r >= 2 && r <= 12; }));
  CHECK(sample_rows({5, 7}, 3, 9) == std::vector<int64_t>{5, 7});
}

TEST_CASE("folds of classes hold about as many rows of each") {
  std::vector<double> classes;
  for (int64_t i = 0; i < 103; ++i) classes.push_back(i < 80 ? 0 : i < 96 ? 1 : 2);
  const auto folds = fold_rows(103, 5, 9, classes);
  std::vector<char> seen(103, 0);
  for (const std::vector<int64_t>& fold : folds) {
    int64_t counts[3] = {};
    for (const int64_t i : fold) {
      ++counts[static_cast<int64_t>(classes[i])];
      seen[i] = 1;
    }
    CHECK((fold.size() == 20 || fold.size() == 21));
    CHECK((counts[0] == 16 && (counts[1] == 3 || counts[1] == 4) && counts[2] >= 1));
    CHECK(counts[2] <= 2);
    CHECK(std::ranges::is_sorted(fold));
  }
  CHECK(std::ranges::count(seen, 1) == 103);
}

TEST_CASE("groups are held out whole, near the fraction, in folds and in parts") {
  // 41 groups of up to 20 rows that do not lie together.
  std::vector<double> groups;
  for (int64_t i = 0; i < 400; ++i)
    groups.push_back(std::floor(std::sqrt(static_cast<double>(i * 7919 % 1601))) - 3);
  const SplitRule rule{{}, groups};
  const auto of = [&](const std::vector<int64_t>& rows) {
    std::set<double> numbers;
    for (const int64_t i : rows) numbers.insert(groups[i]);
    return numbers;
  };
  const auto apart = [&](const Split& split) {
    const std::set<double> train = of(split.train), held_out = of(split.held_out);
    return std::ranges::none_of(held_out, [&](double g) { return train.contains(g); }) &&
           !train.empty() && !held_out.empty();
  };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Split split = split_rows(all_rows(400), 0.1, 400, seed, Purpose::unseen, rule);
    CHECK(is_partition(400, {split.train, split.held_out}));
    CHECK(apart(split));
    CHECK(std::abs(std::ssize(split.held_out) - 40) <= 40);
    CHECK(group_count(split.held_out, groups) >= 5);
    const auto folds = fold_splits(all_rows(400), 5, seed, rule);
    std::vector<std::vector<int64_t>> sets;
    for (const Split& fold : folds) {
      CHECK(apart(fold));
      CHECK(is_partition(400, {fold.train, fold.held_out}));
      CHECK(std::abs(std::ssize(fold.held_out) - 80) <= 20);
      sets.push_back(fold.held_out);
    }
    CHECK(is_partition(400, sets));
  }
  CHECK(fold_splits(all_rows(400), 1000, 0, rule).size() == of(all_rows(400)).size());
  // One group holds nearly all rows: the other is held out. Rows of one group alone are as any.
  std::vector<double> lopsided(100, 1.0);
  lopsided[40] = lopsided[70] = 2;
  CHECK(split_rows(all_rows(100), 0.5, 100, 0, Purpose::choice, {{}, lopsided}).held_out ==
        std::vector<int64_t>{40, 70});
  CHECK(split_rows({1, 2, 3, 4}, 0.5, 100, 0, Purpose::choice, {{}, lopsided}).held_out.size() ==
        2);
  const std::vector<int64_t> clusters = clusters_of({40, 41, 42, 70}, {{}, lopsided});
  CHECK(clusters == std::vector<int64_t>{0, 1, 1, 0});
}

TEST_CASE("ordered rows are held out after those learnt from") {
  const SplitRule rule{{}, {}, true};
  const std::vector<int64_t> rows = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
  CHECK(split_rows(rows, 0.2, 100, 1, Purpose::choice, rule).held_out ==
        std::vector<int64_t>{23, 29});
  for (const int64_t n : {2, 3, 7, 20, 103}) {
    const auto folds = fold_splits(all_rows(n), 5, 9, rule);
    int64_t next = (n + 1) / 2;  // the first half is learnt from alone
    for (const Split& fold : folds) {
      CHECK(fold.train == all_rows(next));
      CHECK(fold.held_out.front() == next);
      next += std::ssize(fold.held_out);
    }
    CHECK(next == n);
    CHECK(std::ssize(folds) == std::min<int64_t>(5, n / 2));
  }
  const std::vector<int64_t> clusters = clusters_of(all_rows(25), rule);
  CHECK(std::ranges::is_sorted(clusters));
  CHECK(clusters.back() == 9);
}

}  // namespace row_sets_test
