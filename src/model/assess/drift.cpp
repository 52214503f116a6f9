// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/drift.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace mercer::model {
namespace {

constexpr double kDeviations = 3.0902;

}  // namespace

bool are_larger(std::span<const double> losses, std::span<const double> others) {
  if (losses.size() < kLeastDriftRows || others.size() < kLeastDriftRows) return false;
  std::vector<std::pair<double, int>> all;
  for (const double loss : losses) all.emplace_back(loss, 1);
  for (const double loss : others) all.emplace_back(loss, 0);
  std::ranges::sort(all);
  const auto m = static_cast<double>(losses.size()), k = static_cast<double>(others.size());
  const double n = m + k;
  double ranks = 0, ties = 0;
  for (size_t first = 0; first < all.size();) {
    size_t end = first, own = 0;
    for (; end < all.size() && all[end].first == all[first].first; ++end)
      own += static_cast<size_t>(all[end].second);
    const auto tied = static_cast<double>(end - first);
    ranks += static_cast<double>(own) * (static_cast<double>(first + end) + 1) / 2;
    ties += tied * (tied * tied - 1);
    first = end;
  }
  const double excess = ranks - m * (n + 1) / 2;
  const double variance = m * k / 12 * (n + 1 - ties / (n * (n - 1)));
  return variance > 0 && excess > kDeviations * std::sqrt(variance);
}

}  // namespace mercer::model
