// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operator-valued kernels and maps through the table, and what they do as plain matrices.
#pragma once

#include <memory>

#include "base/aligned.h"
#include "operator/operator_entry.h"

namespace mercer::test {

using Given = std::initializer_list<std::pair<const char*, Value>>;

inline Value gaussian_of(const std::vector<double>& lengthscale, double variance = 1) {
  return std::make_shared<const Parameters>(
      Parameters{{"kernel", "gaussian"}, {"lengthscale", lengthscale}, {"variance", variance}});
}

inline std::unique_ptr<const operators::OperatorKernel> made_kernel(const Parameters& given) {
  return operators::make_operator_kernel(operators::canonical_operator_kernel(given));
}
inline std::unique_ptr<const operators::OperatorMap> made_operator(const Parameters& given) {
  return operators::make_operator_map(operators::canonical_operator_map(given));
}

inline Matrix<double> gram_of(const operators::OperatorKernel& kernel, const Matrix<double>& X,
                              const Matrix<double>& Y) {
  const int64_t p = kernel.outputs(X.cols());
  Matrix<double> K(p * X.rows(), p * Y.rows());
  Context context;
  kernel.gram(X.view(), Y.view(), context, K.view());
  return K;
}

inline Matrix<double> variance_of(const operators::OperatorMap& map, const Matrix<double>& X,
                                  const Matrix<double>& Y) {
  Matrix<double> out(X.rows(), map.outputs() * map.outputs());
  Context context;
  map.variance(X.view(), Y.view(), context, out.view());
  return out;
}

inline Matrix<double> matrix_of(const operators::OperatorMap& map, const Rows& X, int threads = 0) {
  Matrix<double> phi(X.rows() * map.outputs(), map.coefficients());
  Context context;
  context.threads = threads;
  map.matrix(X, context, phi.view());
  return phi;
}

inline Matrix<double> field_of(const operators::OperatorMap& map, MatrixView<const double> X,
                               const Matrix<double>& theta,
                               operators::FieldKind kind = operators::FieldKind::value,
                               int threads = 0) {
  Matrix<double> out(X.rows,
                     theta.cols() * operators::field_numbers(kind, map.outputs(), map.inputs()));
  Context context;
  context.threads = threads;
  map.apply(X, theta.view(), kind, context, out.view());
  return out;
}

inline Matrix<double> adjoint_of(const operators::OperatorMap& map, MatrixView<const double> X,
                                 const Matrix<double>& Y, int threads = 0) {
  Matrix<double> theta(map.coefficients(), Y.cols() / map.outputs());
  Context context;
  context.threads = threads;
  map.adjoint(X, Y.view(), context, theta.view());
  return theta;
}

}  // namespace mercer::test
