// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The derivatives of a map for either precision, by templates of its own, which get checked
// arguments: pull_rows_back(X, G, context, out), push_rows_forward(X, V, context, out),
// differentiate_rows(what, X, context, out). Rows with a NaN are seen to here.
#pragma once

#define MERCER_DERIVATIVE_CALLS_OF(T, of, ...)                                        \
  void pull_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,      \
                 MatrixView<T> out) const override {                                  \
    check_vectors(X, G, row_length(), out, inputs());                                 \
    of pull_rows_back(__VA_ARGS__ __VA_OPT__(, ) X, G, context, out);                 \
    spread_nan(X, out);                                                               \
  }                                                                                   \
  void push_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,   \
                    MatrixView<T> out) const override {                               \
    check_vectors(X, V, inputs(), out, row_length());                                 \
    of push_rows_forward(__VA_ARGS__ __VA_OPT__(, ) X, V, context, out);              \
    spread_nan(X, out);                                                               \
  }                                                                                   \
  void differentiate(const Derivative& what, MatrixView<const T> X, Context& context, \
                     MatrixView<T> out) const override {                              \
    check_derivative(what, X, out);                                                   \
    of differentiate_rows(__VA_ARGS__ __VA_OPT__(, ) what, X, context, out);          \
    spread_nan(X, out);                                                               \
  }

/// Members of the map.
#define MERCER_DERIVATIVE_CALLS             \
  MERCER_DERIVATIVE_CALLS_OF(float, this->) \
  MERCER_DERIVATIVE_CALLS_OF(double, this->)

/// Functions of the namespace, in front of their arguments what the map is made of.
#define MERCER_DERIVATIVE_CALLS_BY(...)                     \
  MERCER_DERIVATIVE_CALLS_OF(float, feature::, __VA_ARGS__) \
  MERCER_DERIVATIVE_CALLS_OF(double, feature::, __VA_ARGS__)

/// Declares those functions.
#define MERCER_DERIVATIVES(Parts)                                                      \
  template <class T>                                                                   \
  void differentiate_rows(const Parts&, const Derivative& what, MatrixView<const T> X, \
                          Context& context, MatrixView<T> out);                        \
  template <class T>                                                                   \
  void push_rows_forward(const Parts&, MatrixView<const T> X, MatrixView<const T> V,   \
                         Context& context, MatrixView<T> out);                         \
  template <class T>                                                                   \
  void pull_rows_back(const Parts&, MatrixView<const T> X, MatrixView<const T> G,      \
                      Context& context, MatrixView<T> out);

/// Instantiates them.
#define MERCER_INSTANTIATE_DERIVATIVES_OF(T, Parts)                                                \
  template void differentiate_rows(const Parts&, const Derivative&, MatrixView<const T>, Context&, \
                                   MatrixView<T>);                                                 \
  template void push_rows_forward(const Parts&, MatrixView<const T>, MatrixView<const T>,          \
                                  Context&, MatrixView<T>);                                        \
  template void pull_rows_back(const Parts&, MatrixView<const T>, MatrixView<const T>, Context&,   \
                               MatrixView<T>);
#define MERCER_INSTANTIATE_DERIVATIVES(Parts)     \
  MERCER_INSTANTIATE_DERIVATIVES_OF(float, Parts) \
  MERCER_INSTANTIATE_DERIVATIVES_OF(double, Parts)
