// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Seeded splits: a permutation of the rows from the streams `split` and `sample`, so that a seed
// means the same split everywhere.
#include "model/rows/row_sets.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::model {
namespace {

std::vector<int64_t> shuffled(int64_t n, const random::Stream& stream) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  random::Cursor cursor(stream);
  random::permutation(cursor, order);
  return order;
}

/// Moves `count` rows to the front, of each class its share in the order of the rows.
void spread_classes(std::vector<int64_t>& order, int64_t count, std::span<const double> classes) {
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return classes[static_cast<size_t>(i)]; });
  const auto n = static_cast<double>(order.size());
  const double share = static_cast<double>(count) / n;
  std::vector<int64_t> front, rest;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto before = static_cast<int64_t>(static_cast<double>(i) * share + 0.5);
    const auto after = static_cast<int64_t>(static_cast<double>(i + 1) * share + 0.5);
    (after > before ? front : rest).push_back(order[i]);
  }
  std::ranges::copy(front, order.begin());
  std::ranges::copy(rest, order.begin() + std::ssize(front));
}

}  // namespace

Split split_rows(int64_t n, double fraction, int64_t most, uint64_t seed) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  return split_rows(all, fraction, most, seed);
}

Split split_rows(const std::vector<int64_t>& rows, double fraction, int64_t most, uint64_t seed,
                 Purpose purpose, std::span<const double> classes) {
  const int64_t n = std::ssize(rows);
  std::vector<int64_t> order =
      shuffled(n, {seed, random::Tag::split, static_cast<uint64_t>(purpose)});
  const auto wanted = static_cast<int64_t>(std::llround(fraction * static_cast<double>(n)));
  const int64_t count = std::clamp<int64_t>(std::min(wanted, most), 1, n - 1);
  for (int64_t& row : order) row = rows[static_cast<size_t>(row)];
  if (!classes.empty()) spread_classes(order, count, classes);
  Split split{{order.begin() + count, order.end()}, {order.begin(), order.begin() + count}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.held_out.begin(), split.held_out.end());
  return split;
}

std::vector<std::vector<int64_t>> fold_rows(int64_t n, int64_t folds, uint64_t seed,
                                            std::span<const double> classes) {
  std::vector<int64_t> order = shuffled(n, {seed, random::Tag::split, 0});
  if (!classes.empty())
    std::ranges::stable_sort(order, {}, [&](int64_t i) { return classes[static_cast<size_t>(i)]; });
  std::vector<std::vector<int64_t>> result(static_cast<size_t>(folds));
  for (int64_t i = 0; i < n; ++i) {
    result[static_cast<size_t>(i % folds)].push_back(order[static_cast<size_t>(i)]);
  }
  for (auto& fold : result) std::sort(fold.begin(), fold.end());
  return result;
}

std::vector<Split> fold_splits(const std::vector<int64_t>& rows, int64_t folds, uint64_t seed,
                               std::span<const double> classes) {
  const int64_t n = std::ssize(rows);
  std::vector<double> own;
  for (int64_t i = 0; i < n && !classes.empty(); ++i)
    own.push_back(classes[static_cast<size_t>(rows[static_cast<size_t>(i)])]);
  const auto taken = [&](const std::vector<int64_t>& places) {
    std::vector<int64_t> part;
    for (const int64_t i : places) part.push_back(rows[static_cast<size_t>(i)]);
    return part;
  };
  std::vector<Split> splits;
  for (const std::vector<int64_t>& fold : fold_rows(n, folds, seed, own))
    splits.push_back({taken(rows_without(n, fold)), taken(fold)});
  return splits;
}

std::vector<int64_t> all_rows(int64_t n) {
  std::vector<int64_t> rows(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

std::vector<int64_t> rows_without(int64_t n, const std::vector<int64_t>& removed) {
  std::vector<int64_t> rest;
  rest.reserve(static_cast<size_t>(n) - removed.size());
  size_t next = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (next < removed.size() && removed[next] == i) {
      ++next;
    } else {
      rest.push_back(i);
    }
  }
  return rest;
}

std::vector<int64_t> sample_rows(const std::vector<int64_t>& rows, int64_t count, uint64_t seed) {
  const auto n = static_cast<int64_t>(rows.size());
  if (count >= n) return rows;
  std::vector<int64_t> chosen(static_cast<size_t>(count));
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  random::sample_without_replacement(cursor, n, chosen);
  for (int64_t& row : chosen) row = rows[static_cast<size_t>(row)];
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace mercer::model
