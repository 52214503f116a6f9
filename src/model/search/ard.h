// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lengthscales by gradients of the marginal likelihood, one for all inputs or one for each, and
// that likelihood as a function of what features depend on.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"
#include "linalg/lbfgs.h"
#include "solver/profiled_likelihood.h"

namespace mercer::model {

// The marginal likelihood as a function of what features of given rows depend on.

/// Below, the objective would fit the few features instead of the data.
inline constexpr double kLeastArdLambda = 1e-8;

/// Features Z of rows that are kept, or the lower triangle of their Gram matrix by a kernel, as a
/// smooth function of parameters theta.
class AdjustableFeatures {
 public:
  virtual ~AdjustableFeatures() = default;
  virtual int64_t features() const = 0;  // 0: it is a Gram matrix
  virtual void apply(std::span<const double> theta, Context& context, MatrixView<double> Z) = 0;
  /// slope[k] = dL / d theta_k at the theta of the last apply, given G = dL/dZ, or the lower triangle
  /// of dL/dK.
  virtual void pull_back(MatrixView<const double> G, Context& context, std::span<double> slope) = 0;
};

/// The negative log marginal likelihood (solver/profiled_likelihood.h) in nats. Its last variable
/// is phi, lambda = unit (kLeastArdLambda + exp(phi)), which approaches its bound smoothly. Memory:
/// 2 n D + r^2 numbers.
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
  /// Minimises by L-BFGS from `variables`, which become the best found; pairs: as in its options.
  linalg::LbfgsResult minimize(std::span<double> variables, int64_t most_iterations,
                               std::vector<linalg::CurvaturePair>* pairs = nullptr);

  /// A normal prior of a parameter.
  struct Prior {
    double center, deviation;
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

// Lengthscales by gradients of the marginal likelihood: one for all inputs, or one for each
// (automatic relevance determination).

struct ArdOptions {
  double lengthscale = 1;        // starting point of all inputs, > 0
  double unit = 1;               // of lambda, k(x, x)
  double lambda = 1e-4;          // starting point, > kLeastArdLambda, both in that unit
  int64_t most_iterations = 60;  // of L-BFGS
  bool common = false;           // one lengthscale for all inputs
  double noise = 0;              // variance for a row of mean weight; 0: unknown
  std::vector<linalg::CurvaturePair> pairs = {};  // of a descent of the same inputs near by
};

/// Below, the lengthscale is one at which the likelihood, whose lambda has a floor, is constant.
inline constexpr double kLeastSignal = 10 * kLeastArdLambda;
/// The lengthscale of an irrelevant input: its part of an angle is lost in rounding.
inline constexpr double kDroppedLengthscale = 1e8;
/// Lengthscales are at most so many distances of rows. In a Gaussian kernel the term of degree 3 in
/// r^2 is (2 * 64^2)^-3 / 6 = 3e-13 of the first, below the least lambda: beyond, the kernel is a
/// polynomial of degree 2 in r^2, and a longer lengthscale differs by lambda alone.
inline constexpr double kLongest = 64;
/// And an eighth of the mean gap of an input's values at least: neighbours' kernel is e^-32.
inline constexpr double kShortest = 0.125;

struct Ard {
  std::vector<double> lengthscale;  // d
  double lambda = 0;                // the best with them, for the map's number of features
  int64_t dropped = 0;              // inputs of lengthscale kDroppedLengthscale
  std::vector<double> climbed;      // the lengthscales before any were dropped
  int64_t evaluations = 0;          // of the likelihood with its gradient
  double value = 0;                 // f of solver/profiled_likelihood.h
  bool at_edge = false;             // the common lengthscale is at its upper bound
  double nats = 0;                  // of log likelihood, over all rows, in a unit of value
  std::vector<linalg::CurvaturePair> pairs = {};  // of the descent
};

/// Minimises the negative log marginal likelihood (solver/profiled_likelihood.h) over log l_1, ...,
/// log l_d (or their common value) and log lambda, through the features of `unit` at x_j / l_j:
/// unit is a map of lengthscale 1 with derivatives(), whose draws stay fixed. X: n x d standardised
/// rows; Y: n x outputs, classes as one-hot codes; weights: of the rows, or none. With a
/// lengthscale per input, constant inputs are dropped (not counted), and at the end all inputs with
/// far longer lengthscales than the shortest, or at their upper bound, if that costs less log
/// likelihood than their number (Akaike's criterion). Lengthscales stay between kShortest of the
/// mean gap between an input's values and kLongest of its range. The result does not depend on the
/// context's thread count (BLAS has its own). If no output varies, returns the start. Memory: 3 n D
/// + D^2 + 3 n d numbers for D features. Cost: O(n D^2 + D^3 + n D d) per evaluation, about 1.2
/// evaluations per iteration. Errors: OUT_OF_MEMORY, CANCELLED.
Ard learn_lengthscales(const feature::FeatureMap& unit, MatrixView<const double> X,
                       MatrixView<const double> Y, const ArdOptions& options, Context& context,
                       std::span<const double> weights = {});
/// Likewise by the kernel `unit` itself, of lengthscale 1, for which take_slopes is true. Memory: 4
/// n^2 numbers. Cost: O(n^3 + n^2 d) per evaluation.
Ard learn_lengthscales(const kernel::Kernel& unit, MatrixView<const double> X,
                       MatrixView<const double> Y, const ArdOptions& options, Context& context,
                       std::span<const double> weights = {});

/// The deviation of the prior of a metric's entries from those of the start, in units of these.
inline constexpr double kMetricDeviation = 0.5;
struct LearntMetric {
  Matrix<double> A;  // d x d
  double value = 0;  // negative log likelihood and prior in nats, up to constants of the rows
  std::vector<linalg::CurvaturePair> pairs = {};  // of the descent
};
/// A of likely k(A x, A y), from I / options.lengthscale, which with the deviation above is the
/// prior's mean. Memory and cost as above.
LearntMetric learn_metric(const kernel::Kernel& unit, MatrixView<const double> X,
                          MatrixView<const double> Y, const ArdOptions& options, Context& context,
                          std::span<const double> weights = {});
/// The memory of learn_lengthscales through features with its rows; without room a search leaves it
/// out.
int64_t ard_bytes(int64_t rows, int64_t inputs, int64_t features, int64_t outputs);

/// Lengthscales times a common factor; dropped inputs stay dropped.
std::vector<double> scaled(std::vector<double> lengthscales, double factor);

/// How steeply the kernel falls along each standardised input, relative to the steepest:
/// l_min / l_j, 0 for dropped inputs.
std::vector<double> relevance(std::span<const double> lengthscale);

}  // namespace mercer::model
