// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features depend on x_j / l_j alone, so the gradient in log l_j is a sum over rows of the map's
// pull-back of df/dZ. lambda = kLeastArdLambda + exp(phi), which approaches its bound smoothly.
// Source: MacKay 1994 and Neal 1996 (ARD), through random features with fixed draws.
#include "model/search/ard.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "feature/derivatives.h"
#include "feature/log_parameters.h"
#include "linalg/lbfgs.h"
#include "solver/profiled_likelihood.h"

namespace mercer::model {
namespace {

constexpr double kFarLonger[] = {20, 100};   // than the shortest: candidates for dropping
constexpr double kGradientTolerance = 1e-3;  // of nats
constexpr double kDecreaseTolerance = 1e-5;

class Objective {
 public:
  Objective(const feature::FeatureMap& unit, MatrixView<const double> X, MatrixView<const double> Y,
            std::span<const double> weights, const ArdOptions& options, Context& context)
      : unit_(unit),
        X_(X),
        context_(context),
        likelihood_(Y, unit.features(), context, weights, {.noise = options.noise}),
        common_(options.common),
        inputs_(X.rows, X.cols, context, kWhat),
        pulled_(X.rows, X.cols, context, kWhat),
        Z_(X.rows, unit.features(), context, kWhat) {}

  bool varies() const { return likelihood_.outputs() > 0; }
  /// Nats of log likelihood, over all rows and outputs, per unit of f.
  double nats() const { return likelihood_.freedom() * static_cast<double>(likelihood_.outputs()); }

  /// theta = log l_1, ..., log l_d (or their common value) and phi. In nats, because the gradient
  /// is the first step, which in nats per row would be hundreds of times too short.
  double operator()(std::span<const double> theta, std::span<double> gradient) {
    const size_t lengthscales = theta.size() - 1;
    scale(theta.first(lengthscales));
    unit_.apply(MatrixView<const double>(inputs_.view()), {0, unit_.features()}, context_,
                Z_.view());
    const double above = std::exp(theta.back());
    const auto point = likelihood_.at(Z_.view(), kLeastArdLambda + above);
    if (!std::isfinite(point.value)) return point.value;
    derivatives_of(unit_).pull_back(inputs_.view(), point.by_Z, context_, pulled_.view());
    std::vector<double> each(X_.cols);
    feature::log_lengthscale_gradient<double>(inputs_.view(), pulled_.view(), each);
    if (common_) each = {std::accumulate(each.begin(), each.end(), 0.0)};
    std::ranges::copy(each, gradient.begin());
    gradient.back() = point.slope * above / (kLeastArdLambda + above);
    for (double& slope : gradient) slope *= nats();
    return point.value * nats();
  }

 private:
  static constexpr const char* kWhat = "learning lengthscales";

  void scale(std::span<const double> log_lengthscale) {
    std::vector<double> weight;
    for (const double value : log_lengthscale) weight.push_back(std::exp(-value));
    for (int64_t i = 0; i < X_.rows; ++i)
      for (int64_t j = 0; j < X_.cols; ++j)
        inputs_(i, j) = X_(i, j) * weight[common_ ? 0 : static_cast<size_t>(j)];
  }

  const feature::FeatureMap& unit_;
  MatrixView<const double> X_;
  Context& context_;
  solver::ProfiledLikelihood likelihood_;
  bool common_;
  Matrix<double> inputs_;  // in units of the lengthscales
  Matrix<double> pulled_;
  Matrix<double> Z_;
};

/// Drops inputs with lengthscales `times` the shortest, unless the likelihood needs them.
int64_t drop(Objective& objective, double times, double value, std::span<double> theta) {
  const std::span<double> logs = theta.first(theta.size() - 1);
  const double limit = *std::ranges::min_element(logs) + std::log(times);
  std::vector<double> reduced(theta.begin(), theta.end()), gradient(theta.size());
  int64_t dropped = 0;
  for (size_t j = 0; j < logs.size(); ++j) {
    if (logs[j] <= limit) continue;
    reduced[j] = std::log(kDroppedLengthscale);
    ++dropped;
  }
  if (dropped == 0) return 0;
  const double loss = objective(reduced, gradient) - value;
  if (!(loss <= static_cast<double>(dropped))) return 0;
  std::ranges::copy(reduced, theta.begin());
  return dropped;
}
int64_t drop_far(Objective& objective, double value, std::span<double> theta) {
  for (const double times : kFarLonger)
    if (const int64_t dropped = drop(objective, times, value, theta); dropped > 0) return dropped;
  return 0;
}

void climb(Objective& objective, const ArdOptions& options, Context& context,
           std::span<double> theta, Ard& ard) {
  double first = 0;
  const auto counted = [&](std::span<const double> at, std::span<double> gradient) {
    const double value = objective(at, gradient);
    if (ard.evaluations++ == 0) first = value;
    return value;
  };
  const linalg::LbfgsResult found =
      linalg::minimize_lbfgs(counted, theta,
                             {.most_iterations = options.most_iterations,
                              .gradient_tolerance = kGradientTolerance,
                              .decrease_tolerance = kDecreaseTolerance},
                             context);
  ard.value = found.value / objective.nats();
  ard.gain = first / objective.nats() - ard.value;
}

}  // namespace

Ard learn_lengthscales(const feature::FeatureMap& unit, MatrixView<const double> X,
                       MatrixView<const double> Y, const ArdOptions& options, Context& context,
                       std::span<const double> weights) {
  require(unit.derivatives() != nullptr && unit.inputs() == X.cols && options.lengthscale > 0 &&
              options.lambda > kLeastArdLambda,
          MERCER_INTERNAL, "lengthscales are learnt from %g and lambda %g through a smooth map",
          options.lengthscale, options.lambda);
  Objective objective(unit, X, Y, weights, options, context);
  std::vector<double> theta(options.common ? 1 : static_cast<size_t>(X.cols),
                            std::log(options.lengthscale));
  theta.push_back(std::log(options.lambda - kLeastArdLambda));
  Ard ard;
  if (objective.varies()) climb(objective, options, context, theta, ard);
  const std::span<double> logs = std::span(theta).first(theta.size() - 1);
  if (objective.varies() && !options.common) {
    ard.dropped = drop_far(objective, ard.value * objective.nats(), theta);
    for (int64_t j = 0; j < X.cols; ++j)
      if (column_is_constant(X, j)) logs[j] = std::log(kDroppedLengthscale);
  }
  for (const double one : logs)
    ard.lengthscale.push_back(std::clamp(std::exp(one), kLeastLengthscale, kDroppedLengthscale));
  ard.lengthscale.resize(X.cols, ard.lengthscale.front());
  ard.lambda = kLeastArdLambda + std::exp(theta.back());
  return ard;
}

// X, its scaled copy and gradient; Z, its gradient and a product with A.
int64_t ard_bytes(int64_t rows, int64_t inputs, int64_t features, int64_t outputs) {
  return 8 * (3 * rows * features + features * features + rows * (4 * inputs + outputs));
}

std::vector<double> relevance(std::span<const double> lengthscale) {
  const double shortest = *std::ranges::min_element(lengthscale);
  std::vector<double> result;
  for (const double value : lengthscale)
    result.push_back(value < kDroppedLengthscale ? shortest / value : 0.0);
  return result;
}

}  // namespace mercer::model
