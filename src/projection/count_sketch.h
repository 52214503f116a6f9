// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CountSketch: (Cx)_j = sum over k with h(k) = j of s(k) x_k; h: [d] -> [m] and signs s are random,
// so that E (Cx)'(Cy) = x'y at a cost of one addition per non-zero.
#pragma once

#include <cstdint>
#include <vector>

#include "base/csr_view.h"

namespace mercer::projection {

class CountSketch {
 public:
  /// d coordinates into m buckets. Sketches with other `factor`s (< 2^16) are independent: h(k)
  /// comes from stream (seed, hash, 2^32 factor + k), s from (seed, sign, factor), variate k. Costs
  /// O(d). Errors: INVALID_ARGUMENT (d or m beyond 2^31 - 1).
  static CountSketch draw(uint64_t seed, int64_t factor, int64_t d, int64_t m);
  /// The errors of draw, without drawing.
  static void check_extents(int64_t d, int64_t m);
  /// Bytes for each coordinate: kept, and needed to draw it besides.
  static constexpr int64_t kBytesKept = 5, kBytesToDraw = 8;
  /// Given h, in [0, m), and s, +1 or -1.
  CountSketch(std::vector<int32_t> buckets, std::vector<int8_t> signs, int64_t m);

  int64_t inputs() const noexcept { return static_cast<int64_t>(buckets_.size()); }
  int64_t outputs() const noexcept { return outputs_; }
  const std::vector<int32_t>& buckets() const noexcept { return buckets_; }
  const std::vector<int8_t>& signs() const noexcept { return signs_; }

  /// z[j - j0] += (Cx)_j for j in [j0, j1). Terms are added in the order in which x lists them, so
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

}  // namespace mercer::projection
