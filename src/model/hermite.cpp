// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of d^p phi enter the normal equations like rows of values. The intercept has no derivative,
// so only values are centred: the system adds sums of values about their mean and sums of
// derivatives about zero.
#include "model/hermite.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "feature/derivatives.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/prepare/input_domain.h"
#include "model/rows/row_sets.h"
#include "solver/block_statistics.h"
#include "solver/primal_system.h"
#include "solver/row_statistics.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr const char* kHermiteLearning = "Hermite learning";

bool is_value(const Observations& set) { return set.partial.empty(); }

/// Rows of all sets, and n of the penalty.
struct RowCounts {
  int64_t all = 0, penalty = 0;
};
RowCounts counts_of(std::span<const Observations> sets) {
  RowCounts counts;
  for (const Observations& set : sets) {
    counts.all += set.X.rows;
    counts.penalty += is_value(set) ? set.X.rows : 0;
  }
  if (counts.penalty == 0) counts.penalty = std::max<int64_t>(1, sets[0].X.rows);
  return counts;
}

/// Rows of positive weight.
double observed_rows(std::span<const Observations> sets) {
  int64_t rows = 0;
  for (const Observations& set : sets)
    rows += set.X.rows - std::ranges::count(set.row_weights, 0.0);
  return static_cast<double>(rows);
}

void require_finite(size_t s, const char* name, MatrixView<const double> A) {
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
  check_domain(map.kernel(), ("sets[" + std::to_string(s) + "].X").c_str(), set.X);
}

