// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Nats in place of nats per row: the gradient is L-BFGS's first step, which would be hundreds of
// times too short.
#include "model/search/ard.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "feature/derivatives.h"
#include "kernel/stationary.h"
#include "linalg/blas.h"
#include "linalg/lbfgs.h"

namespace mercer::model {
namespace {

constexpr double kGradientTolerance = 1e-3;  // of nats
// Of a step; Akaike's criterion takes one for a parameter. With ten times as many a search of ten
// inputs that are alike kept lengthscales that lost .014 of R^2.
constexpr double kLeastNats = 0.005;
constexpr int kShownDigits = 20;  // binary, far below the tolerances

/// BLAS sums in another order with another number of threads. Over many steps the last digits grow
/// to another local optimum, so the descent is not shown them.
double shown(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::isfinite(x)
             ? std::ldexp(std::round(std::ldexp(mantissa, kShownDigits)), exponent - kShownDigits)
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
      Z_(Y.rows, features.features() > 0 ? features.features() : Y.rows, context,
         "features by the marginal likelihood") {}

double EvidenceObjective::phi_of(double lambda) { return std::log(lambda - kLeastArdLambda); }
double EvidenceObjective::lambda_of(double phi) { return kLeastArdLambda + std::exp(phi); }

double EvidenceObjective::operator()(std::span<const double> variables,
                                     std::span<double> gradient) {
  features_.apply(variables.first(variables.size() - 1), context_, Z_.view());
  const double lambda = unit_ * lambda_of(variables.back());
  const auto point = features_.features() > 0 ? likelihood_.at(Z_.view(), lambda)
                                              : likelihood_.at_gram(Z_.view(), lambda);
  if (!std::isfinite(point.value)) return point.value;
  features_.pull_back(point.by_Z, context_, gradient.first(gradient.size() - 1));
  gradient.back() = point.slope * unit_ * std::exp(variables.back()) / lambda;
  for (double& slope : gradient) slope *= nats();
  double penalty = 0;
  for (size_t k = 0; k < prior_.size(); ++k) {
    const double apart = (variables[k] - prior_[k].center) / prior_[k].deviation;
    penalty += apart * apart / 2;
    gradient[k] += apart / prior_[k].deviation;
  }
  return point.value * nats() + penalty;
}

linalg::LbfgsResult EvidenceObjective::minimize(std::span<double> variables,
                                                int64_t most_iterations,
                                                std::vector<linalg::CurvaturePair>* pairs) {
  const auto rounded = [this](std::span<const double> at, std::span<double> gradient) {
    const double value = (*this)(at, gradient);
    std::ranges::transform(gradient, gradient.begin(), shown);
    return shown(value);
  };
  return linalg::minimize_lbfgs(rounded, variables,
                                {.most_iterations = most_iterations,
                                 .gradient_tolerance = kGradientTolerance,
                                 .decrease_tolerance = kLeastNats,
                                 .absolute = true,
                                 .noise = std::ldexp(1.0, -kShownDigits),
                                 .pairs = pairs},
                                context_);
}

// Features depend on x_j / l_j alone, so the gradient in log l_j is a sum over rows of the map's
// pull-back of df/dZ.
// Source: MacKay 1994 and Neal 1996 (ARD), through random features with fixed draws.

namespace {

// Than the shortest: candidates for dropping, beside those at their bound.
constexpr double kFarLonger[] = {20, 100, kInfinity};

/// Of log lengthscales.
struct LogBounds {
  std::vector<double> least, most;
  bool at_most(size_t j, double log) const { return log >= most[j] - 1e-6; }
};

/// An input's range, and the mean gap between its different values; 0 of a constant one.
std::pair<double, double> range_and_gap(MatrixView<const double> X, int64_t j) {
  std::vector<double> values(X.rows);
  for (int64_t i = 0; i < X.rows; ++i) values[i] = X(i, j);
  std::ranges::sort(values);
  const double range = values.back() - values.front();
  const auto different = std::unique(values.begin(), values.end()) - values.begin();
  return {range, different > 1 ? range / static_cast<double>(different - 1) : 0.0};
}

/// A lengthscale for all inputs may be as short as the shortest and as long as all are together.
LogBounds log_bounds_of(MatrixView<const double> X, bool common) {
  LogBounds bounds;
  double least = kInfinity, squares = 0;
  for (int64_t j = 0; j < X.cols; ++j) {
    const auto [range, gap] = range_and_gap(X, j);
    squares += range * range;
    if (range > 0) least = std::min(least, gap);
    bounds.least.push_back(range > 0 ? std::log(kShortest * gap) : -kInfinity);
    bounds.most.push_back(range > 0 ? std::log(kLongest * range) : kInfinity);
  }
  if (!common) return bounds;
  if (squares == 0) return {{-kInfinity}, {kInfinity}};
  return {{std::log(kShortest * least)}, {std::log(kLongest) + std::log(squares) / 2}};
}

/// Rows in units of lengthscales; theta = log l_1, ..., log l_d, or their common value.
class ScaledInputs : public AdjustableFeatures {
 public:
  const LogBounds& bounds() const { return bounds_; }

 protected:
  ScaledInputs(MatrixView<const double> X, bool common, Context& context)
      : X_(X),
        common_(common),
        bounds_(log_bounds_of(X, common)),
        inputs_(X.rows, X.cols, context, kWhat),
        pulled_(X.rows, X.cols, context, kWhat) {}

  void scale(std::span<const double> theta) {
    theta_.assign(theta.begin(), theta.end());
    std::vector<double> weight;
    for (size_t j = 0; j < theta.size(); ++j) weight.push_back(std::exp(-bounded(j)));
    for (int64_t i = 0; i < X_.rows; ++i)
      for (int64_t j = 0; j < X_.cols; ++j)
        inputs_(i, j) = X_(i, j) * weight[common_ ? 0 : static_cast<size_t>(j)];
  }
  /// From pulled_, the derivatives in inputs_.
  void put_slopes(std::span<double> slope) const {
    std::vector<double> each(X_.cols);
    feature::log_lengthscale_gradient<double>(inputs_.view(), pulled_.view(), each);
    if (common_) each = {std::accumulate(each.begin(), each.end(), 0.0)};
    for (size_t j = 0; j < each.size(); ++j) slope[j] = bounded(j) == theta_[j] ? each[j] : 0.0;
  }
  MatrixView<double> inputs() const { return inputs_.view(); }
  MatrixView<double> pulled() const { return pulled_.view(); }
  static constexpr const char* kWhat = "learning lengthscales";

 private:
  /// A dropped input stays dropped.
  double bounded(size_t j) const {
    if (theta_[j] >= std::log(kDroppedLengthscale)) return theta_[j];
    return std::clamp(theta_[j], bounds_.least[j], bounds_.most[j]);
  }

  MatrixView<const double> X_;
  bool common_;
  LogBounds bounds_;
  std::vector<double> theta_;  // of the last apply
  Matrix<double> inputs_;      // in units of the lengthscales
  Matrix<double> pulled_;
};

class ScaledFeatures final : public ScaledInputs {
 public:
  ScaledFeatures(const feature::FeatureMap& unit, MatrixView<const double> X, bool common,
                 Context& context)
      : ScaledInputs(X, common, context), unit_(unit) {}
  int64_t features() const override { return unit_.features(); }
  void apply(std::span<const double> theta, Context& context, MatrixView<double> Z) override {
    scale(theta);
    unit_.apply(inputs(), {0, unit_.features()}, context, Z);
  }
  void pull_back(MatrixView<const double> G, Context& context, std::span<double> slope) override {
    derivatives_of(unit_).pull_back(inputs(), G, context, pulled());
    put_slopes(slope);
  }

 private:
  const feature::FeatureMap& unit_;
};

/// The lower triangle of the distances of rows u from each other: sums of magnitudes, or squares.
void fill_magnitudes(MatrixView<const double> u, MatrixView<double> K) {
  constexpr int64_t kBlock = 64;
  const double one = 1;
  for (int64_t i = 0; i < K.rows; i += kBlock) {
    const int64_t end = std::min(i + kBlock, K.rows);
    kernel::fill_distances(transform::add_absolute_differences, {&one, 1}, u.block_rows(i, end),
                           u.block_rows(0, end), K.block_rows(i, end).block_cols(0, end));
  }
}
void fill_squares(MatrixView<const double> u, MatrixView<double> K) {
  std::fill_n(K.data, K.rows * K.cols, 0.0);
  linalg::rank_update_rows(1.0, u, K);
  std::vector<double> squares(K.rows);
  for (int64_t i = 0; i < K.rows; ++i) squares[i] = K(i, i);
  for (int64_t i = 0; i < K.rows; ++i)
    for (int64_t j = 0; j < i; ++j) K(i, j) = std::max(squares[i] + squares[j] - 2 * K(i, j), 0.0);
}

/// The Gram matrix of rows u by a kernel of a norm, and its derivatives in u.
class NormGram {
 public:
  NormGram(const kernel::Kernel& unit, int64_t rows, Context& context)
      : unit_(unit), slopes_(rows, rows, context, "slopes of a kernel") {}

  void apply(MatrixView<const double> u, MatrixView<double> K) {
    of_magnitudes() ? fill_magnitudes(u, K) : fill_squares(u, K);
    for (int64_t i = 0; i < K.rows; ++i) {
      const std::span<double> row(K.row(i), static_cast<size_t>(i) + 1);
      row[i] = 0;
      unit_.take_slopes(row, {slopes_.view().row(i), row.size()});
      slopes_(i, i) = 0;
    }
  }
  /// out = dL/du given G = dL/dK.
  void pull_back(MatrixView<const double> u, MatrixView<const double> G, MatrixView<double> out) {
    of_magnitudes() ? pull_magnitudes(u, G, out) : pull_squares(u, G, out);
  }

 private:
  bool of_magnitudes() const { return unit_.traits().falls_with_magnitudes; }

  void pull_magnitudes(MatrixView<const double> u, MatrixView<const double> G,
                       MatrixView<double> out) const {
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    for (int64_t i = 0; i < G.rows; ++i)
      for (int64_t j = 0; j < i; ++j) {
        const double g = 2 * G(i, j) * slopes_(i, j);
        const double *const a = u.row(i), *const b = u.row(j);
        for (int64_t k = 0; k < u.cols; ++k) {
          const double slope = a[k] > b[k] ? g : a[k] < b[k] ? -g : 0.0;
          out(i, k) += slope;
          out(j, k) -= slope;
        }
      }
  }
  void pull_squares(MatrixView<const double> u, MatrixView<const double> G,
                    MatrixView<double> out) {
    const int64_t n = G.rows;
    std::vector<double> sums(n, 0.0);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) {
        const double g = G(i, j) * slopes_(i, j);
        slopes_(i, j) = g;
        sums[i] += g;
        sums[j] += g;
      }
    std::fill_n(out.data, n * out.cols, 0.0);
    linalg::multiply_symmetric(-4.0, slopes_.view(), u, out);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < u.cols; ++k) out(i, k) += 4 * sums[i] * u(i, k);
  }

  const kernel::Kernel& unit_;
  Matrix<double> slopes_;  // dk/ds; pull_squares leaves dL/ds
};

class ScaledGram final : public ScaledInputs {
 public:
  ScaledGram(const kernel::Kernel& unit, MatrixView<const double> X, bool common, Context& context)
      : ScaledInputs(X, common, context), gram_(unit, X.rows, context) {}
  int64_t features() const override { return 0; }
  void apply(std::span<const double> theta, Context& /*context*/, MatrixView<double> K) override {
    scale(theta);
    gram_.apply(inputs(), K);
  }
  void pull_back(MatrixView<const double> G, Context& /*context*/,
                 std::span<double> slope) override {
    gram_.pull_back(inputs(), G, pulled());
    put_slopes(slope);
  }

