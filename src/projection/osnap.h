// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// OSNAP: s CountSketches side by side, so that every input has s non-zeros +1 or -1 (over sqrt s,
// which is left to the caller): the block construction of Nelson, Nguyen, "OSNAP: faster numerical
// linear algebra algorithms via sparser subspace embeddings" (FOCS 2013), with fully independent
// hashes. s = 1 is the CountSketch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"

namespace mercer::projection {

// CountSketch: (Cx)_j = sum over k with h(k) = j of s(k) x_k; h: [d] -> [m] and signs s are random,
// so that E (Cx)'(Cy) = x'y at a cost of one addition per non-zero.

class CountSketch {
 public:
  /// d coordinates into m buckets. Sketches with other `factor`s (< 2^16) are independent: h(k)
  /// comes from stream (seed, hash, 2^32 factor + k), s from (seed, sign, factor), variate k. Costs
  /// O(d). Errors: INVALID_ARGUMENT (d or m beyond 2^31 - 1).
  static CountSketch draw(uint64_t seed, int64_t factor, int64_t d, int64_t m);
  /// The errors of draw, without drawing.
  static void check_extents(int64_t d, int64_t m);
  /// Bytes for each coordinate: those that are kept, and those that drawing it takes in addition.
  static constexpr int64_t kBytesKept = 5, kBytesToDraw = 8;
  /// With the given buckets h, in [0, m), and signs s, +1 or -1.
  CountSketch(std::vector<int32_t> buckets, std::vector<int8_t> signs, int64_t m);

  int64_t inputs() const noexcept { return static_cast<int64_t>(buckets_.size()); }
  int64_t outputs() const noexcept { return outputs_; }
  const std::vector<int32_t>& buckets() const noexcept { return buckets_; }
  const std::vector<int8_t>& signs() const noexcept { return signs_; }

  /// z[j - j0] += (Cx)_j for j in [j0, j1). Terms are added in the order in which x stores them, so
  /// the bits of an entry do not depend on the range.
  void add(const float* x, int64_t j0, int64_t j1, float* z) const noexcept;
  void add(const double* x, int64_t j0, int64_t j1, double* z) const noexcept;
  /// The same for row i of X.
  void add(const CsrView<float>& X, int64_t i, int64_t j0, int64_t j1, float* z) const noexcept;
  void add(const CsrView<double>& X, int64_t i, int64_t j0, int64_t j1, double* z) const noexcept;

  /// The adjoint: x[k] += (C'z)_k = s(k) z_h(k) for the coordinates whose h(k) is in [j0, j1); z
  /// begins with z_j0.
  void add_transpose(const float* z, int64_t j0, int64_t j1, float* x) const noexcept;
  void add_transpose(const double* z, int64_t j0, int64_t j1, double* x) const noexcept;

 private:
  std::vector<int32_t> buckets_;
  std::vector<int8_t> signs_;
  int64_t outputs_;
};

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
