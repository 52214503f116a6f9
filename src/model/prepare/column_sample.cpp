// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/column_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/numbers.h"
#include "base/size.h"
#include "model/prepare/listed_rows.h"
#include "random/stream.h"

namespace mercer::model {
namespace {

// The capacity of the sample in numbers: 16 MiB with their columns. At least some hundred rows are
// kept, however long they are.
constexpr int64_t kMostNumbers = int64_t{1} << 20;
constexpr int64_t kLeastSample = 256;
constexpr const char* kSampleForQuantiles = "a sample of rows for quantiles";
constexpr double kWeightRounding = 1e-12;  // of sums of weights

}  // namespace

double SortedColumn::quantile(double p) const {
  if (numbers_.empty()) return kNaN;
  const double wanted = p * cumulated_.back();
  const auto found = std::lower_bound(cumulated_.begin(), cumulated_.end() - 1, wanted);
  return numbers_[found - cumulated_.begin()];
}

double SortedColumn::weight_up_to(double x) const {
  const auto end = std::upper_bound(numbers_.begin(), numbers_.end(), x) - numbers_.begin();
  return end == 0 ? 0.0 : cumulated_[end - 1];
}

ColumnSample::ColumnSample(int64_t columns, uint64_t seed, Context& context)
    : columns_(columns),
      seed_(seed),
      context_(&context),
      sample_(context, kSampleForQuantiles),
      entries_(context, kSampleForQuantiles) {}

bool ColumnSample::keeps(int64_t row) const noexcept {
  if (level_ == 0) return true;
  const random::Stream stream(seed_, random::Tag::sample, 1);
  const random::Words words = stream.block(static_cast<uint64_t>(row));
  const uint64_t word = (uint64_t{words[1]} << 32) | words[0];
  return std::countr_zero(word) >= level_;
}

/// Reserves exactly for dense rows, whose number of entries is known.
void ColumnSample::reserve(const Rows& block) {
  if (block.sparse()) return;
  const int64_t coming = checked_multiply(block.rows(), columns_, kSampleForQuantiles);
  const int64_t most =
      std::max(kMostNumbers, checked_multiply(kLeastSample, columns_, kSampleForQuantiles));
  const int64_t wanted =
      std::min(checked_add(entries_.size(), coming, kSampleForQuantiles), most + columns_);
  if (entries_.size() > 0 && coming < entries_.size()) return;  // small blocks: let it double
  entries_.reserve(wanted);
}

void ColumnSample::add(const Rows& block, std::span<const double> weights) {
  const Matrix<double> sums(1, sum_count(block), *context_, "sums of a sparse row");
  sums.fill(0);
  sparse_ = sparse_ || block.sparse();
  reserve(block);
  block.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      const double weight = weights.empty() ? 1.0 : weights[i];
      if (weight == 0 || !keeps(rows_ + i)) continue;
      for_each_number(X, i, sums.data(), [&](int64_t j, double x) { entries_.push_back({j, x}); });
      sample_.push_back({rows_ + i, weight, entries_.size()});
      while (entries_.size() > kMostNumbers && sample_.size() > kLeastSample) thin_out();
    }
  });
  rows_ += block.rows();
}

/// Drops about half of the rows.
void ColumnSample::thin_out() {
  ++level_;
  int64_t rows = 0, to = 0, begin = 0;
  for (int64_t r = 0; r < sample_.size(); ++r) {
    SampledRow row = sample_[r];
    const int64_t end = row.entries;
    if (keeps(row.number)) {
      std::copy(entries_.data() + begin, entries_.data() + end, entries_.data() + to);
      to += end - begin;
      row.entries = to;
      sample_[rows++] = row;
    }
    begin = end;
  }
  sample_.shrink(rows);
  entries_.shrink(to);
}

ColumnSample::ByColumn ColumnSample::by_column() const {
  ByColumn all{{columns_, *context_, kSampleForQuantiles},
               {entries_.size(), *context_, kSampleForQuantiles}};
  std::fill(all.ends.begin(), all.ends.end(), 0);
  for (int64_t e = 0; e < entries_.size(); ++e) ++all.ends[entries_[e].column];
  std::exclusive_scan(all.ends.begin(), all.ends.end(), all.ends.begin(), int64_t{0});
  int64_t e = 0;
  for (int64_t r = 0; r < sample_.size(); ++r)
    for (; e < sample_[r].entries; ++e)
      all.numbers[all.ends[entries_[e].column]++] = {entries_[e].number, sample_[r].weight};
  return all;
}

double ColumnSample::total_weight() const noexcept {
  double total = 0;
  for (int64_t r = 0; r < sample_.size(); ++r) total += sample_[r].weight;
  return total;
}

SortedColumn ColumnSample::sorted(std::span<const Weighted> entries, double total) const {
  std::vector<Weighted> weighted;
  weighted.reserve(entries.size() + 1);
  double unlisted = total;
  for (const Weighted& entry : entries) {
    unlisted -= entry.weight;
    if (!std::isnan(entry.number)) weighted.push_back(entry);
  }
  if (sparse_ && unlisted > kWeightRounding * total) weighted.push_back({0.0, unlisted});
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
