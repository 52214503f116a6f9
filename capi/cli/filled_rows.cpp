// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "filled_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "failure.h"

namespace mercer::cli {

namespace {

/// NaN: the rows that are fitted on have no number in this column.
double median(const Subsample& rows, int64_t j) {
  std::vector<std::pair<double, double>> numbers;  // with their weights
  double total = 0;
  for (int64_t i = 0; i < rows.train_rows; ++i) {
    const double x = rows.X.f64[static_cast<size_t>(i * rows.d + j)];
    if (std::isnan(x)) continue;
    numbers.emplace_back(x, rows.weight(i));
    total += rows.weight(i);
  }
  std::ranges::sort(numbers);
  double below = 0;
  for (const auto& [x, weight] : numbers) {
    below += weight;
    if (below >= 0.5 * total) return x;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool misses_some(const Subsample& rows, int64_t j) {
  for (int64_t i = 0; i < rows.train_rows; ++i)
    if (std::isnan(rows.X.f64[static_cast<size_t>(i * rows.d + j)])) return true;
  return false;
}

}  // namespace

void fill_missing(Subsample* rows, bool flag, const std::vector<std::string>& names) {
  std::vector<double> medians;
  std::vector<int64_t> flagged;
  for (int64_t j = 0; j < rows->d; ++j) {
    medians.push_back(median(*rows, j));
    if (std::isnan(medians.back()))
      throw Failure("--missing: column " + names[static_cast<size_t>(j)] +
                    " has no number in the " + std::to_string(rows->train_rows) +
                    " rows that are fitted on: --ignore leaves it out");
    if (flag && misses_some(*rows, j)) flagged.push_back(j);
  }
  const int64_t d = rows->d;
  GrowingBuffer<double> filled;
  for (int64_t i = 0; i < rows->train_rows + rows->test_rows; ++i) {
    const double* row = rows->X.f64.data() + i * d;
    for (int64_t j = 0; j < d; ++j)
      filled.push_back(std::isnan(row[j]) ? medians[static_cast<size_t>(j)] : row[j]);
    for (const int64_t j : flagged) filled.push_back(std::isnan(row[j]) ? 1 : 0);
  }
  rows->X.f64 = std::move(filled);
  rows->d += static_cast<int64_t>(flagged.size());
}

}  // namespace mercer::cli
