// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of features in the inputs: a capability (FeatureMap::derivatives()).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"

namespace mercer::feature {

// Which derivatives of features are wanted: blocks of as many columns as the map has, one block for
// each partial derivative.

using kernel::MultiIndex;
using kernel::PartialFactor;

struct Derivative {
  enum class Kind { partials, gradient, hessian_diagonal, laplacian };
  Kind kind;
  std::vector<MultiIndex> partials = {};  // for Kind::partials

  /// Blocks of columns of the result for a map of d inputs.
  int64_t blocks(int64_t d) const noexcept {
    if (kind == Kind::partials) return static_cast<int64_t>(partials.size());
    return kind == Kind::laplacian ? 1 : d;
  }
  /// The highest order among them.
  int64_t highest() const noexcept {
    if (kind == Kind::gradient) return 1;
    if (kind != Kind::partials) return 2;
    int64_t most = 0;
    for (const MultiIndex& order : partials) most = std::max(most, total_order(order));
    return most;
  }
};

/// Block b is the sum of the partial derivatives of entry b.
std::vector<std::vector<MultiIndex>> partials_of(const Derivative& what, int64_t d);

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
  /// b-th wanted multi-index; the Laplacian is the sum over k of those of order 2 in input k.
  /// UNSUPPORTED beyond most_order(). Cost: one projection of X, sine and cosine once, and out
  /// once; the frequencies for every call.
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

// Implements Derivatives by templates of the map, which get checked arguments: pull_rows_back(X, G,
// context, out), push_rows_forward(X, V, context, out), differentiate_rows(what, X, context, out).
// Rows with a NaN become NaN here.

/// A product with the Jacobian: rows of V have `from` numbers, rows of out `to`.
#define MERCER_DERIVATIVE_CALL_OF(T, call, of, function, from, to, ...)                        \
  void call(MatrixView<const T> X, MatrixView<const T> V, Context& context, MatrixView<T> out) \
      const override {                                                                         \
    check_vectors(*this, X, V, from, out, to);                                                 \
    of function(__VA_ARGS__ __VA_OPT__(, ) X, V, context, out);                                \
    spread_nan(X, out);                                                                        \
  }
#define MERCER_DERIVATIVE_CALLS_OF(T, of, ...)                                                     \
  MERCER_DERIVATIVE_CALL_OF(T, pull_back, of, pull_rows_back, row_length(), inputs(), __VA_ARGS__) \
  MERCER_DERIVATIVE_CALL_OF(T, push_forward, of, push_rows_forward, inputs(), row_length(),        \
                            __VA_ARGS__)                                                           \
  void differentiate(const Derivative& what, MatrixView<const T> X, Context& context,              \
                     MatrixView<T> out) const override {                                           \
    check_derivative(*this, what, X, out);                                                         \
    of differentiate_rows(__VA_ARGS__ __VA_OPT__(, ) what, X, context, out);                       \
    spread_nan(X, out);                                                                            \
  }

/// The templates are members of the map.
#define MERCER_DERIVATIVE_CALLS             \
  MERCER_DERIVATIVE_CALLS_OF(float, this->) \
  MERCER_DERIVATIVE_CALLS_OF(double, this->)

/// The templates are functions of the namespace, whose first arguments are the parts of the map.
#define MERCER_DERIVATIVE_CALLS_BY(...)            \
  MERCER_DERIVATIVE_CALLS_OF(float, , __VA_ARGS__) \
  MERCER_DERIVATIVE_CALLS_OF(double, , __VA_ARGS__)

/// The three templates of T behind `start`: members of a scope, or functions of Parts.
#define MERCER_DERIVATIVE_TEMPLATES(start, T, scope, constness, ...)                           \
  start void scope differentiate_rows(__VA_ARGS__ __VA_OPT__(, ) const Derivative&,            \
                                      MatrixView<const T>, Context&, MatrixView<T>) constness; \
  start void scope push_rows_forward(__VA_ARGS__ __VA_OPT__(, ) MatrixView<const T>,           \
                                     MatrixView<const T>, Context&, MatrixView<T>) constness;  \
  start void scope pull_rows_back(__VA_ARGS__ __VA_OPT__(, ) MatrixView<const T>,              \
                                  MatrixView<const T>, Context&, MatrixView<T>) constness;

/// Declares them as functions of the namespace, and instantiates them.
#define MERCER_DERIVATIVES(Parts) \
  MERCER_DERIVATIVE_TEMPLATES(template <class T>, T, , , const Parts&)
#define MERCER_INSTANTIATE_DERIVATIVES(Parts)                    \
  MERCER_DERIVATIVE_TEMPLATES(template, float, , , const Parts&) \
  MERCER_DERIVATIVE_TEMPLATES(template, double, , , const Parts&)

/// As above, as members of the map.
#define MERCER_DERIVATIVE_MEMBERS MERCER_DERIVATIVE_TEMPLATES(template <class T>, T, , const)
#define MERCER_INSTANTIATE_DERIVATIVE_MEMBERS(Map)           \
  MERCER_DERIVATIVE_TEMPLATES(template, float, Map::, const) \
  MERCER_DERIVATIVE_TEMPLATES(template, double, Map::, const)

namespace mercer::feature {

// Derivatives in a kernel's own parameters from derivatives in inputs.

/// Features of a stationary kernel see x_k / l_k alone, so that with pulled = dL/dX of the same
/// rows (Derivatives::pull_back)
///   gradient[k] = dL / d log l_k = -sum_i X(i, k) pulled(i, k).
/// X may be in units of the lengthscales (then the map's own is 1) or not: the products are the
/// same. X and pulled are n x d, gradient has d entries. Sums in double, rows ascending. For one
/// lengthscale shared by all inputs, add them up.
template <class T>
void log_lengthscale_gradient(MatrixView<const T> X, MatrixView<const T> pulled,
                              std::span<double> gradient) noexcept {
  for (double& sum : gradient) sum = 0;
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t k = 0; k < X.cols; ++k) {
      gradient[k] -= static_cast<double>(X(i, k)) * static_cast<double>(pulled(i, k));
    }
  }
}

