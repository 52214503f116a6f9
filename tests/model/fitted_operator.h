// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits with a decomposable map, and how far two matrices are apart.
#pragma once

#include "model/outputs/operator_fit.h"
#include "support/dense.h"
#include "support/field_maps.h"

namespace mercer::test {

inline std::unique_ptr<const feature::FieldMap> decomposable(int64_t features) {
  return made_operator({{"operator", "decomposable"},
                        {"gamma", std::vector<double>{2, 1, 1, 1}},
                        {"inputs", int64_t{2}},
                        {"features", features}});
}
inline Matrix<double> fitted(const feature::FieldMap& map, const Matrix<double>& X,
                             const Matrix<double>& Y, const model::OperatorFitOptions& options,
                             model::OperatorFit* found = nullptr) {
  Context context;
  Matrix<double> theta(map.features(), 1);
  const model::OperatorFit fit = fit_operator(map, X.view(), Y.view(), options, context,
                                              {theta.data(), static_cast<size_t>(theta.rows())});
  if (found != nullptr) *found = fit;
  return theta;
}

inline double mean_square(MatrixView<const double> A, MatrixView<const double> B) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t k = 0; k < A.cols; ++k) sum += (A(i, k) - B(i, k)) * (A(i, k) - B(i, k));
  return sum / static_cast<double>(A.rows * A.cols);
}

}  // namespace mercer::test
