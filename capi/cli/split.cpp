// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A shuffle that never changes; which rows are held out: any, groups, the last, one part or folds.
#include "split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "failure.h"

namespace mercer::cli {

uint64_t splitmix64(uint64_t* state) {
  uint64_t z = *state += kSplitmixStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

namespace {

template <class T>
void shuffle(std::vector<T>* all, uint64_t state) {
  for (size_t i = all->size(); i-- > 1;) {
    const uint64_t whole = UINT64_MAX - UINT64_MAX % (i + 1);
    uint64_t draw = splitmix64(&state);
    while (draw >= whole) draw = splitmix64(&state);  // above the largest multiple of i + 1
    std::swap((*all)[i], (*all)[draw % (i + 1)]);
  }
}

/// The first n rows by groups, in an order that the seed fixes.
std::vector<std::vector<int64_t>> shuffled_groups(const Dataset& data, int64_t n, uint64_t seed) {
  std::unordered_map<double, size_t> places;
  std::vector<std::vector<int64_t>> groups;
  for (int64_t i = 0; i < n; ++i) {
    const auto [found, added] = places.try_emplace(data.groups[i], groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  if (groups.size() < 2)
    throw Failure("--groups: every row is of one group, expected at least two groups");
  shuffle(&groups, seed);
  return groups;
}

/// Those after the first n stay where they are.
void arrange_groups(Dataset* data, int64_t n, const std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t> order;
  for (const auto& group : groups) order.insert(order.end(), group.begin(), group.end());
  for (int64_t i = n; i < data->n; ++i) order.push_back(i);
  arrange_rows(data, order);
}

/// Groups until there are as many rows as wanted, but none of more than half of all rows.
int64_t hold_groups_out(Dataset* data, int64_t n, int64_t wanted, uint64_t seed) {
  std::vector<std::vector<int64_t>> groups = shuffled_groups(*data, n, seed), kept, held;
  int64_t rows = 0;
  for (auto& group : groups) {
    const bool more = rows < wanted && rows + std::ssize(group) <= std::max(wanted, n / 2) &&
                      held.size() + 1 < groups.size();
    if (more) rows += std::ssize(group);
    (more ? held : kept).push_back(std::move(group));
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

std::vector<int64_t> shuffled(int64_t n, uint64_t seed) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  shuffle(&order, seed);
  return order;
}

void arrange_rows(Dataset* data, const std::vector<int64_t>& order) {
  const auto take = [&](std::vector<double>& numbers, int64_t width) {
    if (!numbers.empty()) numbers = rows_in_order({std::move(numbers)}, width, order).values;
  };
  data->X = rows_in_order(data->X, data->d, order);
  take(data->Y, data->m);
  take(data->weights, 1);
  take(data->groups, 1);
  std::vector<int64_t> file_rows;
  for (const int64_t i : order) file_rows.push_back(row_of(*data, i) - 1);
  data->file_rows = std::move(file_rows);
  data->n = std::ssize(order);
}

void shuffle_rows(Dataset* data, uint64_t seed) { arrange_rows(data, shuffled(data->n, seed)); }

int64_t leave_out_rows(Dataset* data, const std::vector<double>& numbers, double value) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != value && (!std::isnan(value) || !std::isnan(numbers[i])))
      rows.push_back(static_cast<int64_t>(i));
  const int64_t left_out = std::ssize(numbers) - std::ssize(rows);
  if (left_out > 0) arrange_rows(data, rows);
  return left_out;
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
  const int64_t n = data->n, first = split.ordered ? (n + 1) / 2 : 0, count = K == 0 ? n : K;
  std::vector<Fold> folds;
  for (int64_t k = 0, begin = first; k < count; ++k) {
    const int64_t end = first + (n - first) * (k + 1) / count;
    folds.push_back({begin, end - begin});
    begin = end;
  }
  return folds;
}

}  // namespace mercer::cli
