// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How tests ask feature maps for derivatives.
#pragma once

#include "base/aligned.h"
#include "base/context.h"
#include "feature/feature_map.h"

namespace mercer::test {

template <class T>
Matrix<T> differentiated(const feature::FeatureMap& map, const feature::Derivative& what,
                         const Matrix<T>& X, int threads = 1) {
  Matrix<T> out(X.rows(), what.blocks(X.cols()) * map.row_length());
  out.fill(T{7});
  Context context;
  context.threads = threads;
  map.differentiate(what, MatrixView<const T>(X.view()), context, out.view());
  return out;
}

template <class T>
Matrix<T> pushed(const feature::FeatureMap& map, const Matrix<T>& X, const Matrix<T>& V,
                 int threads = 1) {
  Matrix<T> out(X.rows(), map.row_length());
  out.fill(T{7});
  Context context;
  context.threads = threads;
  map.push_forward(X.view(), V.view(), context, out.view());
  return out;
}

template <class T>
Matrix<T> pulled(const feature::FeatureMap& map, const Matrix<T>& X, const Matrix<T>& G,
                 int threads = 1) {
  Matrix<T> out(X.rows(), X.cols());
  out.fill(T{7});
  Context context;
  context.threads = threads;
  map.pull_back(X.view(), G.view(), context, out.view());
  return out;
}

}  // namespace mercer::test
