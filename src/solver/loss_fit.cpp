// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/loss_fit.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/cached_source.h"
#include "solver/jittered_cholesky.h"
#include "solver/origin.h"

namespace mercer::solver {
namespace {

constexpr int64_t kRowsPerFeature = 2;  // at most, in the covariance
constexpr double kLeastCurvature = 1e-6;
constexpr int64_t kPasses = 3;  // before the first descent

int64_t scaling_bytes(int64_t features) {
  return checked_multiply(16, checked_multiply(features, features, "scaling"), "scaling");
}

/// Scaling sums over processes: either all of them do it or none.
bool all_have_room(const BlockSource& source, const Context& context) {
  double without = context.has_room(scaling_bytes(source.features())) ? 0 : 1;
  reduce(source, {&without, 1});
  return without == 0;
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

}  // namespace

/// r := (c G + lambda I)^{-1} r for the weights, r / c for the intercepts.
class LossFit::Scaling {
 public:
  Scaling(const RowStatistics& statistics, bool center, Context& context)
      : statistics_(statistics),
        center_(center),
        L_(statistics_.features(), statistics_.features(), context, "a Cholesky factor") {}

  void factor(double curvature, double lambda, Context& context) {
    curvature_ = curvature;
    const MatrixView<const double> G = statistics_.gram();
    const std::vector<double> shift = mean_about_origin(statistics_).features;
    const std::vector<double> mean = mean_of(statistics_).features;
    const int64_t D = G.rows;
    for (int64_t i = 0; i < D; ++i) {
      const auto r = static_cast<size_t>(i);
      for (int64_t j = 0; j <= i; ++j) {
        const auto c = static_cast<size_t>(j);
        const double covariance = G(i, j) / statistics_.weight() - shift[r] * shift[c];
        L_(i, j) = curvature * (center_ ? covariance : covariance + mean[r] * mean[c]);
      }
      L_(i, i) += lambda;
    }
    jittered_cholesky(L_.view(), context);
  }
  void apply(std::span<double> r, int64_t columns) const {
    const int64_t weights = L_.rows() * columns;
    linalg::cholesky_solve(L_.view(), {r.data(), L_.rows(), columns});
    for (double& b : r.subspan(weights)) b /= curvature_;
  }

 private:
  const RowStatistics& statistics_;
  bool center_;
  Matrix<double> L_;
  double curvature_ = 1;
};

LossFit::LossFit(const BlockSource& source, LossOptions options, Context& context,
                 const RowStatistics* statistics) {
  require(!source.kernel_columns(), MERCER_UNSUPPORTED,
          "another loss than squares with the kernel itself (map exact), expected ridge, or a map "
          "of features");
  Stage stage(context, kPasses);
  cached_ = stage.part(1, [&] { return make_cached(source, context); });
  const BlockSource& rows = cached_ ? *cached_ : source;
  const bool center = options.center;
  if (all_have_room(rows, context)) {
    if (statistics == nullptr)
      statistics_ = stage.part(
          1, [&] { return std::make_unique<RowStatistics>(sample_statistics(rows, context)); });
    const RowStatistics& sums = statistics == nullptr ? *statistics_ : *statistics;
    if (sums.weight() > 0) scaling_ = std::make_unique<Scaling>(sums, center, context);
  }
  stage.share(1);
  objective_ = std::make_unique<LossObjective>(rows, std::move(options), context);
  x_.assign(objective_->size(), 0.0);
}

LossFit::~LossFit() = default;

linalg::LbfgsResult LossFit::run(double lambda, const LossFitOptions& options, Context& context) {
  objective_->set_lambda(lambda);
  linalg::LbfgsOptions descent{.most_iterations = options.most_iterations,
                               .gradient_tolerance = options.gradient_tolerance,
                               .decrement_tolerance = options.tolerance,
                               .noise = objective_->noise()};
  bool factored = false;
  if (scaling_)
    descent.preconditioner = [&](std::span<double> r) {
      // The function has been evaluated at the starting point by now.
      if (!factored)
        scaling_->factor(std::max(objective_->curvature(), kLeastCurvature), lambda, context);
      factored = true;
      scaling_->apply(r, objective_->width());
    };
  return linalg::minimize_lbfgs(
      [&](std::span<const double> x, std::span<double> gradient) {
        return (*objective_)(x, gradient, context);
      },
      x_, descent, context);
}

bool LossFit::is_flat(const linalg::LbfgsResult& end, const LossFitOptions& options,
                      Context& context) {
  return linalg::is_flat(end,
                         [&](std::span<const double> x, std::span<double> gradient) {
                           return (*objective_)(x, gradient, context);
                         },
                         x_.size(),
                         {.decrement_tolerance = options.tolerance, .noise = objective_->noise()});
}

}  // namespace mercer::solver
