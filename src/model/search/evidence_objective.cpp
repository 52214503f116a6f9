// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Nats in place of nats per row: the gradient is L-BFGS's first step, which would be hundreds of
// times too short.
#include "model/search/evidence_objective.h"

#include <algorithm>
#include <cmath>

#include "linalg/lbfgs.h"

namespace mercer::model {
namespace {

constexpr double kGradientTolerance = 1e-3;  // of nats
constexpr double kDecreaseTolerance = 1e-5;
constexpr int kDigits = 20;  // binary, far below the tolerances

/// BLAS sums in another order with another number of threads. Over many steps the last digits grow
/// to another local optimum, so the descent is not shown them.
double shown(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::isfinite(x)
             ? std::ldexp(std::round(std::ldexp(mantissa, kDigits)), exponent - kDigits)
             : x;
}

}  // namespace

EvidenceObjective::EvidenceObjective(AdjustableFeatures& features, MatrixView<const double> Y,
                                     std::span<const double> weights, double noise,
                                     Context& context, double unit)
    : features_(features),
      unit_(unit),
      context_(context),
      likelihood_(Y, features.features(), context, weights, {.noise = noise}),
      Z_(Y.rows, features.features(), context, "features by the marginal likelihood") {}

double EvidenceObjective::phi_of(double lambda) { return std::log(lambda - kLeastArdLambda); }
double EvidenceObjective::lambda_of(double phi) { return kLeastArdLambda + std::exp(phi); }

double EvidenceObjective::operator()(std::span<const double> variables,
                                     std::span<double> gradient) {
  features_.apply(variables.first(variables.size() - 1), context_, Z_.view());
  const double lambda = unit_ * lambda_of(variables.back());
  const auto point = likelihood_.at(Z_.view(), lambda);
  if (!std::isfinite(point.value)) return point.value;
  features_.pull_back(point.by_Z, context_, gradient.first(gradient.size() - 1));
  gradient.back() = point.slope * unit_ * std::exp(variables.back()) / lambda;
  for (double& slope : gradient) slope *= nats();
  double penalty = 0;
  for (size_t k = 0; k < prior_.size(); ++k) {
    const double apart = (variables[k] - prior_[k].centre) / prior_[k].deviation;
    penalty += apart * apart / 2;
    gradient[k] += apart / prior_[k].deviation;
  }
  return point.value * nats() + penalty;
}

EvidenceObjective::Descent EvidenceObjective::minimize(std::span<double> variables,
                                                       int64_t most_iterations) {
  Descent descent;
  const auto counted = [&](std::span<const double> at, std::span<double> gradient) {
    const double value = (*this)(at, gradient);
    if (descent.evaluations++ == 0) descent.first = value;
    std::ranges::transform(gradient, gradient.begin(), shown);
    return shown(value);
  };
  const linalg::LbfgsResult found =
      linalg::minimize_lbfgs(counted, variables,
                             {.most_iterations = most_iterations,
                              .gradient_tolerance = kGradientTolerance,
                              .decrease_tolerance = kDecreaseTolerance},
                             context_);
  descent.value = found.value;
  descent.iterations = found.iterations;
  return descent;
}

}  // namespace mercer::model
