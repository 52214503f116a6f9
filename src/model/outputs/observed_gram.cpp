// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/observed_gram.h"

#include <cmath>

#include "linalg/blas.h"

namespace mercer::model {

bool is_complete(MatrixView<const double> Y) {
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k)
      if (std::isnan(Y(i, k))) return false;
  return true;
}

Matrix<double> observed_gram(const feature::FieldMap& map, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context) {
  const int64_t p = map.outputs(), r = map.features();
  Matrix<double> H(r, r, context, "a sum over observed targets");
  if (is_complete(Y)) {
    map.gram(X, context, H.view());
    return H;
  }
  H.fill(0);
  for_each_phi(map, X, X.rows, context, [&](int64_t first, MatrixView<double> Phi) {
    for (int64_t row = 0; row < Phi.rows; ++row)
      if (std::isnan(Y(first + row / p, row % p))) std::fill_n(Phi.row(row), r, 0.0);
    linalg::rank_update(1.0, Phi, H.view());
  });
  return H;
}

int64_t bytes_of_gram(const feature::FieldMap& map, MatrixView<const double> Y) {
  const int64_t D = map.scalar().features(), r = map.features();
  // Without gaps through the sum of scalar features, and the roots of all frequencies.
  const int64_t sums = is_complete(Y) ? D * D + D * map.outputs() * map.width() : 0;
  return 8 * (r * r + sums) + 16 * kPhiNumbers;
}

std::vector<double> observed_sums(const feature::FieldMap& map, MatrixView<const double> X,
                                  MatrixView<const double> Y, Context& context) {
  const Matrix<double> zeroed(Y.rows, Y.cols, context, "observed targets");
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) zeroed(i, k) = std::isnan(Y(i, k)) ? 0 : Y(i, k);
  std::vector<double> sums(static_cast<size_t>(map.features()));
  map.adjoint(X, MatrixView<const double>(zeroed.view()), context,
              {sums.data(), map.features(), 1});
  return sums;
}

}  // namespace mercer::model
