// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/loss_fit.h"

#include <algorithm>
#include <cmath>

#include "base/size.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/cached_source.h"
#include "solver/centering.h"
#include "solver/jittered_cholesky.h"

namespace mercer::solver {
namespace {

constexpr int64_t kRowsPerFeature = 2;  // that the covariance is of, at most
constexpr double kLeastCurvature = 1e-6;

int64_t scaling_bytes(int64_t features) {
  return checked_multiply(16, checked_multiply(features, features, "scaling"), "scaling");
}

/// At most kRowsPerFeature rows per feature, evenly spread.
RowStatistics sample_statistics(const BlockSource& source, Context& context) {
  const int64_t count = std::min(source.rows(), kRowsPerFeature * source.features());
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(i * source.rows() / count);
  RowStatistics statistics(source.features(), source.outputs(), context);
  add_blocks(*source.subset(rows), statistics, context);
  return take_reduced(source, std::move(statistics));
}

double largest(std::span<const double> v) {
  double most = 0;
  for (const double x : v) most = std::max(most, std::abs(x));
  return most;
}

}  // namespace

/// r := (c G + lambda I)^{-1} r for the weights, r / c for the intercepts.
class LossFit::Scaling {
 public:
  Scaling(RowStatistics statistics, bool center, Context& context)
      : statistics_(std::move(statistics)),
        L_(statistics_.features(), statistics_.features(), context, "a Cholesky factor") {
    center_in_place(statistics_, center);
  }

  void factor(double curvature, double lambda, Context& context) {
    curvature_ = curvature;
    const MatrixView<const double> G = statistics_.gram();
    const double factor = curvature / statistics_.weight();
    for (int64_t i = 0; i < G.rows; ++i) {
      for (int64_t j = 0; j <= i; ++j) L_(i, j) = factor * G(i, j);
      L_(i, i) += lambda;
    }
    jittered_cholesky(L_.view(), context);
  }
  void apply(std::span<double> r, int64_t columns) const {
    const int64_t weights = L_.rows() * columns;
    linalg::cholesky_solve(L_.view(), {r.data(), L_.rows(), columns});
    for (double& b : r.subspan(static_cast<size_t>(weights))) b /= curvature_;
  }

 private:
  RowStatistics statistics_;
  Matrix<double> L_;
  double curvature_ = 1;
};

LossFit::LossFit(const BlockSource& source, LossOptions options, Context& context,
                 const RowStatistics* statistics)
    : cached_(make_cached(source, context)) {
  const BlockSource& rows = cached_ ? *cached_ : source;
  const bool center = options.center;
  if (context.has_room(scaling_bytes(rows.features()))) {
    RowStatistics sums =
        statistics != nullptr ? statistics->clone(context) : sample_statistics(rows, context);
    if (sums.weight() > 0) scaling_ = std::make_unique<Scaling>(std::move(sums), center, context);
  }
  objective_ = std::make_unique<LossObjective>(rows, std::move(options), context);
  x_.assign(static_cast<size_t>(objective_->size()), 0.0);
  std::vector<double> gradient(x_.size());
  (*objective_)(x_, gradient, context);
  first_gradient_ = largest(gradient);
}

LossFit::~LossFit() = default;

linalg::LbfgsResult LossFit::run(double lambda, const LossFitOptions& options, Context& context) {
  objective_->set_lambda(lambda);
  linalg::LbfgsOptions descent{.most_iterations = options.most_iterations,
                               .gradient_tolerance = options.gradient_tolerance * first_gradient_,
                               .decrease_tolerance = options.decrease_tolerance,
                               .noise = objective_->noise()};
  bool factored = false;
  if (scaling_)
    descent.preconditioner = [&](std::span<double> r) {
      // By now the function has been evaluated where the run begins.
      if (!factored)
        scaling_->factor(std::max(objective_->curvature(), kLeastCurvature), lambda, context);
      factored = true;
      scaling_->apply(r, objective_->columns());
    };
  return linalg::minimize_lbfgs(
      [&](std::span<const double> x, std::span<double> gradient) {
        return (*objective_)(x, gradient, context);
      },
      x_, descent, context);
}

}  // namespace mercer::solver
