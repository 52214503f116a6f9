// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/derivative.h for C++17.
//
// Example: the gradients of all features, and the gradient in the inputs of a loss with dL/dZ = G.
//
//   mercer::Matrix<double> gradient(X.rows(), X.cols() * map.features());
//   mercer::differentiate(map, X, MERCER_DERIVATIVE_GRADIENT, gradient);
//   mercer::Matrix<double> back(X.rows(), X.cols());
//   mercer::differentiate(map, X, MERCER_DERIVATIVE_VJP, G, back);
#ifndef MERCER_DERIVATIVE_HPP
#define MERCER_DERIVATIVE_HPP

#include <cstdint>

#include "mercer/derivative.h"
#include "mercer/map.hpp"

namespace mercer {
inline namespace hpp {

/// A kind of derivatives.
inline mercer_derivative derivative(mercer_derivative_kind kind) {
  auto what = detail::sized<mercer_derivative>();
  what.kind = kind;
  return what;
}
/// The derivatives that `what` describes, for every feature of a map.
inline void differentiate(const Map& map, const Rows& X, const mercer_derivative& what,
                          const Result& out, Context* context = nullptr) {
  detail::check(
      mercer_map_derivative(map.get(), X.get(), &what, detail::handle(context), out.get()),
      context);
}
/// Gradient, Hessian diagonal or Laplacian of every feature.
inline void differentiate(const Map& map, const Rows& X, mercer_derivative_kind kind,
                          const Result& out, Context* context = nullptr) {
  differentiate(map, X, derivative(kind), out, context);
}
/// JVP, VJP or LOG_LENGTHSCALE with their vectors.
inline void differentiate(const Map& map, const Rows& X, mercer_derivative_kind kind,
                          const Rows& vectors, const Result& out, Context* context = nullptr) {
  mercer_derivative what = derivative(kind);
  what.vectors = vectors.get();
  differentiate(map, X, what, out, context);
}
/// Partial derivatives: one multi-index in each row.
inline void differentiate(const Map& map, const Rows& X, MatrixView<const int32_t> partials,
                          const Result& out, Context* context = nullptr) {
  if (partials.cols != map.inputs() || partials.ld != partials.cols)
    throw Error(MERCER_DIMENSION_MISMATCH,
                "a multi-index of map.inputs() orders expected, no gaps");
  mercer_derivative what = derivative(MERCER_DERIVATIVE_PARTIALS);
  what.count = partials.rows;
  what.partials = partials.data;
  differentiate(map, X, what, out, context);
}
/// K(i, j) = d^{p,q} k(X_i, Y_j); an empty p or q is 0.
inline void differentiate(const Kernel& kernel, const Rows& X, const Rows& Y, Span<const int32_t> p,
                          Span<const int32_t> q, const Result& K, Context* context = nullptr) {
  for (const Span<const int32_t> order : {p, q})
    if (order.size() != 0 && order.size() != X.cols())
      throw Error(MERCER_DIMENSION_MISMATCH, "a multi-index of X.cols() orders expected");
  detail::check(mercer_kernel_derivative(kernel.get(), X.get(), Y.get(), p.data(), q.data(),
                                         detail::handle(context), K.get()),
                context);
}

}  // namespace hpp
}  // namespace mercer
#endif
