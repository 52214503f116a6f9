// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Seeded splits: a permutation of the rows from the streams `split` and `sample`, so that a seed
// means the same split everywhere.
#include "model/rows/row_sets.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "feature/landmarks.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::model {
namespace {

constexpr int64_t kLeastGroups = 5;  // held out
constexpr int64_t kBlocks = 10;      // clusters in time: a compromise of number and independence

std::vector<int64_t> shuffled(int64_t n, const random::Stream& stream) {
  std::vector<int64_t> order(n);
  random::Cursor cursor(stream);
  random::permutation(cursor, order);
  return order;
}

/// Moves `count` rows to the front, stratified by class, in the order of the rows.
void spread_classes(std::vector<int64_t>& order, int64_t count, std::span<const double> classes) {
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return classes[i]; });
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

/// Groups in a seeded order, each with its rows.
std::vector<std::vector<int64_t>> shuffled_groups(const std::vector<int64_t>& rows,
                                                  const std::vector<double>& groups,
                                                  const random::Stream& stream) {
  std::map<double, std::vector<int64_t>> members;
  for (const int64_t i : rows) members[groups[i]].push_back(i);
  std::vector<std::vector<int64_t>> listed, result;
  for (auto& [number, own] : members) listed.push_back(std::move(own));
  for (const int64_t g : shuffled(std::ssize(listed), stream))
    result.push_back(std::move(listed[g]));
  return result;
}

/// Takes a group if it brings the number of rows nearer to the wanted one, or if fewer than
/// kLeastGroups are taken.
Split split_groups(const std::vector<int64_t>& rows, int64_t wanted,
                   const std::vector<std::vector<int64_t>>& groups) {
  const int64_t count = std::ssize(groups), n = std::ssize(rows);
  const int64_t least = std::min<int64_t>(kLeastGroups, count / 3);
  Split split;
  int64_t taken = 0;
  for (const auto& group : groups) {
    const int64_t held = std::ssize(split.held_out), size = std::ssize(group);
    const bool nearer = size <= 2 * (wanted - held) && held + size <= std::max(wanted, n / 2);
    const bool more = taken < least && held + size <= n / 3;
    if (taken == count - 1 || !(nearer || more)) continue;
    ++taken;
    split.held_out.insert(split.held_out.end(), group.begin(), group.end());
  }
  if (taken == 0)
    split.held_out = *std::ranges::min_element(groups, {}, &std::vector<int64_t>::size);
  std::ranges::sort(split.held_out);
  std::ranges::set_difference(rows, split.held_out, std::back_inserter(split.train));
  return split;
}

/// Assigns groups, the largest first, to the fold of fewest rows.
std::vector<Split> group_splits(const std::vector<int64_t>& rows, int64_t folds,
                                std::vector<std::vector<int64_t>> groups) {
  std::ranges::stable_sort(groups, std::ranges::greater(), &std::vector<int64_t>::size);
  std::vector<Split> splits(std::min(folds, std::ssize(groups)));
  for (const auto& group : groups) {
    auto& fold = std::ranges::min_element(splits, {}, [](const Split& split) {
                   return split.held_out.size();
                 })->held_out;
    fold.insert(fold.end(), group.begin(), group.end());
  }
  for (Split& split : splits) {
    std::ranges::sort(split.held_out);
    std::ranges::set_difference(rows, split.held_out, std::back_inserter(split.train));
  }
  return splits;
}

std::vector<Split> forward_splits(const std::vector<int64_t>& rows, int64_t folds) {
  const int64_t n = std::ssize(rows), first = (n + 1) / 2;
  std::vector<Split> splits;
  for (int64_t k = 0; k < folds; ++k) {
    const auto from = rows.begin() + first + (n - first) * k / folds;
    const auto to = rows.begin() + first + (n - first) * (k + 1) / folds;
    if (from != to) splits.push_back({{rows.begin(), from}, {from, to}});
  }
  return splits;
}

}  // namespace

