// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which rows are held out: any, whole groups, or the last; in one part or in folds.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "failure.h"
#include "split.h"

namespace mercer::cli {

namespace {

/// The first n rows by groups, in an order that the seed fixes.
std::vector<std::vector<int64_t>> shuffled_groups(const Dataset& data, int64_t n, uint64_t seed) {
  std::unordered_map<double, size_t> places;
  std::vector<std::vector<int64_t>> groups;
  for (int64_t i = 0; i < n; ++i) {
    const auto [found, added] =
        places.try_emplace(data.groups[static_cast<size_t>(i)], groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  if (groups.size() < 2)
    throw Failure("--groups: every row is of one group, expected at least two groups");
  SplitMix64 random(seed);
  for (size_t i = groups.size() - 1; i > 0; --i) std::swap(groups[i], groups[random.below(i + 1)]);
  return groups;
}

/// Those after the first n stay where they are.
void arrange_groups(Dataset* data, int64_t n, const std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t> order;
  for (const auto& group : groups) order.insert(order.end(), group.begin(), group.end());
  for (int64_t i = n; i < data->n; ++i) order.push_back(i);
  arrange_rows(data, order);
}

/// A group is held out where it brings the rows nearer to those wanted; at least one is.
int64_t hold_groups_out(Dataset* data, int64_t n, int64_t wanted, uint64_t seed) {
  std::vector<std::vector<int64_t>> groups = shuffled_groups(*data, n, seed), kept, held;
  int64_t rows = 0;
  for (auto& group : groups) {
    const bool nearer = std::ssize(group) <= 2 * (wanted - rows) &&
                        rows + std::ssize(group) <= std::max(wanted, n / 2);
    if (nearer && held.size() + 1 < groups.size()) {
      rows += std::ssize(group);
      held.push_back(std::move(group));
    } else {
      kept.push_back(std::move(group));
    }
  }
  if (held.empty()) {
    const auto least = std::ranges::min_element(kept, {}, &std::vector<int64_t>::size);
    rows = std::ssize(*least);
    std::rotate(least, least + 1, kept.end());
  }
  kept.insert(kept.end(), held.begin(), held.end());
  arrange_groups(data, n, kept);
  return n - rows;
}

/// The largest first to the fold of fewest rows, folds then by their rows.
std::vector<Fold> group_folds(Dataset* data, int64_t K, uint64_t seed) {
  std::vector<std::vector<int64_t>> groups = shuffled_groups(*data, data->n, seed);
  const auto by_size = &std::vector<int64_t>::size;
  std::ranges::stable_sort(groups, std::ranges::greater(), by_size);
  const size_t count = K == 0 ? groups.size() : std::min(static_cast<size_t>(K), groups.size());
  std::vector<std::vector<int64_t>> folds(count);
  for (const auto& group : groups) {
    auto& fold = *std::ranges::min_element(folds, {}, by_size);
    fold.insert(fold.end(), group.begin(), group.end());
  }
  std::ranges::stable_sort(folds, {}, by_size);
  arrange_groups(data, data->n, folds);
  std::vector<Fold> result;
  int64_t first = 0;
  for (const auto& fold : folds) {
    result.push_back({first, std::ssize(fold)});
    first += std::ssize(fold);
  }
  return result;
}

}  // namespace

Fold fold_of(int64_t n, int64_t K, int64_t k) {
  const int64_t size = n / K,
                small = K - n % K;  // the first folds have `size` rows, others one more
  return k < small ? Fold{k * size, size} : Fold{small * size + (k - small) * (size + 1), size + 1};
}

int64_t held_out_rows(int64_t n, double fraction) {
  const auto rows = std::max<int64_t>(1, std::llround(fraction * static_cast<double>(n)));
  if (n - rows < 2) {
    throw Failure("--test-fraction: holding " + std::to_string(rows) + " of " + std::to_string(n) +
                  " rows out leaves fewer than 2 to fit on");
  }
  return rows;
}

int64_t hold_out(Dataset* data, int64_t n, double fraction, const Split& split) {
  if (!(fraction > 0)) return n;
  const int64_t rows = held_out_rows(n, fraction);
  if (!data->groups.empty()) return hold_groups_out(data, n, rows, split.seed);
  if (!split.ordered && n == data->n) shuffle_rows(data, split.seed);
  return n - rows;
}

std::vector<Fold> make_folds(Dataset* data, int64_t K, const Split& split) {
  if (!data->groups.empty()) return group_folds(data, K, split.seed);
  if (!split.ordered) shuffle_rows(data, split.seed);
  const int64_t n = data->n, first = split.ordered ? (n + 1) / 2 : 0;
  std::vector<Fold> folds;
  for (int64_t k = 0; k < (K == 0 ? n : K); ++k) {
    folds.push_back(fold_of(n - first, K == 0 ? n : K, k));
    folds.back().first += first;
  }
  return folds;
}

}  // namespace mercer::cli
