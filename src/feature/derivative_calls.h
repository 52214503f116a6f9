// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Implements Derivatives by templates of the map, which get checked arguments: pull_rows_back(X, G,
// context, out), push_rows_forward(X, V, context, out), differentiate_rows(what, X, context, out).
// Rows with a NaN become NaN here.
#pragma once

#include "feature/derivatives.h"

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
#define MERCER_DERIVATIVE_CALLS_BY(...)                     \
  MERCER_DERIVATIVE_CALLS_OF(float, feature::, __VA_ARGS__) \
  MERCER_DERIVATIVE_CALLS_OF(double, feature::, __VA_ARGS__)

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

/// The same as members of the map.
#define MERCER_DERIVATIVE_MEMBERS MERCER_DERIVATIVE_TEMPLATES(template <class T>, T, , const)
#define MERCER_INSTANTIATE_DERIVATIVE_MEMBERS(Map)           \
  MERCER_DERIVATIVE_TEMPLATES(template, float, Map::, const) \
  MERCER_DERIVATIVE_TEMPLATES(template, double, Map::, const)
