// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows of doubles that own their arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer {

/// Rows as stored non-zeros: columns ascending, each once, no zeros.
class CsrRows {
 public:
  CsrRows() = default;
  /// Reserves and charges room for `rows` rows and `numbers` non-zeros; add appends the rows.
  CsrRows(int64_t rows, int64_t cols, int64_t numbers, Context& context, const char* what);
  /// A copy of the rows of X.
  CsrRows(const Rows& X, Context& context, const char* what);

  /// Appends a row: list(put) calls put(column, value), in any order; a column named twice counts
  /// as the sum.
  template <class List>
  void add(const List& list) {
    row_.clear();
    list([this](int64_t j, double value) { row_.push_back({j, value}); });
    end_row();
  }

  CsrView<double> view() const noexcept {
    return {rows_, cols_, offsets_.data(), columns_.data(), values_.data()};
  }

 private:
  struct Entry {
    int64_t column;
    double value;
  };
  void end_row();

  int64_t rows_ = 0, cols_ = 0;
  AlignedBuffer<int64_t> offsets_, columns_;
  AlignedBuffer<double> values_;
  std::vector<Entry> row_;  // the row being added
};

/// The stored non-zeros of X; all numbers if X is dense.
int64_t stored_numbers(const Rows& X);

}  // namespace mercer
