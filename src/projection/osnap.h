// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// OSNAP: s CountSketches side by side, so that every input has s non-zeros +1 or -1 (over sqrt s,
// which is left to the caller): the block construction of Nelson, Nguyen, "OSNAP: faster numerical
// linear algebra algorithms via sparser subspace embeddings" (FOCS 2013), with fully independent
// hashes. s = 1 is the CountSketch.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/csr_view.h"
#include "base/matrix_view.h"
#include "projection/count_sketch.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"

namespace mercer::projection {

/// m columns in s blocks of floor(m/s) columns, the first m mod s of them one column wider; block b
/// is the CountSketch with factor b. Blocks are drawn when first used.
class Osnap {
 public:
  /// Blocks that have streams of their own.
  static constexpr int64_t kMostNonzeros = int64_t{1} << 16;
  /// 1 <= s <= min(m, kMostNonzeros). Errors: INVALID_ARGUMENT (d or m beyond 2^31 - 1).
  Osnap(int64_t d, int64_t m, int64_t nonzeros, uint64_t seed);

  /// Draws what columns [columns.begin, columns.end) need, once; thread-safe; may fail and be
  /// retried.
  void prepare(Blocks columns, Context& context) const;
  /// Blocks that these columns touch, which is the number of additions for each entry of x.
  int64_t blocks_of(Blocks columns) const noexcept;

  /// z[j - j0] += (Sx)_j for prepared columns j in [j0, j1), S unscaled.
  template <class T>
  void add(const T* x, int64_t j0, int64_t j1, T* z) const noexcept;
  /// The same for row i of X.
  template <class T>
  void add(const CsrView<T>& X, int64_t i, int64_t j0, int64_t j1, T* z) const noexcept;
  /// The adjoint: x += S'z from the prepared columns j in [j0, j1); z begins with z_j0.
  template <class T>
  void add_transpose(const T* z, int64_t j0, int64_t j1, T* x) const noexcept;

 private:
  // The first column of block b.
  int64_t begin_of(int64_t b) const noexcept;
  // The blocks that have columns in a range, which is not empty.
  Blocks touched(Blocks columns) const noexcept;
  // body(sketch, its own j0, its own j1, column of the first) for each of those blocks.
  template <class Body>
  void for_each_sketch(int64_t j0, int64_t j1, const Body& body) const noexcept;

  int64_t d_;
  int64_t m_;
  int64_t nonzeros_;
  uint64_t seed_;
  mutable LazyGroups<CountSketch> sketches_;
};

}  // namespace mercer::projection
