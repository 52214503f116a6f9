// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/aligned.h"

#include <algorithm>

#include "base/error.h"
#include "base/size.h"

namespace mercer {
namespace {

int64_t nonzeros(const Rows& X) {
  int64_t count = 0;
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      for_each_stored(rows, i, [&](int64_t, auto value) { count += value != 0; });
  });
  return count;
}

}  // namespace

int64_t stored_numbers(const Rows& X) {
  return X.visit([](const auto& rows) {
    if constexpr (kIsSparse<decltype(rows)>) {
      return rows.nonzeros();
    } else {
      return checked_multiply(rows.rows, rows.cols, "rows");
    }
  });
}

CsrRows::CsrRows(int64_t rows, int64_t cols, int64_t numbers, Context& context, const char* what)
    : cols_(cols),
      offsets_(checked_add(rows, 1, what), context, what),
      columns_(numbers, context, what),
      values_(numbers, context, what) {
  offsets_[0] = 0;
}

CsrRows::CsrRows(const Rows& X, Context& context, const char* what)
    : CsrRows(X.rows(), X.cols(), nonzeros(X), context, what) {
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      add([&](const auto& put) {
        for_each_stored(rows, i, [&](int64_t j, auto value) {
          if (value != 0) put(j, static_cast<double>(value));
        });
      });
    }
  });
}

void CsrRows::end_row() {
  const auto before = [](const Entry& a, const Entry& b) { return a.column < b.column; };
  // Stable, so that sums equal those of the dense row to the bit.
  if (!std::is_sorted(row_.begin(), row_.end(), before))
    std::stable_sort(row_.begin(), row_.end(), before);
  int64_t end = offsets_[rows_];
  for (size_t k = 0; k < row_.size();) {
    const int64_t column = row_[k].column;
    double sum = 0;
    for (; k < row_.size() && row_[k].column == column; ++k) sum += row_[k].value;
    if (sum == 0) continue;
    require(rows_ + 1 < offsets_.size() && end < values_.size(), MERCER_INTERNAL,
            "stored rows have no room left");
    columns_[end] = column;
    values_[end++] = sum;
  }
  offsets_[++rows_] = end;
}

}  // namespace mercer
