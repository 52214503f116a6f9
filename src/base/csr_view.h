// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Non-owning sparse rows (CSR). Offsets and indices are 32- or 64-bit integers, both of one width
// as in SciPy; either width is read in place, without copy or conversion.
#pragma once

#include <cstdint>

namespace mercer {

/// An array of integers of either width.
class IntegerView {
 public:
  constexpr IntegerView() = default;
  constexpr IntegerView(const int32_t* data) : narrow_(data) {}  // NOLINT: implicit
  constexpr IntegerView(const int64_t* data) : wide_(data) {}    // NOLINT: implicit

  constexpr int64_t operator[](int64_t i) const noexcept {
    return wide_ != nullptr ? wide_[i] : narrow_[i];
  }
  constexpr IntegerView from(int64_t i) const noexcept {
    return wide_ != nullptr ? IntegerView(wide_ + i) : IntegerView(narrow_ + i);
  }
  /// body(pointer): selects the width once per loop instead of once per element.
  template <class Body>
  decltype(auto) visit(Body&& body) const {
    return wide_ != nullptr ? body(wide_) : body(narrow_);
  }

 private:
  const int32_t* narrow_ = nullptr;
  const int64_t* wide_ = nullptr;
};

/// Row i holds values[p] in column indices[p] for p in [offsets[i], offsets[i + 1]), in any order;
/// a column named twice counts as the sum. Offsets need not start at 0, so a range of rows is a
/// view of the same arrays. Invariant, checked where callers' arrays enter: offsets ascend, indices
/// are in [0, cols).
template <class T>
struct CsrView {
  int64_t rows = 0;
  int64_t cols = 0;
  IntegerView offsets;  // rows + 1
  IntegerView indices;
  const T* values = nullptr;

  constexpr int64_t begin(int64_t i) const noexcept { return offsets[i]; }
  constexpr int64_t end(int64_t i) const noexcept { return offsets[i + 1]; }
  constexpr int64_t nonzeros() const noexcept { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
  constexpr CsrView block_rows(int64_t i0, int64_t i1) const noexcept {
    return {i1 - i0, cols, offsets.from(i0), indices, values};
  }
};

/// x[indices[p]] += values[p] over row i.
template <class T, class U>
void add_row(const CsrView<T>& X, int64_t i, U* x) noexcept {
  X.indices.visit([&](const auto* indices) {
    for (int64_t p = X.begin(i); p < X.end(i); ++p) x[indices[p]] += X.values[p];
  });
}

/// x[indices[p]] = 0 over row i: undoes add_row on zeros, at the cost of the row's non-zeros.
template <class T, class U>
void clear_row(const CsrView<T>& X, int64_t i, U* x) noexcept {
  X.indices.visit([&](const auto* indices) {
    for (int64_t p = X.begin(i); p < X.end(i); ++p) x[indices[p]] = U{0};
  });
}

}  // namespace mercer
