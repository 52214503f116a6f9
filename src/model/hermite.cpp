// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of d^p phi enter the normal equations like rows of values. The intercept has no derivative,
// so only values are centred: the system adds sums of values about their mean and sums of
// derivatives about zero.
#include "model/hermite.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feature/derivatives.h"
#include "model/estimator/model_entry.h"
#include "model/prepare/input_domain.h"
#include "solver/block_statistics.h"
#include "solver/primal_system.h"
#include "solver/row_statistics.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr const char* kHermiteLearning = "Hermite learning";

bool is_value(const Observations& set) { return set.partial.empty(); }

void check_finite(size_t s, const char* name, MatrixView<const double> A) {
  for (int64_t i = 0; i < A.rows; ++i) {
    for (int64_t j = 0; j < A.cols; ++j) {
      require(std::isfinite(A(i, j)), MERCER_INVALID_ARGUMENT,
              "sets[%zu].%s[%ld, %ld] = %g, expected a finite number", s, name, i, j, A(i, j));
    }
  }
}

void check_set(const feature::FeatureMap& map, size_t s, const Observations& set, int64_t outputs) {
  require(set.X.cols == map.inputs() && set.Y.cols == outputs && set.Y.rows == set.X.rows,
          MERCER_DIMENSION_MISMATCH,
          "sets[%zu]: X is %ld x %ld and Y %ld x %ld, expected as many rows each, the map's "
          "%ld inputs and %ld outputs as in sets[0]",
          s, set.X.rows, set.X.cols, set.Y.rows, set.Y.cols, map.inputs(), outputs);
  require(std::isfinite(set.weight) && set.weight > 0, MERCER_INVALID_ARGUMENT,
          "sets[%zu].weight = %g, expected a finite number > 0", s, set.weight);
  require(is_value(set) || map.derivatives() != nullptr, MERCER_UNSUPPORTED,
          "map %s of kernel %s has no derivatives, which sets[%zu] asks for",
          std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str(), s);
  solver::require_weights(set.row_weights, set.X.rows);
  check_finite(s, "X", set.X);
  check_finite(s, "Y", set.Y);
  check_domain(map.kernel(), ("sets[" + std::to_string(s) + "].X").c_str(), set.X);
}

