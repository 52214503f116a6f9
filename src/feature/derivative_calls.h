// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The derivatives of a map for either precision, by templates of its own, which get checked
// arguments: pull_rows_back(X, G, context, out), push_rows_forward(X, V, context, out),
// differentiate_rows(what, X, context, out).
#pragma once

#define MERCER_DERIVATIVE_CALLS_OF(T)                                                 \
  void pull_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,      \
                 MatrixView<T> out) const override {                                  \
    check_vectors(X, G, row_length(), out, inputs());                                 \
    pull_rows_back(X, G, context, out);                                               \
  }                                                                                   \
  void push_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,   \
                    MatrixView<T> out) const override {                               \
    check_vectors(X, V, inputs(), out, row_length());                                 \
    push_rows_forward(X, V, context, out);                                            \
  }                                                                                   \
  void differentiate(const Derivative& what, MatrixView<const T> X, Context& context, \
                     MatrixView<T> out) const override {                              \
    check_derivative(what, X, out);                                                   \
    differentiate_rows(what, X, context, out);                                        \
  }
#define MERCER_DERIVATIVE_CALLS     \
  MERCER_DERIVATIVE_CALLS_OF(float) \
  MERCER_DERIVATIVE_CALLS_OF(double)
