// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Repeats are counted and reported; folds may separate them. Keeping copies of inputs and target in
// one fold would be right for rows sampled twice but wrong for discrete inputs: with 600 rows in 50
// cells and two random classes, a fold holds all of a cell's rows of one class and accuracy falls
// from .62, that of new rows, to .10; if targets are a function of the cell, R^2 falls from 1 to
// below 0.
#include "model/assess/repeats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/size.h"

namespace mercer::model {
namespace {

/// FNV-1a of a row's numbers; for sparse rows with their columns.
template <class View>
uint64_t hash_of(const View& X, int64_t i) {
  uint64_t hash = 14695981039346656037u;
  const auto mix = [&](uint64_t word) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) hash = (hash ^ (word & 0xff)) * 1099511628211u;
  };
  for_each_listed(X, i, [&](int64_t j, auto x) {
    mix(static_cast<uint64_t>(j));
    mix(std::bit_cast<uint64_t>(static_cast<double>(x)));
  });
  return hash;
}

/// Hashes and numbers of rows, sorted: rows of equal inputs are adjacent.
using Hashed = std::pair<uint64_t, int64_t>;

std::vector<Hashed> by_inputs(const Rows& X) {
  std::vector<Hashed> rows;
  rows.reserve(X.rows());
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < view.rows; ++i) rows.emplace_back(hash_of(view, i), i);
  });
  std::ranges::sort(rows);
  return rows;
}

bool targets_differ(MatrixView<const double> Y, std::span<const Hashed> group) {
  const double* first = Y.row(group[0].second);
  return std::ranges::any_of(group, [&](const Hashed& row) {
    return !std::equal(first, first + Y.cols, Y.row(row.second));
  });
}

/// The number of a group's rows outside its largest class.
double outvoted(MatrixView<const double> Y, std::span<const Hashed> group) {
  std::map<double, double> counts;
  double most = 0;
  for (const auto& [hash, i] : group) most = std::max(most, ++counts[Y(i, 0)]);
  return static_cast<double>(group.size()) - most;
}

/// Sum of squared deviations from the mean over the rows row(0), ..., row(count - 1).
template <class Row>
double squared_deviations(MatrixView<const double> Y, int64_t o, int64_t count, const Row& row) {
  const double first = Y(row(0), o);  // subtracted: exact for a constant
  double mean = 0, squares = 0;
  for (int64_t k = 0; k < count; ++k) mean += (Y(row(k), o) - first) / static_cast<double>(count);
  for (int64_t k = 0; k < count; ++k) squares += std::pow(Y(row(k), o) - first - mean, 2);
  return squares;
}

/// The pure error per output: squares within groups over rows minus groups.
struct PureError {
  std::vector<double> squares;
  double freedom = 0;

  void add(MatrixView<const double> Y, std::span<const Hashed> group) {
    freedom += static_cast<double>(group.size() - 1);
    for (int64_t o = 0; o < Y.cols; ++o)
      squares[o] +=
          squared_deviations(Y, o, std::ssize(group), [&](int64_t k) { return group[k].second; });
  }

  double most_explained(MatrixView<const double> Y) const {
    double sum = 0, varying = 0;
    for (int64_t o = 0; o < Y.cols; ++o) {
      const double all = squared_deviations(Y, o, Y.rows, [](int64_t k) { return k; });
      if (!(all > 0)) continue;
      const double noise = squares[o] / freedom;
      sum += std::max(0.0, 1 - noise / (all / static_cast<double>(Y.rows)));
      ++varying;
    }
    return varying > 0 ? sum / varying : 1;
  }
};

}  // namespace

Repeats find_repeats(Task task, const Rows& X, MatrixView<const double> Y, Context& context) {
  const auto charge = context.charge(checked_multiply(sizeof(Hashed), X.rows(), "hashes of rows"),
                                     "hashes of rows");
  const std::vector<Hashed> rows = by_inputs(X);
  const bool classes = task == Task::classification;
  Repeats found;
  PureError error{std::vector<double>(Y.cols, 0.0)};
  double wrong = 0;
  for (size_t i = 0, end = 0; i < rows.size(); i = end) {
    end = i + 1;
    while (end < rows.size() && rows[end].first == rows[i].first) ++end;
    if (end == i + 1) continue;
    const std::span group(rows.data() + i, end - i);
    found.rows += std::ssize(group) - 1;
    if (targets_differ(Y, group)) found.contradictory += std::ssize(group);
    if (classes) wrong += outvoted(Y, group);
    if (!classes) error.add(Y, group);
  }
  if (found.contradictory > 0)
    found.most = classes ? 1 - wrong / static_cast<double>(Y.rows) : error.most_explained(Y);
  return found;
}

}  // namespace mercer::model
