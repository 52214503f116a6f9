// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How tests ask feature maps for derivatives.
#pragma once

#include <memory>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "support/made_map.h"

namespace mercer::test {

/// Steps of projections, which have none.
inline std::unique_ptr<feature::FeatureMap> map_without_derivatives(int64_t d, int64_t D) {
  return made_map("sign", {{"kernel", "sign"}}, d, D);
}

/// What call(context, out) leaves in a matrix of sevens.
template <class T, class Call>
Matrix<T> written(int64_t rows, int64_t cols, int threads, const Call& call) {
  Matrix<T> out(rows, cols);
  out.fill(T{7});
  Context context;
  context.threads = threads;
  call(context, out.view());
  return out;
}

template <class T>
Matrix<T> differentiated(const feature::FeatureMap& map, const feature::Derivative& what,
                         const Matrix<T>& X, int threads = 1) {
  return written<T>(X.rows(), what.blocks(X.cols()) * map.row_length(), threads,
                    [&](Context& context, MatrixView<T> out) {
                      derivatives_of(map).differentiate(what, MatrixView<const T>(X.view()),
                                                        context, out);
                    });
}

template <class T>
Matrix<T> pushed(const feature::FeatureMap& map, const Matrix<T>& X, const Matrix<T>& V,
                 int threads = 1) {
  return written<T>(X.rows(), map.row_length(), threads, [&](Context& context, MatrixView<T> out) {
    derivatives_of(map).push_forward(X.view(), V.view(), context, out);
  });
}

template <class T>
Matrix<T> pulled(const feature::FeatureMap& map, const Matrix<T>& X, const Matrix<T>& G,
                 int threads = 1) {
  return written<T>(X.rows(), X.cols(), threads, [&](Context& context, MatrixView<T> out) {
    derivatives_of(map).pull_back(X.view(), G.view(), context, out);
  });
}

}  // namespace mercer::test
