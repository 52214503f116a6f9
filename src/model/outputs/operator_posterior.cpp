// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/operator_posterior.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "feature/feature_blocks.h"
#include "linalg/blas.h"
#include "model/outputs/observed_gram.h"
#include "model/outputs/operator_fit.h"
#include "solver/operator_posterior.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

constexpr const char* kWhat = "a posterior covariance";
constexpr int64_t kStepColumns = 8;  // of conjugate gradients, side by side
constexpr int64_t kSketchProducts = 100, kStepsOfColumn = 30;  // about, for progress

void by_stein(const feature::FieldMap& map, MatrixView<const double> X, double shift, double noise,
              MatrixView<const double> at, Context& context, MatrixView<double> out) {
  Matrix<double> sums(map.scalar().features(), map.scalar().features(), context, kWhat);
  sums.fill(0);
  const int64_t eigen = solver::eigen_rows(map.scalar().features());
  Stage stage(context, X.rows + eigen + at.rows);
  stage.part(X.rows, [&] {
    feature::for_each_block(map.scalar(), X, context, [&](int64_t, MatrixView<const double> Z) {
      linalg::rank_update(1.0, Z, sums.view());
    });
  });
  const solver::OutputBasis basis(map.shared_root(), context);
  stage.share(eigen);
  const solver::SteinPosterior posterior(std::move(sums), basis, shift, noise, context);
  stage.advance(eigen);
  stage.share(at.rows);
  feature::for_each_block(map.scalar(), at, context,
                          [&](int64_t first, MatrixView<const double> Z) {
                            posterior.covariance(Z, context, out.block_rows(first, first + Z.rows));
                          });
}

void of_phi(const solver::OperatorPosterior& posterior, const feature::FieldMap& map,
            MatrixView<const double> at, int64_t most, Context& context, MatrixView<double> out) {
  for_each_phi(map, at, most, context, [&](int64_t first, MatrixView<const double> Phi) {
    posterior.covariance(Phi, context, out.block_rows(first, first + Phi.rows / map.outputs()));
  });
}

}  // namespace

void posterior_covariance(const feature::FieldMap& map, MatrixView<const double> X,
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
  if (map.features() <= kMostFactored && context.has_room(bytes_of_gram(map, Y))) {
    const int64_t sums = p * X.rows, factor = solver::cholesky_rows(map.features());
    Stage stage(context, sums + factor + p * at.rows);
    Matrix<double> H = stage.part(sums, [&] { return observed_gram(map, X, Y, context); });
    const solver::FactoredPosterior posterior(std::move(H), shift, noise, context);
    stage.advance(factor);
    stage.share(p * at.rows);
    return of_phi(posterior, map, at, at.rows, context, out);
  }
  const int64_t products = p * at.rows * kStepsOfColumn;
  Stage stage(context, kSketchProducts + products);
  stage.share(kSketchProducts);
  const solver::IterativePosterior posterior(observed, shift, noise, context);
  stage.advance(kSketchProducts);
  stage.share(products);
  of_phi(posterior, map, at, std::max<int64_t>(1, kStepColumns / p), context, out);
}

}  // namespace mercer::model
