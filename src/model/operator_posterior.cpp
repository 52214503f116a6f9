// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/operator_posterior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/finite.h"
#include "linalg/blas.h"
#include "model/operator_fit.h"
#include "operator/feature_blocks.h"
#include "solver/operator_posterior.h"

namespace mercer::model {
namespace {

constexpr const char* kWhat = "a posterior covariance";
constexpr int64_t kBlockNumbers = int64_t{1} << 20;  // of Phi
constexpr int64_t kStepColumns = 8;                  // of conjugate gradients, side by side

bool complete(MatrixView<const double> Y) {
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k)
      if (std::isnan(Y(i, k))) return false;
  return true;
}

/// body(first, Phi) for blocks of at most `most` rows.
template <class Body>
void for_each_phi(const operators::OperatorMap& map, MatrixView<const double> X, int64_t most,
                  Context& context, const Body& body) {
  const int64_t p = map.outputs(), r = map.coefficients();
  const int64_t size = std::clamp<int64_t>(kBlockNumbers / (p * r), 1, most);
  const Matrix<double> Phi(p * std::min(size, X.rows), r, context, kWhat);
  for (int64_t first = 0; first < X.rows; first += size) {
    const int64_t last = std::min(X.rows, first + size);
    const MatrixView<double> block = Phi.view().block_rows(0, p * (last - first));
    map.matrix(X.block_rows(first, last), context, block);
    body(first, block);
    context.checkpoint();
  }
}

/// The lower triangle of the sum over observed targets.
Matrix<double> observed_gram(const operators::OperatorMap& map, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context) {
  const int64_t p = map.outputs(), r = map.coefficients();
  Matrix<double> H(r, r, context, kWhat);
  if (complete(Y)) {
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

void by_stein(const operators::OperatorMap& map, MatrixView<const double> X, double shift,
              double noise, MatrixView<const double> at, Context& context, MatrixView<double> out) {
  Matrix<double> sums(map.features(), map.features(), context, kWhat);
  sums.fill(0);
  operators::for_each_block(map.scalar(), X, context, [&](int64_t, MatrixView<const double> Z) {
    linalg::rank_update(1.0, Z, sums.view());
  });
  const solver::OutputBasis basis(map.shared_root(), context);
  const solver::SteinPosterior posterior(std::move(sums), basis, shift, noise, context);
  operators::for_each_block(
      map.scalar(), at, context, [&](int64_t first, MatrixView<const double> Z) {
        posterior.covariance(Z, context, out.block_rows(first, first + Z.rows));
      });
}

void of_phi(const solver::OperatorPosterior& posterior, const operators::OperatorMap& map,
            MatrixView<const double> at, int64_t most, Context& context, MatrixView<double> out) {
  for_each_phi(map, at, most, context, [&](int64_t first, MatrixView<const double> Phi) {
    posterior.covariance(Phi, context, out.block_rows(first, first + Phi.rows / map.outputs()));
  });
}

}  // namespace

void posterior_covariance(const operators::OperatorMap& map, MatrixView<const double> X,
                          MatrixView<const double> Y, double lambda, double noise,
                          MatrixView<const double> at, Context& context, MatrixView<double> out) {
  const int64_t p = map.outputs(), r = map.coefficients();
  require(lambda > 0, MERCER_UNSUPPORTED,
          "lambda = %g, expected more than 0: without it the prior has no variance", lambda);
  require_summable("X", X);
  require_summable("at", at);
  const MapRows rows(map, X);
  Matrix<double> all(Y.rows == 0 ? X.rows : 0, p, context, kWhat);
  all.fill(0);
  const solver::ObservedRows observed(rows, Y.rows == 0 ? all.view() : Y);
  if (at.rows == 0) return;
  const double shift = lambda * static_cast<double>(X.rows);
  if (map.shared_root().rows > 0 && complete(Y))
    return by_stein(map, X, shift, noise, at, context, out);
  if (r <= kMostFactored && context.has_room(8 * r * r + 16 * kBlockNumbers)) {
    const solver::FactoredPosterior posterior(observed_gram(map, X, Y, context), shift, noise,
                                              context);
    return of_phi(posterior, map, at, at.rows, context, out);
  }
  const solver::IterativePosterior posterior(observed, shift, noise, context);
  of_phi(posterior, map, at, std::max<int64_t>(1, kStepColumns / p), context, out);
}

}  // namespace mercer::model
