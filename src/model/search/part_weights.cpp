// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The weights of a sum's parts by the marginal likelihood, multiple kernel learning:
// k = sum_i w_i k_i with the w_i of the largest marginal likelihood (Girolami, Rogers 2005;
// Archambeau, Bach 2011), by the gradient in log w_i, which keeps them above 0: with G = dL/dK it is
// w_i sum G o K_i. The likelihood is that of the kernel's own values on some rows, so that the
// weights are those of the kernel and not of a map's draws, whatever the map. A common factor is
// lambda's.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "model/search/search_run.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr const char* kWeighing = "learning the weights of a sum's parts";
constexpr double kLeastWeight = 1e-8;  // of the largest
constexpr int64_t kWeighedRows = 1000;
constexpr double kStartingLambda = 1e-3;
constexpr double kWalkFactor = 1.4142135623730951;
constexpr int64_t kWalkSteps = 6;

bool is_scalar_sum(const kernel::Kernel& kernel) {
  const auto composition = kernel.composition();
  return composition && composition->rule == kernel::Composition::Rule::sum &&
         kernel.matrix() == nullptr;
}

}  // namespace

WeightedGram::WeightedGram(const kernel::Kernel& sum, MatrixView<const double> X,
                           Context& context) {
  const auto composition = sum.composition();
  for (const auto& part : composition->parts) {
    grams_.emplace_back(X.rows, X.rows, context, kWeighing);
    kernel::gram(*part, X, X, context, grams_.back().view());
  }
}

double WeightedGram::mean_diagonal(int64_t part) const {
  const Matrix<double>& K = grams_[part];
  double sum = 0;
  for (int64_t i = 0; i < K.rows(); ++i) sum += K(i, i) / static_cast<double>(K.rows());
  return sum;
}

void WeightedGram::apply(std::span<const double> theta, Context& /*context*/,
                         MatrixView<double> K) {
  weights_.clear();
  for (const double log_weight : theta) weights_.push_back(std::exp(log_weight));
  for (int64_t i = 0; i < K.rows; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      K(i, j) = 0;
      for (size_t part = 0; part < grams_.size(); ++part)
        K(i, j) += weights_[part] * grams_[part](i, j);
    }
}

void WeightedGram::pull_back(MatrixView<const double> G, Context& /*context*/,
                             std::span<double> slope) {
  for (size_t part = 0; part < grams_.size(); ++part) {
    double sum = 0;
    for (int64_t i = 0; i < G.rows; ++i)
      for (int64_t j = 0; j <= i; ++j) sum += (j < i ? 2 : 1) * G(i, j) * grams_[part](i, j);
    slope[part] = weights_[part] * sum;
  }
}

std::vector<double> learn_part_weights(const kernel::Kernel& sum, MatrixView<const double> X,
                                       MatrixView<const double> Y, double lambda, double noise,
                                       Context& context, std::span<const double> weights) {
  WeightedGram gram(sum, X, context);
  const int64_t parts = gram.parts();
  double unit = 0;
  for (int64_t i = 0; i < parts; ++i) unit += gram.mean_diagonal(i);
  EvidenceObjective objective(gram, Y, weights, noise, context, unit);
  std::vector<double> factors(parts, 1.0);
  if (!objective.varies()) return factors;
  std::vector<double> theta(parts, 0.0);
  theta.push_back(EvidenceObjective::phi_of(std::max(lambda, kLeastSignal)));
  objective.minimize(theta, ArdOptions{}.most_iterations);
  theta.pop_back();
  const double most = *std::ranges::max_element(theta);
  double now = 0;
  for (int64_t i = 0; i < parts; ++i) {
    factors[i] = std::max(std::exp(theta[i] - most), kLeastWeight);
    now += factors[i] * gram.mean_diagonal(i);
  }
  for (double& factor : factors) factor *= unit / now;
  return factors;
}

// The stage of a search.

void check_part_weights(const SearchRun& run) {
  if (!run.options.learns_part_weights) return;
  const auto kernel = run.start.partial->kernel();
  const char* const bar = run.X.sparse()                       ? "sparse rows"
                          : run.start.coupling != nullptr      ? "outputs that are learnt together"
                          : !is_complete(run.Y, run.chosen_by) ? "targets that are missing"
                          : run.start.partial->shapes().size() > 1 ? "a mixture left open"
                                                                   : nullptr;
  require(bar == nullptr, MERCER_UNSUPPORTED, "part_weights = learnt with %s, expected them given",
          bar);
  require(is_scalar_sum(*kernel), MERCER_UNSUPPORTED,
          "part_weights = learnt of kernel %s, expected a sum of kernels of one output",
          std::string(kernel->name()).c_str());
}

void choose_part_weights(SearchRun& run, Candidate& chosen) {
  if (!run.options.learns_part_weights) return;
  const std::vector<int64_t> sample =
      sample_rows(run.split.train, kWeighedRows, run.fit.select.seed);
  const auto [X, Y] = learning_rows(run, chosen.setting, sample);
  const double scale = chosen.lengthscales.empty() ? 1 : chosen.lengthscales[0];
  const double lambda =
      chosen.trial.points.empty() ? kStartingLambda : chosen.point.lambda / run.unit;
  const std::vector<double> factors = learn_part_weights(
      *chosen.setting.partial->kernel_of(scale), X.view(), Y.view(), lambda, known_noise(run),
      run.context, solver::numbers_of(run.learnt_weights, sample));
  chosen.setting.partial = &run.keep(chosen.setting.partial->with_part_weights(factors));
  if (chosen.lengthscales.empty()) return;
  LengthscaleWalk walk = factor_walk(run, kInputStage, chosen.setting, chosen.lengthscales,
                                     run.sizes.fine, chosen.trial);
  if (run.searches_lengthscale()) walk.climb(kWalkFactor, kWalkSteps);
  const LengthscaleWalk::Choice choice = choice_of(run, walk);
  chosen.lengthscales = scaled(chosen.lengthscales, choice.tried->lengthscale);
  chosen.take(choice.tried->trial, choice.point);
}

}  // namespace mercer::model
