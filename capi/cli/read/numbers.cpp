// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/numbers.h"

#include <algorithm>
#include <utility>

namespace mercer::cli {

void densify_if_full(Numbers* numbers, int64_t rows, int64_t columns) {
  constexpr double kFullShare = 0.25;
  const double all = static_cast<double>(rows) * static_cast<double>(columns);
  if (!numbers->sparse || static_cast<double>(numbers->values.size()) <= kFullShare * all) return;
  Numbers dense;
  dense.values.resize(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i)
    for (auto p = numbers->offsets[i]; p < numbers->offsets[i + 1]; ++p)
      dense.values[i * static_cast<size_t>(columns) +
                   static_cast<size_t>(numbers->indices[static_cast<size_t>(p)])] = numbers->at(p);
  *numbers = std::move(dense);
}

Numbers rows_in_order(const Numbers& numbers, int64_t columns, const std::vector<int64_t>& order) {
  Numbers taken;
  taken.sparse = numbers.sparse;
  if (numbers.sparse) taken.offsets.push_back(0);
  if (!numbers.sparse) taken.values.reserve(order.size() * static_cast<size_t>(columns));
  for (const int64_t i : order) {
    int64_t begin = i * columns, end = begin + columns;
    if (numbers.sparse) {
      begin = numbers.offsets[static_cast<size_t>(i)];
      end = numbers.offsets[static_cast<size_t>(i) + 1];
      taken.indices.insert(taken.indices.end(), numbers.indices.begin() + begin,
                           numbers.indices.begin() + end);
    }
    taken.values.insert(taken.values.end(), numbers.values.begin() + begin,
                        numbers.values.begin() + end);
    if (numbers.sparse) taken.offsets.push_back(std::ssize(taken.values));
  }
  return taken;
}

}  // namespace mercer::cli