void check(const feature::FeatureMap& map, std::span<const Observations> sets,
           const HermiteOptions& options) {
  require(!map.is_complex(), MERCER_UNSUPPORTED,
          "the map is complex, expected a real one for Hermite learning");
  map.require_one_output();
  // The penalty is the weights' norm, which of kernel values is not the function's.
  require(!map.has_kernel_columns(), MERCER_UNSUPPORTED,
          "map %s with sets of observations, expected a map of features: nystroem with landmarks "
          "supplied and their order has the same functions and their norm",
          std::string(map.name()).c_str());
  require(!sets.empty() && sets[0].X.rows > 0 && sets[0].Y.cols > 0, MERCER_INVALID_ARGUMENT,
          "no observations, expected sets[0] with at least one row and one output");
  require(std::isfinite(options.lambda) && options.lambda >= 0, MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a finite number >= 0", options.lambda);
  check_finite(sets);
  for (size_t s = 0; s < sets.size(); ++s) check_set(map, s, sets[s], sets[0].Y.cols);
  require(observed_rows(sets) > 0, MERCER_INVALID_ARGUMENT,
          "weights of sets of observations sum to 0, expected a positive sum");
  if (!options.select) return;
  check(*options.select);
  check_folds(*options.select, counts_of(sets).all);
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

/// Calls body(Z, Y, weights) for rows of values or of derivatives, a block at a time.
template <class Body>
void for_each_block(const feature::FeatureMap& map, size_t s, const Observations& set,
                    MatrixView<double> storage, Context& context, const Body& body) {
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
    body(MatrixView<const double>(Z), set.Y.block_rows(i0, i1), weights);
    stage.advance(i1 - i0);
  }
}

Matrix<double> block_of(const feature::FeatureMap& map, Context& context) {
  return {solver::RowStatistics::kRowBlock, map.features(), context, "a block of derivatives"};
}

/// The sums of all sets of values, or of derivatives.
solver::RowStatistics sums_of(const feature::FeatureMap& map, std::span<const Observations> sets,
                              bool values, Context& context, Stage& stage) {
  solver::RowStatistics statistics(map.features(), sets[0].Y.cols, context);
  const Matrix<double> storage = block_of(map, context);
  for (size_t s = 0; s < sets.size(); ++s) {
    if (is_value(sets[s]) != values) continue;
    stage.part(sets[s].X.rows, [&] {
      for_each_block(map, s, sets[s], storage.view(), context,
                     [&](const auto& Z, const auto& Y, const auto& weights) {
                       statistics.add(Z, Y, context, weights);
                     });
    });
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
void add_centered(const solver::RowStatistics& statistics, System& system) {
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

/// Sums over the rows of all sets.
struct SetSums {
  solver::RowStatistics values, derivatives;
  SetSums(const feature::FeatureMap& map, std::span<const Observations> sets, Context& context,
          Stage& stage)
      : values(sums_of(map, sets, true, context, stage)),
        derivatives(sums_of(map, sets, false, context, stage)) {}
  double weight() const { return values.weight() + derivatives.weight(); }
  void subtract(const SetSums& other) {
    values.subtract(other.values);
    derivatives.subtract(other.derivatives);
  }
  void merge(const SetSums& other) {
    values.merge(other.values);
    derivatives.merge(other.derivatives);
  }
};

System system_of(const SetSums& sums, bool center, Context& context) {
  const int64_t D = sums.values.features(), m = sums.values.outputs();
  const std::vector<double> zeros(m);
  System system{Matrix<double>(D, D, context, kHermiteLearning),
                Matrix<double>(D, m, context, kHermiteLearning), zeros, std::vector<double>(D),
                zeros};
  system.gram.fill(0);
  system.cross.fill(0);
  if (center && sums.values.weight() > 0) {
    add_centered(sums.values, system);
  } else {
    add_plain(sums.values, context, system);
  }
  add_plain(sums.derivatives, context, system);
  return system;
}

/// The normal equations as those of ridge regression without an intercept.
solver::RowStatistics statistics_of(const System& system, const RowCounts& counts,
                                    Context& context) {
  const int64_t D = system.gram.rows(), m = system.cross.cols();
  solver::RowStatistics statistics(D, m, context);
  const std::vector<double> features(D), outputs(m);
  solver::set_plain_sums(statistics, {counts.penalty, system.gram.view(), system.cross.view(),
                                      features, outputs, system.squared_outputs});
  statistics.parts().rows = counts.all;  // their rank; the penalty's n is the weight
  return statistics;
}

void set_intercepts(const System& system, solver::Weights& weights) {
  for (int64_t o = 0; o < system.cross.cols(); ++o) {
    double intercept = system.mean_outputs[o];
    for (int64_t j = 0; j < system.cross.rows(); ++j)
      intercept -= system.mean_features[j] * weights.w(j, o);
    weights.intercept[o] = intercept;
  }
}

// The posterior.

/// The weighted squares of each output's residuals, row by row: from sums they would be lost where
/// observations are exact.
std::vector<double> residual_squares(const feature::FeatureMap& map,
                                     std::span<const Observations> sets,
                                     const solver::Weights& weights, Context& context,
                                     Stage& stage) {
  std::vector<double> squares(weights.intercept.size());
  const int64_t m = std::ssize(squares);
  const Matrix<double> storage = block_of(map, context),
                       scores(storage.rows(), m, context, "predictions of a block");
  for (size_t s = 0; s < sets.size(); ++s) {
    const double share = is_value(sets[s]) ? 1 : 0;
    const auto add = [&](MatrixView<const double> Z, MatrixView<const double> Y,
                         std::span<const double> row_weights) {
      const MatrixView<double> f = scores.view().block_rows(0, Z.rows);
      solver::linear_scores(weights, Z, f);
      for (int64_t i = 0; i < Z.rows; ++i)
        for (int64_t o = 0; o < m; ++o)
          squares[o] +=
              row_weights[i] * std::pow(Y(i, o) - f(i, o) + (1 - share) * weights.intercept[o], 2);
    };
    stage.part(sets[s].X.rows,
               [&] { for_each_block(map, s, sets[s], storage.view(), context, add); });
  }
  return squares;
}

struct Solved {
  double lambda;
  solver::Weights weights;
};

/// value_weight: of all rows of values.
std::shared_ptr<const solver::Posterior> posterior_of(const feature::FeatureMap& map,
                                                      std::span<const Observations> sets,
                                                      const HermiteOptions& options,
                                                      const System& system, double value_weight,
                                                      const Solved& solved, Context& context,
                                                      Stage& stage) {
  const Value* const given = options.parameters.find("noise");
  solver::MixedRows rows{statistics_of(system, counts_of(sets), context),
                         system.mean_features,
                         options.center && value_weight > 0 ? 1 / value_weight : 0,
                         observed_rows(sets),
                         {}};
  require(rows.observed > 1 || rows.share == 0, MERCER_INVALID_ARGUMENT,
          "one observation, of which an intercept leaves no variance, expected at least 2");
  if (given == nullptr) rows.squares = residual_squares(map, sets, solved.weights, context, stage);
  return std::make_shared<const solver::Posterior>(std::move(rows), solved.lambda, solved.weights,
                                                   given == nullptr ? 0 : std::get<double>(*given),
                                                   context);
}

// The choice of lambda by folds over the rows of all sets.

/// Copies of some rows, which are counted set after set.
struct ChosenSets {
  std::vector<Matrix<double>> numbers;
  std::vector<std::vector<double>> weights;
  std::vector<Observations> sets;

  ChosenSets(std::span<const Observations> of, const std::vector<int64_t>& rows, Context& context) {
    int64_t first = 0;
    auto row = rows.begin();
    for (const Observations& set : of) {
      std::vector<int64_t> own;
      for (; row != rows.end() && *row < first + set.X.rows; ++row) own.push_back(*row - first);
      first += set.X.rows;
      numbers.push_back(copied_targets(set.X, own, context));
      const MatrixView<const double> X = numbers.back().view();
      numbers.push_back(copied_targets(set.Y, own, context));
      weights.push_back(solver::numbers_of(set.row_weights, own));
      sets.push_back({set.partial, set.weight, X, numbers.back().view(), weights.back()});
    }
  }
};

/// Rows of any set at one place are held out together: a number for each place.
std::vector<double> places_of(std::span<const Observations> sets) {
  std::map<std::vector<double>, double> known;
  std::vector<double> places;
  for (const Observations& set : sets)
    for (int64_t i = 0; i < set.X.rows; ++i) {
      const std::vector<double> x(set.X.row(i), set.X.row(i) + set.X.cols);
      places.push_back(known.emplace(x, static_cast<double>(known.size())).first->second);
    }
  return places;
}

/// The weighted squared errors of values and derivatives, summed.
double squared_errors(solver::Weights weights, const SetSums& held_out) {
  const auto sum = [&](const solver::RowStatistics& of) {
    if (!(of.weight() > 0)) return 0.0;
    const std::vector<double> errors = solver::mean_squared_error(weights, of);
    return of.weight() * std::reduce(errors.begin(), errors.end());
  };
  const double of_values = sum(held_out.values);
  weights.intercept.assign(weights.intercept.size(), 0.0);
  return of_values + sum(held_out.derivatives);
}

/// Lambdas with the mean squared errors of rows held out. total: all rows, and all rows again.
std::vector<PathPoint> validated_path(const feature::FeatureMap& map,
                                      std::span<const Observations> sets,
                                      const HermiteOptions& options, Context& context, Stage& stage,
                                      SetSums& total) {
  const SelectionOptions& how = *options.select;
  const std::vector<double> places = places_of(sets);
  std::vector<PathPoint> path = empty_path(how);
  double weight = 0;
  for (const Split& split :
       fold_splits(all_rows(std::ssize(places)), how.folds, how.seed, {.groups = places})) {
    const ChosenSets train(sets, split.train, context), part(sets, split.held_out, context);
    const SetSums held_out(map, part.sets, context, stage);
    if (!(held_out.weight() > 0)) continue;
    total.subtract(held_out);
    require(total.weight() > 0, MERCER_INVALID_ARGUMENT,
            "the rows of a fold have all of the weight, expected rows of positive weight in every "
            "fold of %ld",
            how.folds);
    const System system = system_of(total, options.center, context);
    const solver::PrimalSystem solved(statistics_of(system, counts_of(train.sets), context), false,
                                      context);
    for (PathPoint& point : path) {
      solver::Weights weights = solved.solve(point.lambda);
      set_intercepts(system, weights);
      point.score += squared_errors(std::move(weights), held_out);
    }
    weight += held_out.weight();
    total.merge(held_out);
  }
  for (PathPoint& point : path) point.score /= weight;
  return path;
}

void choose_lambda(const feature::FeatureMap& map, std::span<const Observations> sets,
                   HermiteOptions options, Context& context, Stage& stage, SetSums& sums,
                   Model& model) {
  if (map.kernel().spectral_law() != nullptr) model.fit.select.unit = map.kernel().value_at_zero();
  options.select = model.fit.select;
  model.path = validated_path(map, sets, options, context, stage, sums);
  model.fit.select.lambda = best_point(model.path).lambda;
}

FitOptions fitted_as(const HermiteOptions& options) {
  return {.estimate = {.entry = options.entry,
                       .parameters = options.parameters.entries().empty()
                                         ? default_parameters(*options.entry)
                                         : options.parameters,
                       .center = options.center,
                       .precision = feature::Precision::f64},
          .prepare = {.standardize = false, .extrapolation = Extrapolation::free},
          .select = options.select.value_or(
              SelectionOptions{.selection = Selection::fixed, .lambda = options.lambda})};
}

}  // namespace

void check_finite(std::span<const Observations> sets) {
  for (size_t s = 0; s < sets.size(); ++s) {
    require_finite(s, "X", sets[s].X);
    require_finite(s, "Y", sets[s].Y);
  }
}

Model fit_hermite(std::shared_ptr<const feature::FeatureMap> map,
                  std::span<const Observations> sets, const HermiteOptions& options,
                  Context& context) {
  check(*map, sets, options);
  Model model;
  model.fit = fitted_as(options);
  const RowCounts counts = counts_of(sets);
  model.rows = counts.all;
  const int64_t factor = solver::cholesky_rows(map->features());
  const bool sure = options.entry->keeps_posterior;
  Stage stage(context, ((options.select ? 2 : 1) + sure) * counts.all + factor);
  SetSums sums(*map, sets, context, stage);
  if (options.select) choose_lambda(*map, sets, options, context, stage, sums, model);
  const double lambda = model.fit.select.lambda;
  stage.share(factor);
  const System system = system_of(sums, options.center, context);
  Solved solved{lambda, solver::ridge_cholesky(statistics_of(system, counts, context), false,
                                               lambda, context)};
  set_intercepts(system, solved.weights);
  stage.advance(factor);
  if (sure)
    model.posterior =
        posterior_of(*map, sets, options, system, sums.values.weight(), solved, context, stage);
  model.predictor = make_linear(std::move(solved.weights));
  model.map = std::move(map);
  return model;
}

// Sets as a plan asks for them.

Matrix<double> all_places(std::span<const Observations> sets, Context& context) {
  int64_t rows = 0;
  for (const Observations& set : sets) rows = checked_add(rows, set.X.rows, "rows of sets");
  const int64_t d = sets.empty() ? 0 : sets[0].X.cols;
  require(rows > 0 && d > 0, MERCER_INVALID_ARGUMENT,
          "no observations, expected sets[0] with at least one row and one input");
  Matrix<double> places(rows, d, context, "the rows of all sets");
  int64_t first = 0;
  for (const Observations& set : sets) {
    require(set.X.cols == d, MERCER_DIMENSION_MISMATCH,
            "a set of observations has %ld inputs, expected %ld as sets[0]", set.X.cols, d);
    solver::copy_rows(set.X, places.view().block_rows(first, first + set.X.rows));
    first += set.X.rows;
  }
  return places;
}

HermiteOptions options_of_sets(const FitPlan& plan, bool has_map) {
  const FitOptions& fit = plan.search.fit;
  const auto is_of = [](const std::string& key, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return key == name || (key.starts_with(name) && key[name.size()] == '.');
    });
  };
  for (const std::string& key : plan.keys)
    require(is_of(key, {"model", "lambda", "noise", "center", "seed", "select"}) ||
                (!has_map && is_of(key, {"map", "lengthscale"})),
            MERCER_UNSUPPORTED,
            "key \"%s\" of sets of observations, expected model, lambda, noise, select, seed and "
            "center, and map and lengthscale without a map of your own: X is what the map is given",
            key.c_str());
  const ModelEntry& entry = *fit.estimate.entry;
  require(entry.least_squares, MERCER_UNSUPPORTED,
          "model = \"%s\" of sets of observations, expected ridge or gp", entry.name);
  HermiteOptions options{
      fit.select.lambda, fit.estimate.center, {}, &entry, fit.estimate.parameters};
  if (fit.select.selection == Selection::fixed) return options;
  options.select = fit.select;
  if (plan.open_selection) options.select->selection = Selection::folds;
  require(options.select->selection == Selection::folds, MERCER_UNSUPPORTED,
          "select.by = %s of sets of observations, expected folds, or \"lambda\"",
          word_of(fit.select.selection));
  return options;
}

}  // namespace mercer::model
