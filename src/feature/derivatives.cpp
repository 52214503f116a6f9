// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/derivatives.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/size.h"
#include "feature/feature_map.h"

namespace mercer::feature {

const Derivatives& derivatives_of(const FeatureMap& map) {
  const Derivatives* const own = map.derivatives();
  if (own != nullptr) return *own;
  fail(MERCER_UNSUPPORTED,
       "map %s of kernel %s has no derivatives in its inputs, expected one of fourier, linear, "
       "positive (not stabilized), laplace, sketches, anova, poisson, additive, exact_polynomial, "
       "nystroem (of a kernel that has derivatives), arc_cosine of order 1 or 2, optical without "
       "bits, and sums and products of these",
       std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str());
}

template <class T>
void check_vectors(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> vectors,
                   int64_t cols, MatrixView<T> out, int64_t out_cols) {
  derivatives_of(map);
  require(X.cols == map.inputs() && vectors.cols == cols && out.cols == out_cols &&
              vectors.rows == X.rows && out.rows == X.rows,
          MERCER_DIMENSION_MISMATCH,
          "X %ld x %ld, its vectors %ld x %ld, out %ld x %ld, expected as many rows each, "
          "%ld inputs, %ld numbers of a vector and %ld of out",
          X.rows, X.cols, vectors.rows, vectors.cols, out.rows, out.cols, map.inputs(), cols,
          out_cols);
}

template <class T>
void check_derivative(const FeatureMap& map, const Derivative& what, MatrixView<const T> X,
                      MatrixView<T> out) {
  check_vectors(map, X, X, map.inputs(), out,
                checked_multiply(what.blocks(map.inputs()), map.row_length(), "derivatives"));
  const int64_t most = derivatives_of(map).most_order();
  require(what.highest() <= most, MERCER_UNSUPPORTED,
          "derivatives of order %ld of map %s of kernel %s, expected up to %ld", what.highest(),
          std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str(), most);
}

template <class T>
void spread_nan(MatrixView<const T> X, MatrixView<T> out) noexcept {
  for (int64_t i = 0; i < X.rows; ++i) {
    const T* const x = X.row(i);
    bool any = false;
    for (int64_t k = 0; k < X.cols; ++k) any |= x[k] != x[k];
    if (any) std::fill_n(out.row(i), out.cols, std::numeric_limits<T>::quiet_NaN());
  }
}

#define MERCER_INSTANTIATE(T)                                                               \
  template void spread_nan(MatrixView<const T>, MatrixView<T>) noexcept;                    \
  template void check_vectors(const FeatureMap&, MatrixView<const T>, MatrixView<const T>,  \
                              int64_t, MatrixView<T>, int64_t);                             \
  template void check_derivative(const FeatureMap&, const Derivative&, MatrixView<const T>, \
                                 MatrixView<T>);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