void check(const feature::FeatureMap& map, std::span<const Observations> sets,
           const HermiteOptions& options) {
  require(!map.is_complex(), MERCER_UNSUPPORTED,
          "the map is complex, expected a real one for Hermite learning");
  map.require_one_output();
  require(!sets.empty() && sets[0].X.rows > 0 && sets[0].Y.cols > 0, MERCER_INVALID_ARGUMENT,
          "no observations, expected sets[0] with at least one row and one output");
  require(std::isfinite(options.lambda) && options.lambda >= 0, MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a finite number >= 0", options.lambda);
  for (size_t s = 0; s < sets.size(); ++s) check_set(map, s, sets[s], sets[0].Y.cols);
}

/// Refuses a derivative at the boundary of the kernel's domain, where square roots have none,
/// naming the input.
void check_derivatives(const feature::FeatureMap& map, size_t s, const Observations& set,
                       int64_t first, MatrixView<const double> Z) {
  for (int64_t i = 0; i < Z.rows; ++i) {
    const auto finite = [](double z) { return std::isfinite(z); };
    if (std::all_of(Z.row(i), Z.row(i) + Z.cols, finite)) continue;
    const double* const x = set.X.row(first + i);
    const std::optional<kernel::InputBound> bound = map.kernel().traits().input_bound;
    for (const kernel::PartialFactor& one : set.partial) {
      require(!bound || x[one.input] > bound->at(one.input), MERCER_INVALID_ARGUMENT,
              "sets[%zu].X[%ld, %ld] = %g, where map %s of kernel %s has no finite derivative in "
              "this input, expected a number > %g",
              s, first + i, one.input, x[one.input], std::string(map.name()).c_str(),
              std::string(map.kernel().name()).c_str(), bound->at(one.input));
    }
    fail(MERCER_INVALID_ARGUMENT,
         "sets[%zu].X: the derivative of map %s of kernel %s is not finite at row %ld", s,
         std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str(), first + i);
  }
}

/// Rows of values or of derivatives, a block at a time.
void add_set(const feature::FeatureMap& map, size_t s, const Observations& set,
             MatrixView<double> storage, Context& context, solver::RowStatistics& statistics) {
  constexpr int64_t kRows = solver::RowStatistics::kRowBlock;
  Stage stage(context, 2 * set.X.rows);
  const feature::Derivative what{feature::Derivative::Kind::partials, {set.partial}};
  std::vector<double> weights;
  for (int64_t i0 = 0; i0 < set.X.rows; i0 += kRows) {
    const int64_t i1 = std::min(i0 + kRows, set.X.rows);
    const MatrixView<const double> X = set.X.block_rows(i0, i1);
    const MatrixView<double> Z = storage.block_rows(0, i1 - i0);
    stage.share(i1 - i0);
    if (is_value(set)) {
      map.apply(X, {0, map.features()}, context, Z);
    } else {
      derivatives_of(map).differentiate(what, X, context, Z);
      check_derivatives(map, s, set, i0, Z);
    }
    stage.advance(i1 - i0);
    stage.share(i1 - i0);
    weights.assign(i1 - i0, set.weight);
    for (size_t i = 0; i < weights.size() && !set.row_weights.empty(); ++i)
      weights[i] *= set.row_weights[static_cast<size_t>(i0) + i];
    statistics.add(MatrixView<const double>(Z), set.Y.block_rows(i0, i1), context, weights);
    stage.advance(i1 - i0);
  }
}

/// The sums of all sets of values, or of derivatives.
solver::RowStatistics sums_of(const feature::FeatureMap& map, std::span<const Observations> sets,
                              bool values, Context& context, Stage& stage) {
  solver::RowStatistics statistics(map.features(), sets[0].Y.cols, context);
  const Matrix<double> storage(solver::RowStatistics::kRowBlock, map.features(), context,
                               "a block of derivatives");
  for (size_t s = 0; s < sets.size(); ++s) {
    if (is_value(sets[s]) != values) continue;
    stage.part(sets[s].X.rows,
               [&] { add_set(map, s, sets[s], storage.view(), context, statistics); });
  }
  solver::require_finite_features(statistics);
  return statistics;
}

/// The normal equations, and the means that give the intercept.
struct System {
  Matrix<double> gram, cross;
  std::vector<double> squared_outputs;
  std::vector<double> mean_features, mean_outputs;  // of the values
};

void add_plain(const solver::RowStatistics& statistics, Context& context, System& system) {
  const int64_t D = statistics.features(), m = statistics.outputs();
  const Matrix<double> gram(D, D, context, kHermiteLearning),
      cross(D, m, context, kHermiteLearning);
  solver::write_plain_gram(statistics, gram.view());
  solver::write_plain_cross(statistics, cross.view());
  for (int64_t k = 0; k < D * D; ++k) system.gram.data()[k] += gram.data()[k];
  for (int64_t k = 0; k < D * m; ++k) system.cross.data()[k] += cross.data()[k];
  const std::vector<double> squares = solver::plain_sum_squared_outputs(statistics);
  for (size_t o = 0; o < squares.size(); ++o) system.squared_outputs[o] += squares[o];
}

/// Moves sums from the origin to the mean.
void add_centred(const solver::RowStatistics& statistics, System& system) {
  const auto s = statistics.sum_features(), t = statistics.sum_outputs();
  const double n = statistics.weight();
  for (int64_t i = 0; i < statistics.features(); ++i) {
    const double share = s[i] / n;
    for (int64_t j = 0; j <= i; ++j) system.gram(i, j) += statistics.gram()(i, j) - share * s[j];
    for (int64_t j = 0; j < statistics.outputs(); ++j)
      system.cross(i, j) += statistics.cross()(i, j) - share * t[j];
  }
  for (size_t o = 0; o < t.size(); ++o)
    system.squared_outputs[o] += statistics.sum_squared_outputs()[o] - t[o] * t[o] / n;
  system.mean_features = solver::plain_sum_features(statistics);
  system.mean_outputs = solver::plain_sum_outputs(statistics);
  for (double& sum : system.mean_features) sum /= n;
  for (double& sum : system.mean_outputs) sum /= n;
}

System system_of(const feature::FeatureMap& map, std::span<const Observations> sets, bool center,
                 Context& context, Stage& stage) {
  const int64_t D = map.features(), m = sets[0].Y.cols;
  const std::vector<double> zeros(m);
  System system{Matrix<double>(D, D, context, kHermiteLearning),
                Matrix<double>(D, m, context, kHermiteLearning), zeros, std::vector<double>(D),
                zeros};
  system.gram.fill(0);
  system.cross.fill(0);
  {
    const solver::RowStatistics values = sums_of(map, sets, true, context, stage);
    if (center && values.weight() > 0) {
      add_centred(values, system);
    } else {
      add_plain(values, context, system);
    }
  }
  add_plain(sums_of(map, sets, false, context, stage), context, system);
  return system;
}

/// n of the penalty.
int64_t penalty_rows(std::span<const Observations> sets) {
  int64_t rows = 0;
  for (const Observations& set : sets) rows += is_value(set) ? set.X.rows : 0;
  return rows > 0 ? rows : sets[0].X.rows;
}

solver::Weights solve(System&& system, int64_t n, double lambda, Context& context) {
  const int64_t D = system.gram.rows(), m = system.cross.cols();
  solver::RowStatistics statistics(D, m, context);
  const std::vector<double> features(D), outputs(m);
  solver::set_plain_sums(statistics, {n, system.gram.view(), system.cross.view(), features, outputs,
                                      system.squared_outputs});
  solver::Weights weights = solver::ridge_cholesky(std::move(statistics), false, lambda, context);
  for (int64_t o = 0; o < m; ++o) {
    double intercept = system.mean_outputs[o];
    for (int64_t j = 0; j < D; ++j) intercept -= system.mean_features[j] * weights.w(j, o);
    weights.intercept[o] = intercept;
  }
  return weights;
}

FitOptions fitted_as(const HermiteOptions& options) {
  return {.estimate = {.parameters = default_parameters(ridge_model()),
                       .center = options.center,
                       .precision = feature::Precision::f64},
          .prepare = {.standardize = false, .extrapolation = Extrapolation::free},
          .select = {.selection = Selection::fixed, .lambda = options.lambda}};
}

}  // namespace

Model fit_hermite(std::shared_ptr<const feature::FeatureMap> map,
                  std::span<const Observations> sets, const HermiteOptions& options,
                  Context& context) {
  check(*map, sets, options);
  Model model;
  model.fit = fitted_as(options);
  for (const Observations& set : sets) model.rows += set.X.rows;
  const int64_t factor = solver::cholesky_rows(map->features());
  Stage stage(context, model.rows + factor);
  System system = system_of(*map, sets, options.center, context, stage);
  stage.share(factor);
  model.predictor =
      make_linear(solve(std::move(system), penalty_rows(sets), options.lambda, context));
  model.map = std::move(map);
  return model;
}

}  // namespace mercer::model
