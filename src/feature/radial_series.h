// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Columns of several maps side by side, after a constant one, times a function of the row's norm.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"

namespace mercer::feature {

/// phi(x) = g(x) [root | psi(x)], g(x) = exp(-radial ||u||^2 / 2), u = x over the lengthscale. The
/// maps psi read rows u where there are several lengthscales, else x.
struct RadialSeries {
  const FeatureMap& whole;
  std::span<const std::unique_ptr<const FeatureMap>> maps;
  double root;  // 0: no such column
  double radial;
  std::span<const double> inverse;  // of the lengthscale: none, one, or one for each input

  bool scales_rows() const noexcept { return inverse.size() > 1; }
  double at(int64_t k) const noexcept {
    return inverse.empty() ? 1 : inverse[scales_rows() ? static_cast<size_t>(k) : 0];
  }
  /// The real numbers of a row before those of psi, and its columns.
  int64_t constants() const noexcept { return root > 0 ? 1 : 0; }
  int64_t constant_reals() const noexcept { return constants() * (whole.is_complex() ? 2 : 1); }

  /// Rows at a time, so that `width` numbers of each stay in the cache.
  template <class T>
  int64_t tile_rows(int64_t n, int64_t width) const noexcept {
    constexpr int64_t kBytes = int64_t{1} << 21, kLeast = 128;
    if (radial == 0 && !scales_rows()) return n;
    return std::min(n, std::max(kLeast, kBytes / (width * int64_t{sizeof(T)})));
  }
  /// Makes room for that many scaled rows.
  template <class T>
  Matrix<T> room(int64_t rows, Context& context) const {
    return {scales_rows() ? rows : 0, whole.inputs(), context, "rows over the lengthscale"};
  }
  /// The rows that the maps read.
  template <class T>
  MatrixView<const T> scaled(MatrixView<const T> X, const Matrix<T>& room) const noexcept {
    if (!scales_rows()) return X;
    for (int64_t i = 0; i < X.rows; ++i)
      for (int64_t k = 0; k < X.cols; ++k)
        room(i, k) = static_cast<T>(static_cast<double>(X(i, k)) * at(k));
    return room.view().block_rows(0, X.rows);
  }
  /// g(x), NaN for a row with a number that is not finite.
  template <class T>
  double factor(const T* x) const noexcept {
    double norm = 0, nothing = 0;
    for (int64_t k = 0; k < whole.inputs(); ++k) {
      const double u = static_cast<double>(x[k]) * at(k);
      norm += u * u;
      nothing += 0 * u;
    }
    return (radial > 0 ? std::exp(-0.5 * radial * norm) : 1) + nothing;
  }
};

/// These are as in Derivatives, which all maps have.
MERCER_DERIVATIVES(RadialSeries)

}  // namespace mercer::feature
