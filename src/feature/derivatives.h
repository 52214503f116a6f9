// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of features in the inputs: a capability (FeatureMap::derivatives()).
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"

namespace mercer::feature {

class FeatureMap;

/// Derivatives of a map phi of d inputs at the rows of X, n x d. A row of out depends on its rows
/// of X and of the vectors alone, bit for bit, whatever the number of threads; a row of X with a
/// NaN has NaN for every number of out. No overlap. Errors: DIMENSION_MISMATCH, OUT_OF_MEMORY,
/// CANCELLED.
class Derivatives {
 public:
  virtual ~Derivatives() = default;

  /// The highest order that differentiate makes, at least 1.
  virtual int64_t most_order() const noexcept { return kernel::kMostDerivatives; }

  /// The adjoint of the map's derivative: with G = dL/dZ (n x row_length(); of a complex map
  /// dL/dRe, dL/dIm in turn) of a real loss L(Z), Z the features of X,
  ///   out(i, k) = dL/dX(i, k) = sum_j G(i, j) d phi_j(X_i) / dx_k.
  /// Cost: two projections of X, and Z once.
  virtual void pull_back(MatrixView<const float> X, MatrixView<const float> G, Context& context,
                         MatrixView<float> out) const = 0;
  virtual void pull_back(MatrixView<const double> X, MatrixView<const double> G, Context& context,
                         MatrixView<double> out) const = 0;
  /// The map's derivative along V (n x d):
  ///   out(i, j) = sum_k V(i, k) d phi_j(X_i) / dx_k, n x row_length().
  /// Cost: two projections of X, and Z once.
  virtual void push_forward(MatrixView<const float> X, MatrixView<const float> V, Context& context,
                            MatrixView<float> out) const = 0;
  virtual void push_forward(MatrixView<const double> X, MatrixView<const double> V,
                            Context& context, MatrixView<double> out) const = 0;
  /// Values of partial derivatives: block b of out, row_length() columns, is d^p phi(X_i), p the
  /// b-th multi-index of what is asked for; the Laplacian is the sum over k of those of order 2 in
  /// input k. UNSUPPORTED beyond most_order(). Cost: one projection of X, sine and cosine once, and
  /// out once; frequency_weights.h for every call.
  virtual void differentiate(const Derivative& what, MatrixView<const float> X, Context& context,
                             MatrixView<float> out) const = 0;
  virtual void differentiate(const Derivative& what, MatrixView<const double> X, Context& context,
                             MatrixView<double> out) const = 0;
};

/// The map's derivatives; UNSUPPORTED if it has none.
const Derivatives& derivatives_of(const FeatureMap& map);

/// Checks of every call: UNSUPPORTED without derivatives or beyond their order, DIMENSION_MISMATCH
/// for other numbers of rows or columns. `vectors` has `cols` columns and out out_cols.
template <class T>
void check_vectors(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> vectors,
                   int64_t cols, MatrixView<T> out, int64_t out_cols);
template <class T>
void check_derivative(const FeatureMap& map, const Derivative& what, MatrixView<const T> X,
                      MatrixView<T> out);

/// Makes the rows of out NaN whose row of X has one. Arithmetic would not: derivatives of
/// polynomials are constants and zeros, too.
template <class T>
void spread_nan(MatrixView<const T> X, MatrixView<T> out) noexcept;

}  // namespace mercer::feature