Split split_rows(const std::vector<int64_t>& rows, double fraction, int64_t most, uint64_t seed,
                 Purpose purpose, const SplitRule& rule) {
  const int64_t n = std::ssize(rows);
  const random::Stream stream(seed, random::Tag::split, static_cast<uint64_t>(purpose));
  const auto wanted = static_cast<int64_t>(std::llround(fraction * static_cast<double>(n)));
  const int64_t count = std::clamp<int64_t>(std::min(wanted, most), 1, n - 1);
  if (rule.ordered) return {{rows.begin(), rows.end() - count}, {rows.end() - count, rows.end()}};
  if (group_count(rows, rule.groups) > 1)
    return split_groups(rows, count, shuffled_groups(rows, rule.groups, stream));
  std::vector<int64_t> order = shuffled(n, stream);
  for (int64_t& row : order) row = rows[row];
  if (!rule.classes.empty()) spread_classes(order, count, rule.classes);
  Split split{{order.begin() + count, order.end()}, {order.begin(), order.begin() + count}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.held_out.begin(), split.held_out.end());
  return split;
}

std::vector<std::vector<int64_t>> fold_rows(int64_t n, int64_t folds, uint64_t seed,
                                            std::span<const double> classes) {
  std::vector<int64_t> order = shuffled(n, {seed, random::Tag::split, 0});
  if (!classes.empty()) std::ranges::stable_sort(order, {}, [&](int64_t i) { return classes[i]; });
  std::vector<std::vector<int64_t>> result(folds);
  for (int64_t i = 0; i < n; ++i) {
    result[i % folds].push_back(order[i]);
  }
  for (auto& fold : result) std::sort(fold.begin(), fold.end());
  return result;
}

std::vector<Split> fold_splits(const std::vector<int64_t>& rows, int64_t folds, uint64_t seed,
                               const SplitRule& rule) {
  if (rule.ordered) return forward_splits(rows, folds);
  if (group_count(rows, rule.groups) > 1)
    return group_splits(rows, folds,
                        shuffled_groups(rows, rule.groups, {seed, random::Tag::split, 0}));
  const int64_t n = std::ssize(rows);
  std::vector<double> own;
  for (int64_t i = 0; i < n && !rule.classes.empty(); ++i) own.push_back(rule.classes[rows[i]]);
  const auto taken = [&](const std::vector<int64_t>& places) {
    std::vector<int64_t> part;
    for (const int64_t i : places) part.push_back(rows[i]);
    return part;
  };
  std::vector<Split> splits;
  for (const std::vector<int64_t>& fold : fold_rows(n, folds, seed, own))
    splits.push_back({taken(rows_without(n, fold)), taken(fold)});
  return splits;
}

std::vector<int64_t> held_out_of(const std::vector<Split>& splits) {
  std::vector<int64_t> all;
  for (const Split& split : splits)
    all.insert(all.end(), split.held_out.begin(), split.held_out.end());
  return all;
}

std::vector<int64_t> clusters_of(const std::vector<int64_t>& rows, const SplitRule& rule) {
  const int64_t n = std::ssize(rows);
  std::vector<int64_t> clusters;
  std::map<double, int64_t> numbers;
  for (int64_t i = 0; i < n && !rule.exchangeable(); ++i) {
    const auto row = static_cast<size_t>(rows[static_cast<size_t>(i)]);
    clusters.push_back(
        rule.ordered ? i * std::min(kBlocks, n) / n
                     : numbers.try_emplace(rule.groups[row], std::ssize(numbers)).first->second);
  }
  return clusters;
}

int64_t group_count(const std::vector<int64_t>& rows, const std::vector<double>& groups) {
  if (groups.empty()) return 0;
  std::set<double> numbers;
  for (const int64_t i : rows) numbers.insert(groups[i]);
  return std::ssize(numbers);
}

