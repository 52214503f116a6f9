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
constexpr double kLeastPivot = 1e-12;  // of the largest: below, a column is others' sum to rounding
// Of a covariance over that of kRowsPerFeature rows for each feature: at most (1 + 1/sqrt(2))^2.
constexpr double kSampleSpread = 3;
constexpr int64_t kScaledSteps = 50;  // before the curvature is measured again
constexpr double kTightening = 0.1;
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

/// r := H^{-1} r, H the Hessian of the objective in one column's weights and intercept, of rows of
/// these statistics and of this curvature.
class LossFit::Scaling {
 public:
  Scaling(int64_t features, bool center, Context& context)
      : center_(center), L_(features, features, context, "a Cholesky factor"), apart_(features) {}

  /// mean: that of the objective.
  void factor(const RowStatistics& rows, double curvature, std::span<const double> mean,
              double lambda, Context& context) {
    curvature_ = std::max(curvature, kLeastCurvature);
    const MatrixView<const double> G = rows.gram();
    const std::vector<double> shift = mean_about_origin(rows).features;
    const double share = rows.weight() > 0 ? curvature / rows.weight() : 0;
    apart_ = mean_of(rows).features;
    for (size_t j = 0; j < apart_.size(); ++j) apart_[j] -= mean[j];
    const int64_t D = G.rows;
    for (int64_t i = 0; i < D; ++i) {
      const auto r = static_cast<size_t>(i);
      for (int64_t j = 0; j <= i; ++j) {
        const auto c = static_cast<size_t>(j);
        const double about_mean = curvature * (center_ ? 0 : apart_[r] * apart_[c]);
        L_(i, j) = share * G(i, j) - curvature * shift[r] * shift[c] + about_mean;
      }
      L_(i, i) += lambda;
    }
    jittered_cholesky(L_.view(), context);
    if (lambda == 0) require_independent();
  }
  /// The intercepts are eliminated where each is of one column of weights.
  void apply(std::span<double> r, int64_t columns) const {
    const int64_t D = L_.rows();
    const MatrixView<double> theta(r.data(), D, columns);
    const std::span<double> b = r.subspan(static_cast<size_t>(D * columns));
    const bool joint = std::ssize(b) == columns;
    for (int64_t j = 0; j < D && joint; ++j)
      for (int64_t k = 0; k < columns; ++k) theta(j, k) -= apart_[j] * b[k];
    linalg::cholesky_solve(L_.view(), theta);
    for (double& one : b) one /= curvature_;
    for (int64_t j = 0; j < D && joint; ++j)
      for (int64_t k = 0; k < columns; ++k) b[k] -= apart_[j] * theta(j, k);
  }

 private:
  /// Without lambda, features that depend on each other leave the optimum open, or there is none.
  void require_independent() const {
    double least = HUGE_VAL, most = 0;
    for (int64_t j = 0; j < L_.rows(); ++j) {
      least = std::min(least, L_(j, j) * L_(j, j));
      most = std::max(most, L_(j, j) * L_(j, j));
    }
    require(
        least > kLeastPivot * most, MERCER_NOT_POSITIVE_DEFINITE,
        "lambda = 0 with features that depend on each other in these rows, expected lambda > 0: "
        "a loss other than squares has no one optimum then");
  }

  bool center_;
  Matrix<double> L_;
  std::vector<double> apart_;  // the rows' mean minus the objective's
  double curvature_ = 1;
};

LossFit::LossFit(const BlockSource& source, LossOptions options, Context& context,
                 const RowStatistics* statistics) {
  require(!source.kernel_columns(), MERCER_UNSUPPORTED,
          "another loss than squares with the kernel itself (map exact), expected ridge, or a map "
          "of features");
  Stage stage(context, kPasses);
  cached_ = stage.part(1, [&] { return make_cached(source, context); });
  rows_ = cached_ ? cached_.get() : &source;
  const BlockSource& rows = *rows_;
  const bool center = options.center;
  if (all_have_room(rows, context)) {
    if (statistics == nullptr)
      own_ = stage.part(
          1, [&] { return std::make_unique<RowStatistics>(sample_statistics(rows, context)); });
    statistics_ = statistics == nullptr ? own_.get() : statistics;
    if (statistics_->weight() > 0)
      scaling_ = std::make_unique<Scaling>(rows.features(), center, context);
  }
  stage.share(1);
  objective_ = std::make_unique<LossObjective>(rows, std::move(options), context);
  x_.assign(objective_->size(), 0.0);
}

LossFit::~LossFit() = default;

linalg::LbfgsResult LossFit::run(double lambda, const LossFitOptions& options, Context& context) {
  objective_->set_lambda(lambda);
  const bool measured = options.measured && scaling_;
  const auto most = [&](int64_t done) {
    const int64_t left = options.most_iterations - done;
    return measured ? std::min(left, kScaledSteps) : left;
  };
  // The function has been evaluated at the starting point when it is scaled.
  linalg::LbfgsResult result = descend(
      {options.tolerance, options.gradient_tolerance, most(0)},
      [&] {
        scaling_->factor(*statistics_, std::max(objective_->curvature(), kLeastCurvature),
                         objective_->mean(), lambda, context);
      },
      context);
  if (!measured) return result;
  const double near = options.tolerance / kSampleSpread;
  for (double tolerance = near; result.iterations < options.most_iterations;
       tolerance *= kTightening) {  // L-BFGS took the point before for one within it
    const int64_t done = result.iterations;
    result = descend(
        {tolerance, options.gradient_tolerance, most(done)}, [&] { scale_at_end(lambda, context); },
        context);
    const bool stays = result.iterations == 0, near_enough = result.first_decrement <= near;
    result.iterations += done;
    if (stays) return result;
    if (near_enough && result.end == linalg::LbfgsEnd::iterations)
      result.end = linalg::LbfgsEnd::decrease;
    if (near_enough) return result;
  }
  result.end = linalg::LbfgsEnd::iterations;
  return result;
}

linalg::LbfgsResult LossFit::descend(const LossFitOptions& options,
                                     const std::function<void()>& scale, Context& context) {
  linalg::LbfgsOptions descent{.most_iterations = options.most_iterations,
                               .gradient_tolerance = options.gradient_tolerance,
                               .decrement_tolerance = options.tolerance,
                               .noise = objective_->noise()};
  bool scaled = false;
  if (scaling_)
    descent.preconditioner = [&](std::span<double> r) {
      if (!scaled) scale();
      scaled = true;
      scaling_->apply(r, objective_->width());
    };
  return linalg::minimize_lbfgs(
      [&](std::span<const double> x, std::span<double> gradient) {
        return (*objective_)(x, gradient, context);
      },
      x_, descent, context);
}

void LossFit::scale_at_end(double lambda, Context& context) {
  RowStatistics curved(objective_->features(), 0, context);
  objective_->add_curved(x_, static_cast<double>(kRowsPerFeature * objective_->features()), curved,
                         context);
  curved.release_scratch();
  scaling_->factor(take_reduced(*rows_, std::move(curved)), objective_->curvature(),
                   objective_->mean(), lambda, context);
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
