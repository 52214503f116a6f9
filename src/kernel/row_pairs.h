// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Two sparse rows as two short dense ones, over the columns that at least one of them stores: all
// that a kernel reads which ignores common zeros. One row is scattered once; others are then
// aligned with it at the cost of their non-zeros, in any order and without a search.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/listed_rows.h"

namespace mercer::kernel {

/// Scratch of one thread, which others make: marks of every column, -1 each and again so after
/// close(), and two rows as long as two rows list together, at least 1.
class RowPair {
 public:
  RowPair(int32_t* marks, double* left, double* right)
      : marks_(marks), left_(left), right_(right) {}

  /// Row i of X is the left one.
  template <class View>
  void open(const View& X, int64_t i) noexcept {
    length_ = 0;
    left_[0] = 0;
    for_each_listed(X, i, [&](int64_t j, auto value) {
      if (value == 0) return;
      int32_t& mark = marks_[j];
      if (mark < 0) {
        mark = length_;
        left_[length_++] = 0;
      }
      left_[mark] += static_cast<double>(value);
    });
  }
  template <class View>
  void close(const View& X, int64_t i) noexcept {
    for_each_listed(X, i, [&](int64_t j, auto) { marks_[j] = -1; });
  }

  /// value(d, left, right) for row j of Y, which names no column twice.
  template <class Value>
  double with(const CsrView<double>& Y, int64_t j, const Value& value) noexcept {
    std::fill_n(right_, std::max(length_, 1), 0.0);
    int32_t length = length_;
    Y.indices.visit([&](const auto* columns) {
      for (int64_t p = Y.begin(j), end = Y.end(j); p < end; ++p) {
        const int32_t mark = marks_[columns[p]];
        left_[length] = 0;  // for a column of Y alone, or not counted
        right_[mark < 0 ? length : mark] = Y.values[p];
        length += mark < 0;
      }
    });
    return value(std::max(length, 1), left_, right_);
  }

 private:
  int32_t* marks_;
  double* left_;
  double* right_;
  int32_t length_ = 0;  // of the left row
};

}  // namespace mercer::kernel