std::vector<int64_t> all_rows(int64_t n) {
  std::vector<int64_t> rows(n);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

std::vector<int64_t> rows_that_count(std::span<const double> weights, int64_t n) {
  std::vector<int64_t> rows = all_rows(n);
  if (!weights.empty()) std::erase_if(rows, [&](int64_t i) { return weights[i] == 0; });
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
  if (count >= std::ssize(rows)) return rows;
  std::vector<int64_t> chosen = sample_rows(std::ssize(rows), count, seed);
  for (int64_t& row : chosen) row = rows[row];
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<int64_t> sample_rows(int64_t n, int64_t count, uint64_t seed) {
  return count >= n ? all_rows(n) : feature::uniform_rows(n, count, seed);
}

namespace {

constexpr const char* kCopyOfRows = "a copy of rows";

}  // namespace

template <class T>
void CopiedRows::copy(const MatrixView<const T>& X, solver::RowSet rows, Context& context) {
  Matrix<T> part(rows.count, X.cols, context, kCopyOfRows);
  for (int64_t i = 0; i < rows.count; ++i) std::copy_n(X.row(rows[i]), X.cols, part.view().row(i));
  storage_ = std::move(part);
}

template <class T>
void CopiedRows::copy(const CsrView<T>& X, solver::RowSet rows, Context& context) {
  int64_t stored = 0;
  for (int64_t i = 0; i < rows.count; ++i) stored += X.end(rows[i]) - X.begin(rows[i]);
  Sparse<T> part{X.cols,
                 {rows.count + 1, context, kCopyOfRows},
                 {stored, context, kCopyOfRows},
                 {stored, context, kCopyOfRows}};
  int64_t at = part.offsets[0] = 0;
  for (int64_t i = 0; i < rows.count; ++i) {
    for_each_stored(X, rows[i], [&](int64_t j, T value) {
      part.indices[at] = j;
      part.values[at++] = value;
    });
    part.offsets[i + 1] = at;
  }
  storage_ = std::move(part);
}

CopiedRows::CopiedRows(const Rows& of, solver::RowSet rows, Context& context) {
  of.visit([&](const auto& X) { copy(X, rows, context); });
}

Rows CopiedRows::rows() const {
  return std::visit(
      [](const auto& part) -> Rows {
        if constexpr (requires { part.view(); }) {
          return part.view();
        } else {
          return CsrView<std::remove_cvref_t<decltype(part.values[0])>>{
              part.offsets.size() - 1, part.cols, part.offsets.data(), part.indices.data(),
              part.values.data()};
        }
      },
      storage_);
}

Matrix<double> copied_targets(MatrixView<const double> Y, solver::RowSet rows, Context& context) {
  Matrix<double> part(rows.count, Y.cols, context, "a copy of targets");
  for (int64_t i = 0; i < rows.count; ++i) std::copy_n(Y.row(rows[i]), Y.cols, part.view().row(i));
  return part;
}

RowsForMap rows_for_map(const TargetedRows& rows, const Preparation& preparation,
                        const TargetOptions& coding, const std::vector<int64_t>& from,
                        int64_t sample, uint64_t seed, Context& context) {
  constexpr int64_t kMapRows = 10000;
  constexpr const char* kRows = "the rows that a map is made from";
  const std::vector<int64_t> chosen = sample_rows(from, std::max(sample, kMapRows), seed);
  const CopiedRows copied(rows.X, chosen, context);
  RowsForMap made{
      PreparedRows(preparation, copied.rows(), context, kRows),
      Matrix<double>(std::ssize(chosen), coded_outputs(coding, rows.Y.cols), context, kRows)};
  for (int64_t i = 0; i < made.Y.rows(); ++i)
    code_target(coding, preparation, rows.Y.cols, rows.Y.row(chosen[i]), made.Y.view().row(i));
  return made;
}

}  // namespace mercer::model
