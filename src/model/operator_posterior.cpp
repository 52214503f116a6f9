// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/operator_posterior.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "linalg/blas.h"
#include "model/observed_gram.h"
#include "model/operator_fit.h"
#include "operator/feature_blocks.h"
#include "solver/operator_posterior.h"

namespace mercer::model {
namespace {

constexpr const char* kWhat = "a posterior covariance";
constexpr int64_t kStepColumns = 8;  // of conjugate gradients, side by side

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
                          MatrixView<const double> Y, const OperatorPrior& prior,
                          MatrixView<const double> at, Context& context, MatrixView<double> out) {
  const int64_t p = map.outputs();
  require(prior.lambda > 0, MERCER_UNSUPPORTED,
          "lambda = %g, expected more than 0: without it the prior has no variance", prior.lambda);
  require_inputs(map, "X", X);
  require_inputs(map, "at", at);
  const MapRows rows(map, X);
  Matrix<double> all(Y.rows == 0 ? X.rows : 0, p, context, kWhat);
  all.fill(0);
  const solver::ObservedRows observed(rows, Y.rows == 0 ? all.view() : Y);
  if (at.rows == 0) return;
  const double shift = prior.lambda * static_cast<double>(prior.rows), noise = prior.noise;
  if (map.shared_root().rows > 0 && is_complete(Y))
    return by_stein(map, X, shift, noise, at, context, out);
  if (map.coefficients() <= kMostFactored && context.has_room(bytes_of_gram(map, Y))) {
    const solver::FactoredPosterior posterior(observed_gram(map, X, Y, context), shift, noise,
                                              context);
    return of_phi(posterior, map, at, at.rows, context, out);
  }
  const solver::IterativePosterior posterior(observed, shift, noise, context);
  of_phi(posterior, map, at, std::max<int64_t>(1, kStepColumns / p), context, out);
}

}  // namespace mercer::model
