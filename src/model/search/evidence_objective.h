// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The marginal likelihood as a function of what features of given rows depend on.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "solver/profiled_likelihood.h"

namespace mercer::model {

/// Below, the objective would fit the few features instead of the data.
inline constexpr double kLeastArdLambda = 1e-8;

/// Features Z of rows that are kept, as a smooth function of parameters theta.
class AdjustableFeatures {
 public:
  virtual ~AdjustableFeatures() = default;
  virtual int64_t features() const = 0;
  virtual void apply(std::span<const double> theta, Context& context, MatrixView<double> Z) = 0;
  /// slope[k] = dL / d theta_k at the theta of the last apply, given G = dL/dZ.
  virtual void pull_back(MatrixView<const double> G, Context& context, std::span<double> slope) = 0;
};

/// The negative log marginal likelihood (solver/profiled_likelihood.h) in nats. Its last variable
/// is phi, lambda = unit (kLeastArdLambda + exp(phi)), which approaches its bound smoothly. Memory: 2 n D
/// + r^2 numbers.
class EvidenceObjective {
 public:
  /// References are kept. Y: n x outputs; weights: of the rows, or none; noise: variance for a row
  /// of mean weight, 0: unknown; unit: of lambda, k(x, x).
  EvidenceObjective(AdjustableFeatures& features, MatrixView<const double> Y,
                    std::span<const double> weights, double noise, Context& context,
                    double unit = 1);

  bool varies() const { return likelihood_.outputs() > 0; }
  /// Nats of log likelihood, over all rows and outputs, per unit of f.
  double nats() const { return likelihood_.freedom() * static_cast<double>(likelihood_.outputs()); }

  /// variables: theta, then phi.
  double operator()(std::span<const double> variables, std::span<double> gradient);
  struct Descent {
    double first = 0, value = 0;  // at the start and where it ended
    int64_t iterations = 0;
    int64_t evaluations = 0;
  };
  /// Minimises by L-BFGS from `variables`, which become the best found.
  Descent minimize(std::span<double> variables, int64_t most_iterations);

  /// A normal prior of a parameter.
  struct Prior {
    double centre, deviation;
  };
  /// Adds the log prior to the likelihood: one for each parameter.
  void add_prior(std::vector<Prior> prior) { prior_ = std::move(prior); }

  static double phi_of(double lambda);  // both in that unit
  static double lambda_of(double phi);

 private:
  AdjustableFeatures& features_;
  double unit_;
  Context& context_;
  solver::ProfiledLikelihood likelihood_;
  Matrix<double> Z_;
  std::vector<Prior> prior_;  // or none
};

}  // namespace mercer::model
