// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/tile_rows.h"

#include <algorithm>

#include "base/size.h"

namespace mercer::feature {
namespace {

constexpr const char* kTileOfRows = "a tile of rows";

}  // namespace

template <class T>
int64_t DenseTileRows<T>::scratch() const {
  if (prologue_ == nullptr || !prologue_->shape().rewrites) return 0;
  return checked_multiply(std::min(tile_rows_, X_.rows), X_.cols, kTileOfRows);
}

template <class T>
MatrixView<const T> DenseTileRows<T>::rows(int64_t i0, int64_t i1, T* scratch,
                                           T* numbers) const noexcept {
  const MatrixView<const T> X = X_.block_rows(i0, i1);
  if (prologue_ == nullptr) return X;
  const transform::PrologueShape& shape = prologue_->shape();
  for (int64_t i = 0; i < X.rows; ++i) {
    T* const out = shape.rewrites ? scratch + i * X.cols : nullptr;
    prologue_->run(X.row(i), X.cols, out, numbers + i * shape.row_numbers);
  }
  return shape.rewrites ? MatrixView<const T>(scratch, X.rows, X.cols) : X;
}

template <class T>
SparseTileRows<T>::SparseTileRows(const transform::RowPrologue* prologue, const CsrView<T>& X,
                                  int64_t tile_rows)
    : prologue_(prologue), X_(X), tile_rows_(tile_rows) {
  if (prologue == nullptr) return;
  for (int64_t i = 0; i < X.rows; i += tile_rows)
    most_entries_ =
        std::max(most_entries_, X.offsets[std::min(i + tile_rows, X.rows)] - X.begin(i));
}

template <class T>
int64_t SparseTileRows<T>::offset_numbers() const {
  constexpr auto kWords = static_cast<int64_t>(sizeof(int64_t) / sizeof(T));
  return round_up((tile_rows_ + 1) * kWords);
}

template <class T>
int64_t SparseTileRows<T>::scratch() const {
  if (prologue_ == nullptr) return 0;
  const int64_t entries = checked_multiply(2, round_up(most_entries_), kTileOfRows);
  return checked_add(offset_numbers(), checked_add(entries, X_.cols, kTileOfRows), kTileOfRows);
}

template <class T>
void SparseTileRows<T>::begin(T* scratch) const noexcept {
  if (prologue_ == nullptr) return;
  T* const zeros = scratch + offset_numbers() + 2 * round_up(most_entries_);
  std::fill_n(zeros, X_.cols, T{0});
}

// The first stored entry of a column gets the sum of all its entries, the others 0; the row of
// zeros is zeros again.
template <class T>
void SparseTileRows<T>::add_up(int64_t i, T* zeros, T* entries) const noexcept {
  add_row(X_, i, zeros);
  X_.indices.visit([&](const auto* indices) {
    for (int64_t p = X_.begin(i); p < X_.end(i); ++p) {
      *entries++ = zeros[indices[p]];
      zeros[indices[p]] = T{0};
    }
  });
}

template <class T>
CsrView<T> SparseTileRows<T>::rows(int64_t i0, int64_t i1, T* scratch, T* numbers) const noexcept {
  const CsrView<T> X = X_.block_rows(i0, i1);
  if (prologue_ == nullptr) return X;
  const transform::PrologueShape& shape = prologue_->shape();
  const int64_t first = X.begin(0);
  auto* const offsets = reinterpret_cast<int64_t*>(scratch);
  T* const entries = scratch + offset_numbers();
  T* const rewritten = entries + round_up(most_entries_);
  T* const zeros = rewritten + round_up(most_entries_);
  for (int64_t i = 0; i < X.rows; ++i) {
    const int64_t at = X.begin(i) - first;
    offsets[i] = at;
    add_up(i0 + i, zeros, entries + at);
    prologue_->run(entries + at, X.end(i) - X.begin(i), shape.rewrites ? rewritten + at : nullptr,
                   numbers + i * shape.row_numbers);
  }
  offsets[X.rows] = X.offsets[X.rows] - first;
  if (!shape.rewrites) return X;
  return {X.rows, X.cols, offsets, X.indices.from(first), rewritten};
}

template class DenseTileRows<float>;
template class DenseTileRows<double>;
template class SparseTileRows<float>;
template class SparseTileRows<double>;

}  // namespace mercer::feature