/// A capability: derivatives in lengthscales of maps whose features depend on them by more than
/// x/l.
class LengthscaleSlopes {
 public:
  virtual ~LengthscaleSlopes() = default;
  /// UNSUPPORTED where this kernel, or a map learnt from data, has none.
  virtual void require_lengthscale_slopes() const = 0;
  /// each[k] = dL / d log l_k, one for each input, G and L as for Derivatives::pull_back.
  virtual void pull_back_to_lengthscale(MatrixView<const float> X, MatrixView<const float> G,
                                        Context& context, std::span<double> each) const = 0;
  virtual void pull_back_to_lengthscale(MatrixView<const double> X, MatrixView<const double> G,
                                        Context& context, std::span<double> each) const = 0;
};

/// How many parameters of the kernel the features can be differentiated in: its lengthscales; of a
/// polynomial kernel gamma and offset. UNSUPPORTED if there is none (a kernel without, or a map made
/// from given numbers, such as supplied frequencies), or if features are neither those of x/l
/// (FeatureMap::is_of_scaled_inputs) nor are LengthscaleSlopes.
int64_t log_parameter_count(const FeatureMap& map);

/// dL / d log of these, one number each, with the draws held fixed; G and L as for
/// Derivatives::pull_back. The derivative in log offset is 0 where the offset is 0. Works in blocks
/// of rows, with d numbers for each row, of polynomial kernels also its features. Errors: those of
/// pull_back and log_parameter_count, DIMENSION_MISMATCH.
template <class T>
void pull_back_to_log_parameters(const FeatureMap& map, MatrixView<const T> X,
                                 MatrixView<const T> G, Context& context,
                                 std::span<double> gradient);

}  // namespace mercer::feature
