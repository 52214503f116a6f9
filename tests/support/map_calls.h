// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How tests call feature maps: rows of any kind in, a matrix of features out. The one place that
// knows the names of the calls.
#pragma once

#include <cmath>
#include <cstring>
#include <optional>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"

namespace mercer::test {

using feature::Columns;
using feature::FeatureMap;

/// Rows of any kind that a map reads: dense or sparse, or [X | Y] kept apart for maps of two
/// matrices.
template <class T>
class Input {
 public:
  Input(MatrixView<const T> X) : left_(X) {}      // NOLINT: implicit
  Input(MatrixView<T> X) : left_(X) {}            // NOLINT: implicit
  Input(const Matrix<T>& X) : left_(X.view()) {}  // NOLINT: implicit
  Input(const CsrView<T>& X) : left_(X) {}        // NOLINT: implicit
  Input(MatrixView<const T> X, MatrixView<const T> Y) : left_(X), right_(Y) {}
  explicit Input(const Rows& X) : left_(X) {}  // of T

  int64_t rows() const { return left_.rows(); }
  Input block_rows(int64_t i0, int64_t i1) const {
    Input block = *this;
    block.left_ = left_.block_rows(i0, i1);
    if (right_) block.right_ = right_->block_rows(i0, i1);
    return block;
  }
  /// Z = columns c of the map for these rows.
  void apply(const FeatureMap& map, Columns c, Context& context, MatrixView<T> Z) const {
    if (right_) return map.pair()->apply_pair(left_, *right_, 1, c, context, Z);
    map.apply(left_, c, context, Z);
  }

 private:
  Rows left_;
  std::optional<Rows> right_;
};

/// Every column.
template <class T>
Matrix<T> features_of(const FeatureMap& map, const Input<T>& X, int threads = 1) {
  Matrix<T> Z(X.rows(), map.row_length());
  Context context;
  context.threads = threads;
  X.apply(map, {0, map.features()}, context, Z.view());
  return Z;
}
template <class T>
Matrix<T> features_of(const FeatureMap& map, const Matrix<T>& X, int threads = 1) {
  return features_of(map, Input<T>(X), threads);
}

/// Of the estimate at the two rows of X.
inline double variance_of(const FeatureMap& map, const Matrix<double>& X, bool pseudo = false) {
  const MatrixView<const double> x = X.view().block_rows(0, 1), y = X.view().block_rows(1, 2);
  double out = NAN;
  pseudo ? map.pseudo_variance(x, y, {&out, 1}) : map.variance(x, y, {&out, 1});
  return out;
}

template <class T>
bool equal_bytes(const Matrix<T>& a, const Matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.rows() * a.cols()) * sizeof(T)) == 0;
}

template <class T, class From>
Matrix<T> converted(const Matrix<From>& X) {
  Matrix<T> out(X.rows(), X.cols());
  for (int64_t i = 0; i < X.rows() * X.cols(); ++i) out.data()[i] = static_cast<T>(X.data()[i]);
  return out;
}

}  // namespace mercer::test