 private:
  NormGram gram_;
};

/// u = A x; theta = A, row after row.
class MetricGram final : public AdjustableFeatures {
 public:
  MetricGram(const kernel::Kernel& unit, MatrixView<const double> X, Context& context)
      : X_(X),
        inputs_(X.rows, X.cols, context, kWhat),
        pulled_(X.rows, X.cols, context, kWhat),
        gram_(unit, X.rows, context) {}
  int64_t features() const override { return 0; }
  void apply(std::span<const double> theta, Context& /*context*/, MatrixView<double> K) override {
    const MatrixView<const double> A(theta.data(), X_.cols, X_.cols);
    linalg::multiply(1.0, linalg::Transpose::no, X_, linalg::Transpose::yes, A, 0.0,
                     inputs_.view());
    gram_.apply(inputs_.view(), K);
  }
  void pull_back(MatrixView<const double> G, Context& /*context*/,
                 std::span<double> slope) override {
    gram_.pull_back(inputs_.view(), G, pulled_.view());
    linalg::multiply(1.0, linalg::Transpose::yes, pulled_.view(), linalg::Transpose::no, X_, 0.0,
                     MatrixView<double>(slope.data(), X_.cols, X_.cols));
  }

 private:
  static constexpr const char* kWhat = "learning a metric";
  MatrixView<const double> X_;
  Matrix<double> inputs_, pulled_;
  NormGram gram_;
};

/// Drops inputs with lengthscales at their bound or `times` the shortest, unless the likelihood
/// needs them.
int64_t drop(EvidenceObjective& objective, const LogBounds& bounds, double times, double value,
             std::span<double> theta) {
  const std::span<double> logs = theta.first(theta.size() - 1);
  const double limit = *std::ranges::min_element(logs) + std::log(times);
  std::vector<double> reduced(theta.begin(), theta.end()), gradient(theta.size());
  int64_t dropped = 0;
  for (size_t j = 0; j < logs.size(); ++j) {
    if (logs[j] <= limit && !bounds.at_most(j, logs[j])) continue;
    reduced[j] = std::log(kDroppedLengthscale);
    ++dropped;
  }
  if (dropped == 0) return 0;
  const double loss = objective(reduced, gradient) - value;
  if (!(loss <= static_cast<double>(dropped))) return 0;
  std::ranges::copy(reduced, theta.begin());
  return dropped;
}
int64_t drop_far(EvidenceObjective& objective, const LogBounds& bounds, double value,
                 std::span<double> theta) {
  for (const double times : kFarLonger)
    if (const int64_t dropped = drop(objective, bounds, times, value, theta); dropped > 0)
      return dropped;
  return 0;
}

void climb(EvidenceObjective& objective, const ArdOptions& options, std::span<double> theta,
           Ard& ard) {
  ard.pairs = options.pairs;
  const auto descent = objective.minimize(theta, options.most_iterations, &ard.pairs);
  ard.evaluations = descent.evaluations;
  ard.nats = objective.nats();
  ard.value = descent.value / objective.nats();
}

Ard learn(ScaledInputs& features, MatrixView<const double> X, MatrixView<const double> Y,
          const ArdOptions& options, Context& context, std::span<const double> weights) {
  EvidenceObjective objective(features, Y, weights, options.noise, context, options.unit);
  std::vector<double> theta(options.common ? 1 : static_cast<size_t>(X.cols),
                            std::log(options.lengthscale));
  theta.push_back(EvidenceObjective::phi_of(options.lambda));
  Ard ard;
  if (objective.varies()) climb(objective, options, theta, ard);
  const std::span<double> logs = std::span(theta).first(theta.size() - 1);
  const LogBounds& bounds = features.bounds();
  if (objective.varies())
    for (size_t j = 0; j < logs.size(); ++j)
      logs[j] = std::clamp(logs[j], bounds.least[j], bounds.most[j]);
  std::ranges::transform(logs, std::back_inserter(ard.climbed),
                         [](double l) { return std::exp(l); });
  ard.at_edge = objective.varies() && options.common && bounds.at_most(0, logs[0]);
  if (objective.varies() && !options.common) {
    ard.dropped = drop_far(objective, bounds, ard.value * objective.nats(), theta);
    for (int64_t j = 0; j < X.cols; ++j)
      if (column_is_constant(X, j)) logs[j] = std::log(kDroppedLengthscale);
  }
  for (const double one : logs)
    ard.lengthscale.push_back(one < std::log(kDroppedLengthscale) ? std::exp(one)
                                                                  : kDroppedLengthscale);
  ard.lengthscale.resize(X.cols, ard.lengthscale.front());
  ard.lambda = options.unit * EvidenceObjective::lambda_of(theta.back());
  return ard;
}

void require_start(const ArdOptions& options) {
  require(options.lengthscale > 0 && options.lambda > kLeastArdLambda, MERCER_INTERNAL,
          "lengthscales are learnt from %g and lambda %g", options.lengthscale, options.lambda);
}

}  // namespace

Ard learn_lengthscales(const feature::FeatureMap& unit, MatrixView<const double> X,
                       MatrixView<const double> Y, const ArdOptions& options, Context& context,
                       std::span<const double> weights) {
  require(unit.derivatives() != nullptr && unit.inputs() == X.cols, MERCER_INTERNAL,
          "lengthscales are learnt through a map of %ld inputs", unit.inputs());
  require_start(options);
  ScaledFeatures features(unit, X, options.common, context);
  return learn(features, X, Y, options, context, weights);
}

Ard learn_lengthscales(const kernel::Kernel& unit, MatrixView<const double> X,
                       MatrixView<const double> Y, const ArdOptions& options, Context& context,
                       std::span<const double> weights) {
  require_start(options);
  ScaledGram gram(unit, X, options.common, context);
  return learn(gram, X, Y, options, context, weights);
}

LearntMetric learn_metric(const kernel::Kernel& unit, MatrixView<const double> X,
                          MatrixView<const double> Y, const ArdOptions& options, Context& context,
                          std::span<const double> weights) {
  require_start(options);
  const int64_t d = X.cols;
  MetricGram gram(unit, X, context);
  EvidenceObjective objective(gram, Y, weights, options.noise, context, options.unit);
  std::vector<double> theta(d * d, 0.0);
  std::vector<EvidenceObjective::Prior> prior;
  for (int64_t k = 0; k < d * d; ++k) {
    if (k % (d + 1) == 0) theta[k] = 1 / options.lengthscale;
    prior.push_back({theta[k], kMetricDeviation / options.lengthscale});
  }
  objective.add_prior(std::move(prior));
  theta.push_back(EvidenceObjective::phi_of(options.lambda));
  LearntMetric learnt{Matrix<double>(d, d, context, "a metric")};
  learnt.pairs = options.pairs;
  if (objective.varies())
    learnt.value = objective.minimize(theta, options.most_iterations, &learnt.pairs).value;
  std::copy_n(theta.begin(), d * d, learnt.A.data());
  return learnt;
}

// X, its scaled copy and gradient; Z, its gradient and a product with A.
int64_t ard_bytes(int64_t rows, int64_t inputs, int64_t features, int64_t outputs) {
  return 8 * (3 * rows * features + features * features + rows * (4 * inputs + outputs));
}

std::vector<double> scaled(std::vector<double> lengthscales, double factor) {
  for (double& one : lengthscales)
    if (one < kDroppedLengthscale) one *= factor;
  return lengthscales;
}

std::vector<double> relevance(std::span<const double> lengthscale) {
  const double shortest = *std::ranges::min_element(lengthscale);
  std::vector<double> result;
  for (const double value : lengthscale)
    result.push_back(value < kDroppedLengthscale ? shortest / value : 0.0);
  return result;
}

}  // namespace mercer::model
