// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/output_relations.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "linalg/symmetric_eigen.h"
#include "model/outputs/output_units.h"

namespace mercer::model {
namespace {

constexpr const char* kRelations = "how outputs belong together";
constexpr double kUncorrelated = 2;  // mean squared distance of standardised targets

/// A(k, l) = weighted mean of body(y_k, y_l) over rows where both are observed; `apart` if none.
template <class Body>
Matrix<double> over_pairs(MatrixView<const double> Y, std::span<const double> weights, double apart,
                          Context& context, const Body& body) {
  const int64_t p = Y.cols;
  Matrix<double> A(p, p, context, kRelations);
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = k; l >= 0; --l) {
      double sum = 0, seen = 0;
      for (int64_t i = 0; i < Y.rows; ++i) {
        if (std::isnan(Y(i, k)) || std::isnan(Y(i, l))) continue;
        const double weight = weights.empty() ? 1 : weights[i];
        sum += weight * body(Y(i, k), Y(i, l));
        seen += weight;
      }
      A(k, l) = A(l, k) = seen > 0 ? sum / seen : apart;
    }
  return A;
}

/// The largest weight of a graph: symmetric, >= 0, the diagonal not read.
double check_graph(MatrixView<const double> W) {
  double most = 0;
  for (int64_t k = 0; k < W.rows; ++k) {
    for (int64_t l = 0; l < W.cols; ++l) {
      if (k == l) continue;
      require(std::isfinite(W(k, l)) && W(k, l) >= 0 && W(k, l) == W(l, k), MERCER_INVALID_ARGUMENT,
              "weight[%ld, %ld] = %g and [%ld, %ld] = %g, expected equal finite numbers >= 0", k, l,
              W(k, l), l, k, W(l, k));
      most = std::max(most, W(k, l));
    }
  }
  require(most > 0, MERCER_INVALID_ARGUMENT,
          "the graph of %ld outputs has no edges, expected a weight > 0", W.rows);
  return most;
}

/// The entries of a constant output with itself and with others.
void part_constants(Matrix<double>& A, MatrixView<const double> scaled,
                    std::span<const double> weights, double self, double apart) {
  for (int64_t k = 0; k < A.rows(); ++k) {
    const OutputMoments moments = output_moments(scaled, k, weights);
    if (moments.deviation > 0.5) continue;  // 1 if it varies
    for (int64_t l = 0; l < A.rows(); ++l) A(k, l) = A(l, k) = l == k ? self : apart;
  }
}

}  // namespace

void make_semidefinite(MatrixView<double> A, Context& context) {
  const int64_t p = A.rows;
  const Matrix<double> V(p, p, context, kRelations);
  for (int64_t k = 0; k < p; ++k) std::copy_n(A.row(k), p, V.view().row(k));
  std::vector<double> values(p);
  linalg::symmetric_eigen(V.view(), values, context);
  if (values[0] >= 0) return;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = 0; l < p; ++l) {
      A(k, l) = 0;
      for (int64_t j = 0; j < p; ++j) A(k, l) += std::max(values[j], 0.0) * V(j, k) * V(j, l);
    }
}

Matrix<double> output_correlations(MatrixView<const double> scaled, std::span<const double> weights,
                                   Context& context) {
  Matrix<double> C =
      over_pairs(scaled, weights, 0, context, [](double a, double b) { return a * b; });
  part_constants(C, scaled, weights, 1, 0);
  make_semidefinite(C.view(), context);
  return C;
}

Matrix<double> output_distances(MatrixView<const double> scaled, std::span<const double> weights,
                                Context& context) {
  Matrix<double> S = over_pairs(scaled, weights, kUncorrelated, context,
                                [](double a, double b) { return (a - b) * (a - b); });
  part_constants(S, scaled, weights, 0, kUncorrelated);
  return S;
}

Matrix<double> mean_laplacian(MatrixView<const double> W, int64_t p, Context& context) {
  require(W.rows == p && W.cols == p, MERCER_DIMENSION_MISMATCH,
          "the graph is %ld x %ld, expected p x p = %ld x %ld", W.rows, W.cols, p, p);
  const double most = check_graph(W);
  Matrix<double> L(p, p, context, kRelations);
  double degrees = 0;
  for (int64_t k = 0; k < p; ++k) {
    L(k, k) = 0;
    for (int64_t l = 0; l < p; ++l) {
      if (l == k) continue;
      L(k, l) = -W(k, l) / most;
      L(k, k) += W(k, l) / most;
    }
    degrees += L(k, k);
  }
  for (int64_t j = 0; j < p * p; ++j) L.data()[j] *= static_cast<double>(p) / degrees;
  return L;
}

}  // namespace mercer::model
