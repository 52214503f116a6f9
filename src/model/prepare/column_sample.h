// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Quantiles of columns from a sample of rows, or from all rows while they are few.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"

namespace mercer::model {

/// One column of the sample: ascending numbers with cumulated weights.
class SortedColumn {
 public:
  SortedColumn(std::vector<double> numbers, std::vector<double> cumulated)
      : numbers_(std::move(numbers)), cumulated_(std::move(cumulated)) {}
  /// NaN if the column is empty.
  double quantile(double p) const;
  /// The weight of all numbers <= x.
  double weight_up_to(double x) const;
  double weight() const noexcept { return cumulated_.empty() ? 0.0 : cumulated_.back(); }
  bool empty() const noexcept { return numbers_.empty(); }
  /// body(number, weight), ascending.
  template <class Body>
  void for_each(const Body& body) const {
    double before = 0;
    for (size_t k = 0; k < numbers_.size(); ++k) {
      body(numbers_[k], cumulated_[k] - before);
      before = cumulated_[k];
    }
  }

 private:
  std::vector<double> numbers_, cumulated_;
};

/// A row is kept or not by a hash of seed and row number, so that the sample does not depend on the
/// blocks. Rows of weight 0 and NaN are ignored.
class ColumnSample {
 public:
  /// The context is kept, and charged with the sample and its sorted columns.
  ColumnSample(int64_t columns, uint64_t seed, Context& context);
  /// Adds the next rows, weighted or not.
  void add(const Rows& block, std::span<const double> weights = {});
  /// True: every row of positive weight is in the sample, and quantiles are exact.
  bool complete() const noexcept { return level_ == 0; }
  /// How many rows each row of the sample stands for.
  double share() const noexcept { return std::ldexp(1.0, level_); }
  /// Calls body(column, sorted) for the columns in order. The p-quantile is the smallest number x
  /// such that numbers <= x have at least the share p of the weight.
  template <class Body>
  void for_each_column(const Body& body) const {
    const ByColumn all = by_column();
    const double total = total_weight();
    int64_t begin = 0;
    for (int64_t j = 0; j < columns_; ++j) {
      const int64_t end = all.ends[j];
      body(j, sorted({all.numbers.data() + begin, static_cast<size_t>(end - begin)}, total));
      begin = end;
    }
  }

 private:
  struct SampledRow {
    int64_t number;
    double weight;
    int64_t entries;  // end of its entries
  };
  struct Entry {
    int64_t column;
    double number;
  };
  struct Weighted {
    double number, weight;
    bool operator<(const Weighted& other) const noexcept {
      return number < other.number || (number == other.number && weight < other.weight);
    }
  };
  struct ByColumn {
    AlignedBuffer<int64_t> ends;
    AlignedBuffer<Weighted> numbers;
  };
  bool keeps(int64_t row) const noexcept;
  void thin_out();
  double total_weight() const noexcept;
  void reserve(const Rows& block);
  ByColumn by_column() const;
  SortedColumn sorted(std::span<const Weighted> entries, double total) const;

  int64_t columns_;
  uint64_t seed_;
  bool sparse_ = false;  // numbers that are not stored are 0
  int level_ = 0;        // a row is kept with probability 2^-level
  int64_t rows_ = 0;
  Context* context_;
  GrowingBuffer<SampledRow> sample_;
  GrowingBuffer<Entry> entries_;
};

}  // namespace mercer::model
