// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lengthscales learnt by the gradient of the marginal likelihood: one for all inputs, or one for
// each (automatic relevance determination).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/feature_map.h"

namespace mercer::model {

struct ArdOptions {
  double lengthscale = 1;        // where all inputs start, > 0
  double lambda = 1e-4;          // where it starts, > kLeastArdLambda
  int64_t most_iterations = 60;  // of L-BFGS
  bool common = false;           // one lengthscale for all inputs
  double noise = 0;              // variance of a row of the mean weight, if it is known
};

/// Below, an objective through few features fits them instead of the data.
inline constexpr double kLeastArdLambda = 1e-8;
/// A lambda below goes with a lengthscale at which the likelihood, whose lambda has a floor, sees
/// nothing but a constant.
inline constexpr double kLeastSignal = 10 * kLeastArdLambda;
/// The lengthscale of an input that does not matter: of standardised inputs, what it adds to an
/// angle is lost in rounding.
inline constexpr double kDroppedLengthscale = 1e8;
/// The likelihood of targets without noise may have none: features must stay finite.
inline constexpr double kLeastLengthscale = 1e-6;

struct Ard {
  std::vector<double> lengthscale;  // d
  double lambda = 0;                // that goes with them, for as many features as the map has
  int64_t dropped = 0;              // inputs of lengthscale kDroppedLengthscale
  int64_t evaluations = 0;          // of the likelihood with its gradient
  double gain = 0;                  // of log marginal likelihood, in nats per row and output
  double value = 0;                 // f of solver/profiled_likelihood.h
  double noise = 0;                 // its share of the targets' variance
};

/// Minimises the negative log marginal likelihood (solver/profiled_likelihood.h) over log l_1, ...,
/// log l_d, or their common value, and lambda, through the features of `unit` at x_j / l_j: unit is
/// a map of lengthscale 1 with derivatives(), whose draws stay fixed. X: n x d standardised rows;
/// Y: n x outputs, classes as one-hot codes; weights: of the rows, or none. Of lengthscales for each
/// input one that is constant in X is dropped, uncounted, and afterwards inputs far longer than the
/// shortest are dropped together if that costs less log likelihood than there are of them (Akaike's
/// criterion).
/// The same numbers for every thread count of the context (BLAS has its own). Where no output
/// varies, the start is returned.
/// Memory: 3 n D + D^2 + 3 n d numbers, D features of unit. Cost: O(n D^2 + D^3 + n D d) per
/// evaluation, about 1.2 evaluations an iteration. Errors: OUT_OF_MEMORY, CANCELLED.
Ard learn_lengthscales(const feature::FeatureMap& unit, MatrixView<const double> X,
                       MatrixView<const double> Y, const ArdOptions& options, Context& context,
                       std::span<const double> weights = {});
/// What it takes, with its rows: a search that has no room for it does without.
int64_t ard_bytes(int64_t rows, int64_t inputs, int64_t features, int64_t outputs);

/// How steeply the kernel falls along each input, in units of the steepest: l_min / l_j, 0 for
/// dropped inputs. Of standardised inputs: steps of equal standard deviations are compared.
std::vector<double> relevance(std::span<const double> lengthscale);

}  // namespace mercer::model
