// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rows of a tile as a projection reads them: the caller's, or rewritten by the row prologue,
// with the numbers that the epilogue reads.
#pragma once

#include <cstdint>

#include "base/csr_view.h"
#include "base/matrix_view.h"
#include "transform/row_prologue.h"

namespace mercer::feature {

/// Tiles of dense rows. Scratch is in numbers, 64-byte aligned; a thread begins it once and uses it
/// for all its tiles.
template <class T>
class DenseTileRows {
 public:
  DenseTileRows(const transform::RowPrologue* prologue, MatrixView<const T> X,
                int64_t tile_rows) noexcept
      : prologue_(prologue), X_(X), tile_rows_(tile_rows) {}

  int64_t scratch() const;
  void begin(T* /*scratch*/) const noexcept {}
  /// Rows [i0, i1); the numbers of row i0 + i are at numbers + i row_numbers.
  MatrixView<const T> rows(int64_t i0, int64_t i1, T* scratch, T* numbers) const noexcept;

 private:
  const transform::RowPrologue* prologue_;  // may be null
  MatrixView<const T> X_;
  int64_t tile_rows_;
};

/// The same for sparse rows, with a prologue that keeps zeros: it sees the stored entries, those
/// stored twice added up.
template <class T>
class SparseTileRows {
 public:
  SparseTileRows(const transform::RowPrologue* prologue, const CsrView<T>& X, int64_t tile_rows);

  int64_t scratch() const;
  void begin(T* scratch) const noexcept;
  CsrView<T> rows(int64_t i0, int64_t i1, T* scratch, T* numbers) const noexcept;

 private:
  // Scratch: offsets of a tile, entries added up, entries rewritten, a row of zeros.
  int64_t offset_numbers() const;
  void add_up(int64_t i, T* zeros, T* entries) const noexcept;

  const transform::RowPrologue* prologue_;
  CsrView<T> X_;
  int64_t tile_rows_;
  int64_t most_entries_ = 0;  // of a tile
};

}  // namespace mercer::feature
