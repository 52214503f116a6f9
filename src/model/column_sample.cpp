// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/column_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/listed_rows.h"
#include "random/stream.h"

namespace mercer::model {
namespace {

// Numbers kept before rows are dropped: 24 MiB with their columns and weights. At least some
// hundred rows stay, however long they are.
constexpr size_t kMostNumbers = size_t{1} << 20;
constexpr size_t kLeastRows = 256;
constexpr double kRounding = 1e-12;  // of sums of weights

}  // namespace

double SortedColumn::quantile(double p) const {
  if (numbers_.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double wanted = p * cumulated_.back();
  const auto found = std::lower_bound(cumulated_.begin(), cumulated_.end() - 1, wanted);
  return numbers_[static_cast<size_t>(found - cumulated_.begin())];
}

double SortedColumn::weight_up_to(double x) const {
  const auto end = std::upper_bound(numbers_.begin(), numbers_.end(), x) - numbers_.begin();
  return end == 0 ? 0.0 : cumulated_[static_cast<size_t>(end - 1)];
}

ColumnSample::ColumnSample(int64_t columns, uint64_t seed) : columns_(columns), seed_(seed) {}

bool ColumnSample::keeps(int64_t row) const noexcept {
  if (level_ == 0) return true;
  const random::Stream stream(seed_, random::Tag::sample, 1);
  const random::Words words = stream.block(static_cast<uint64_t>(row));
  const uint64_t word = (uint64_t{words[1]} << 32) | words[0];
  return std::countr_zero(word) >= level_;
}

void ColumnSample::add(const Rows& block, std::span<const double> weights) {
  std::vector<double> sums(static_cast<size_t>(sum_count(block)), 0.0);
  sparse_ = sparse_ || block.sparse();
  block.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      const double weight = weights.empty() ? 1.0 : weights[static_cast<size_t>(i)];
      if (weight == 0 || !keeps(rows_ + i)) continue;
      for_each_number(X, i, sums.data(), [&](int64_t j, double x) {
        column_.push_back(j);
        number_.push_back(x);
        weight_.push_back(weight);
      });
      sample_.push_back({rows_ + i, weight, column_.size()});
      while (column_.size() > kMostNumbers && sample_.size() > kLeastRows) thin_out();
    }
  });
  rows_ += block.rows();
}

/// Keeps about half of the rows.
void ColumnSample::thin_out() {
  ++level_;
  size_t rows = 0, to = 0, begin = 0;
  for (const SampledRow& row : sample_) {
    const size_t end = row.entries;
    if (keeps(row.number)) {
      for (size_t e = begin; e < end; ++e, ++to) {
        column_[to] = column_[e];
        number_[to] = number_[e];
        weight_[to] = weight_[e];
      }
      SampledRow kept = row;
      kept.entries = to;
      sample_[rows++] = kept;
    }
    begin = end;
  }
  sample_.resize(rows);
  column_.resize(to);
  number_.resize(to);
  weight_.resize(to);
}

std::vector<int64_t> ColumnSample::entries_by_column() const {
  std::vector<int64_t> place(static_cast<size_t>(columns_) + 1, 0), order(column_.size());
  for (const int64_t j : column_) ++place[static_cast<size_t>(j) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  for (size_t e = 0; e < column_.size(); ++e) {
    order[static_cast<size_t>(place[static_cast<size_t>(column_[e])]++)] = static_cast<int64_t>(e);
  }
  return order;
}

double ColumnSample::total_weight() const noexcept {
  double total = 0;
  for (const SampledRow& row : sample_) total += row.weight;
  return total;
}

SortedColumn ColumnSample::sorted(std::span<const int64_t> entries, double total) const {
  std::vector<std::pair<double, double>> weighted;
  weighted.reserve(entries.size() + 1);
  double unlisted = total;
  for (const int64_t e : entries) {
    const auto entry = static_cast<size_t>(e);
    unlisted -= weight_[entry];
    if (!std::isnan(number_[entry])) weighted.emplace_back(number_[entry], weight_[entry]);
  }
  if (sparse_ && unlisted > kRounding * total) weighted.emplace_back(0.0, unlisted);
  std::sort(weighted.begin(), weighted.end());
  std::vector<double> numbers, cumulated;
  double sum = 0;
  for (const auto& [number, weight] : weighted) {
    numbers.push_back(number);
    cumulated.push_back(sum += weight);
  }
  return {std::move(numbers), std::move(cumulated)};
}

}  // namespace mercer::model
