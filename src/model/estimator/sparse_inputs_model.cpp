// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Regression that selects inputs by derivatives (Rosasco, Villa, Mosci, Santoro, Verri 2013): with
// f = theta'phi + b and weights w_i of sum W the least
//   1/W sum_i w_i ||y_i - f(x_i)||^2 + lambda ||theta||^2 + 2 tau sum_a ||d_a f||,
//   ||d_a f||^2 = 1/W sum_i w_i ||d_a f(x_i)||^2 = tr theta'G_a theta,
// a group norm for each prepared input a, which is 0 for an input that f does not depend on. Sums of
// D x D numbers for each input are all that is kept of the rows; solver/group_norms.h minimises.
// lambda is that of ridge; tau, of factors of 2 and 0, is the largest whose error on rows held out
// is within one standard error of the least.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "feature/derivatives.h"
#include "linalg/blas.h"
#include "model/estimator/model_entry.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "model/select/selection.h"
#include "solver/block_statistics.h"
#include "solver/group_norms.h"
#include "solver/primal_system.h"

namespace mercer::model {
namespace {

using solver::BlockSource;

constexpr const char* kPenalty = "tau";
constexpr const char* kSelectedFrom = "threshold";
constexpr const char* kGapTolerance = "tolerance";
constexpr const char* kSlopes = "derivatives of features in every input";
constexpr const char* kSlopeSums = "sums of derivatives for every input";
constexpr int64_t kSlopesAtOnce = int64_t{1} << 22;
constexpr int64_t kTaus = 12;              // that are tried beside 0
constexpr double kJudgedTolerance = 1e-3;  // of fits that are judged: far below errors of rows

// Sums over rows.

struct PenaltySums {
  solver::RowStatistics rows;
  std::vector<Matrix<double>> slopes;  // W G_a, lower triangles

  PenaltySums(int64_t D, int64_t outputs, int64_t inputs, Context& context)
      : rows(D, outputs, context) {
    for (int64_t a = 0; a < inputs; ++a) {
      slopes.emplace_back(D, D, context, kSlopeSums);
      slopes.back().fill(0);
    }
  }
  void add(double sign, const PenaltySums& other) {
    sign > 0 ? rows.merge(other.rows) : rows.subtract(other.rows);
    for (size_t a = 0; a < slopes.size(); ++a) linalg::add(sign, other.entries(a), entries(a));
  }
  std::span<double> entries(size_t a) const {
    return {slopes[a].data(), static_cast<size_t>(slopes[a].rows() * slopes[a].cols())};
  }
};

/// Adds the rows' d_a phi d_a phi' to the sums of each input a.
void add_slopes(const feature::FeatureMap& map, const BlockSource& inputs, PenaltySums& sums,
                Context& context) {
  const int64_t d = map.inputs(), D = map.row_length();
  const int64_t most = std::clamp<int64_t>(kSlopesAtOnce / d / D, 1, 1024);
  const feature::Derivatives& derivatives = feature::derivatives_of(map);
  const Matrix<double> storage(most, checked_multiply(d, D, kSlopes), context, kSlopes);
  inputs.for_each_target(context, [&](MatrixView<const double> X, std::span<const double> w) {
    for (int64_t i0 = 0; i0 < X.rows; i0 += most) {
      const int64_t i1 = std::min(i0 + most, X.rows);
      const MatrixView<double> block = storage.view().block_rows(0, i1 - i0);
      derivatives.differentiate({feature::Derivative::Kind::gradient}, X.block_rows(i0, i1),
                                context, block);
      if (!w.empty()) solver::scale_by_roots(w.subspan(i0, i1 - i0), block);
      for (int64_t a = 0; a < d; ++a)
        linalg::rank_update(1, MatrixView<const double>(block.block_cols(a * D, (a + 1) * D)),
                            sums.slopes[a].view());
      context.checkpoint();
    }
  });
}

PenaltySums sums_of(const feature::FeatureMap& map, const BlockSource& rows, Context& context) {
  PenaltySums sums(rows.features(), rows.outputs(), map.inputs(), context);
  solver::add_blocks(rows, sums.rows, context);
  sums.rows = solver::take_reduced(rows, std::move(sums.rows));
  add_slopes(map, *rows.input_rows(), sums, context);
  for (size_t a = 0; a < sums.slopes.size(); ++a) solver::reduce(rows, sums.entries(a));
  solver::require_finite_features(sums.rows);
  return sums;
}

// The fit of given sums, for tau after tau.

class PenalisedFit {
 public:
  PenalisedFit(const PenaltySums& sums, bool center, double lambda, Context& context)
      : system_(problem_of(sums, center, lambda, context), context) {}

  const solver::GroupNormSystem& system() const { return system_; }
  solver::GroupNormSolution solve(double tau, double tolerance, Context& context) const {
    return system_.solve(tau, tolerance, context);
  }
  solver::Weights weights(Matrix<double> theta) const {
    std::vector<double> intercept = solver::intercepts(means_.row, theta.view());
    return {std::move(theta), std::move(intercept)};
  }

 private:
  solver::GroupNormProblem problem_of(const PenaltySums& sums, bool center, double lambda,
                                      Context& context) {
    solver::RowStatistics rows = sums.rows.clone(context);
    means_ = solver::center_in_place(rows, center);
    const double W = rows.weight();
    solver::GroupNormProblem problem{solver::copy_of(rows.gram(), context, kSlopeSums),
                                     solver::copy_of(rows.cross(), context, kSlopeSums),
                                     {}};
    const int64_t D = problem.H.rows();
    for (int64_t j = 0; j < D; ++j) {
      for (int64_t k = 0; k < j; ++k) problem.H(j, k) /= W;
      problem.H(j, j) = problem.H(j, j) / W + lambda;
      for (int64_t k = 0; k < problem.C.cols(); ++k) problem.C(j, k) /= W;
    }
    for (size_t a = 0; a < sums.slopes.size(); ++a) {
      problem.G.push_back(solver::copy_of(sums.slopes[a].view(), context, kSlopeSums));
      for (int64_t j = 0; j < D * D; ++j) problem.G[a].data()[j] /= W;
    }
    return problem;
  }

  solver::Means means_;
  solver::GroupNormSystem system_;
};

// The choice of tau on rows held out.

/// In units of the fit to all rows: factors of 2 from that where f is nearly constant, then 0.
std::vector<PenaltyPoint> empty_penalties(const PenalisedFit& whole) {
  std::vector<PenaltyPoint> path;
  for (int64_t l = 0; l < kTaus; ++l)
    path.push_back({std::ldexp(whole.system().unit(), static_cast<int>(-l)), 0});
  path.push_back({0, 0});
  return path;
}

/// Adds the squared errors of rows held out from the sums `train`.
void judge(const PenaltySums& train, const BlockSource& held_out, bool center, double lambda,
           const std::vector<PenaltyPoint>& path, Context& context, PairedLosses& losses) {
  Stage stage(context, std::ssize(path) + 1);
  const PenalisedFit fit(train, center, lambda, context);
  std::vector<solver::Weights> weights;
  for (const PenaltyPoint& point : path) {
    stage.share(1);
    weights.push_back(fit.weights(fit.solve(point.tau, kJudgedTolerance, context).theta));
    stage.advance(1);
  }
  stage.share(1);
  const int64_t p = held_out.outputs();
  std::vector<double> of_row(path.size());
  for_each_scored(held_out, weights, context,
                  [&](int64_t, const double* target, double weight, const double* scores) {
                    for (size_t l = 0; l < path.size(); ++l) {
                      of_row[l] = 0;
                      for (int64_t k = 0; k < p; ++k)
                        of_row[l] += std::pow(target[k] - scores[l * p + k], 2);
                    }
                    losses.add(of_row.data(), weight);
                  });
  stage.advance(1);
}

/// The tau of the path that is chosen, and the path's losses. `sums`: of all rows, as they stay.
double choose_tau(const feature::FeatureMap& map, const BlockSource& rows,
                  const SelectionOptions& how, bool center, double lambda, PenaltySums& sums,
                  std::vector<PenaltyPoint>& path, Context& context) {
  const std::vector<Split> splits = validation_splits(how, rows);
  PairedLosses losses(std::ssize(path));
  Stage stage(context, std::ssize(splits));
  for (const Split& split : splits) {
    stage.share(1);
    const auto held_out = rows.subset(split.held_out);
    const PenaltySums part = sums_of(map, *held_out, context);
    sums.add(-1, part);
    judge(sums, *held_out, center, lambda, path, context, losses);
    sums.add(1, part);
    stage.advance(1);
  }
  losses.reduce(rows);
  std::vector<double> simplest_first;
  for (size_t l = 0; l < path.size(); ++l) {
    path[l].loss = losses.mean(static_cast<int64_t>(l));
    simplest_first.push_back(static_cast<double>(l));
  }
  return path[one_standard_error_choice(losses, simplest_first)].tau;
}

// The fit.

void check_sparse_inputs(const FitOptions& asked) {
  const Selection by = asked.select.selection;
  require(asked.coding.task == Task::regression, MERCER_UNSUPPORTED,
          "model = sparse_inputs of a classification, expected a regression");
  require(asked.outputs.structure == OutputStructure::independent, MERCER_UNSUPPORTED,
          "outputs with model = sparse_inputs, expected them left out: norms join the outputs");
  require(!asked.prepare.unit_rows && asked.prepare.buckets == 0, MERCER_UNSUPPORTED,
          "prepare.unit_rows, or hashed inputs, with model = sparse_inputs, expected inputs that "
          "are prepared one by one");
  require(by == Selection::fixed || by == Selection::folds || by == Selection::held_out,
          MERCER_UNSUPPORTED,
          "select.by = %s with model = sparse_inputs, expected folds or held_out", word_of(by));
  const Value* const tau = asked.estimate.parameters.find(kPenalty);
  const bool penalised = tau == nullptr || asked.estimate.parameters.number(kPenalty) > 0;
  require(by != Selection::fixed || asked.select.lambda > 0 || !penalised, MERCER_INVALID_ARGUMENT,
          "lambda = %g with model = sparse_inputs, expected a positive number, or tau = 0",
          asked.select.lambda);
}

const feature::FeatureMap& checked_map_of(const EstimatorOptions& estimating,
                                          const BlockSource& rows) {
  const feature::FeatureMap& map = *estimating.map;
  map.require_one_output();
  require(estimating.coupling == nullptr && !rows.has_features_by_output(), MERCER_UNSUPPORTED,
          "map %s has roots of outputs, expected one without for model = sparse_inputs",
          std::string(map.name()).c_str());
  require(!map.has_kernel_columns(), MERCER_UNSUPPORTED,
          "map %s with model = sparse_inputs, expected a map of features: nystroem of order 1 with "
          "all rows as landmarks has the minimum",
          std::string(map.name()).c_str());
  feature::derivatives_of(map);
  return map;
}

void warn_of_penalty(EstimatorFit& learned) {
  const std::vector<PenaltyPoint>& path = learned.inputs.path;
  if (!path.empty() && learned.inputs.tau == path.front().tau)
    learned.warnings.emplace_back(
        "tau is the largest that was tried: inputs say little of the targets");
  if (!path.empty() && learned.inputs.tau == 0)
    learned.warnings.emplace_back(
        "tau = 0 predicts rows held out best: no input is left out with a gain");
}

void take_inputs(const solver::GroupNormSolution& solution, double tau, double threshold,
                 InputsReport& report) {
  report.tau = tau;
  report.gap = solution.gap;
  report.norms = solution.norms;
  const double most = std::ranges::max(report.norms);
  for (size_t a = 0; a < report.norms.size(); ++a)
    if (most > 0 && report.norms[a] >= threshold * most)
      report.selected.push_back(static_cast<int64_t>(a));
}

/// Of all rows, as sums; ridge's lambda.
EstimatorFit fit_penalised(const BlockSource& rows, const EstimatorOptions& estimating,
                           RidgeFit ridge, const SelectionOptions& selecting, Context& context) {
  constexpr int64_t kUnits = 10;
  const feature::FeatureMap& map = *estimating.map;
  const Parameters& own = estimating.parameters;
  const bool given = own.find(kPenalty) != nullptr;
  Stage stage(context, kUnits);
  EstimatorFit learned{nullptr, ridge.lambda, std::move(ridge.path), {}};
  PenaltySums sums = stage.part(1, [&] { return sums_of(map, rows, context); });
  double tau = given ? own.number(kPenalty) : 0;
  if (!given) {
    SelectionOptions how = selecting;
    if (how.selection == Selection::fixed) how.selection = Selection::folds;
    learned.inputs.path = empty_penalties({sums, estimating.center, ridge.lambda, context});
    tau = stage.part(kUnits - 2, [&] {
      return choose_tau(map, rows, how, estimating.center, ridge.lambda, sums, learned.inputs.path,
                        context);
    });
  }
  stage.share(1);
  const PenalisedFit fit(sums, estimating.center, ridge.lambda, context);
  solver::GroupNormSolution solution = fit.solve(tau, own.number(kGapTolerance), context);
  char text[200];
  std::snprintf(text, sizeof text,
                "the duality gap is %.2g, above the tolerance %g: lost in rounding, expected a "
                "larger tolerance or lambda",
                solution.gap, own.number(kGapTolerance));
  const bool near = solution.gap <= own.number(kGapTolerance);
  require(near || selecting.selection != Selection::fixed, MERCER_NOT_CONVERGED, "%s", text);
  if (!near) learned.warnings.emplace_back(text);
  take_inputs(solution, tau, own.number(kSelectedFrom), learned.inputs);
  warn_of_penalty(learned);
  learned.predictor =
      make_linear(tau == 0 ? std::move(ridge.weights) : fit.weights(std::move(solution.theta)));
  stage.advance(1);
  return learned;
}

EstimatorFit fit_sparse_inputs(const BlockSource& rows, const EstimatorOptions& estimating,
                               const TargetOptions& coding, const SelectionOptions& selecting,
                               Context& context) {
  constexpr int64_t kUnits = 10;
  checked_map_of(estimating, rows);
  Stage stage(context, kUnits);
  RidgeFit ridge = stage.part(
      1, [&] { return select(rows, selecting, coding.task, estimating.problem(), context); });
  return stage.part(kUnits - 1, [&] {
    return fit_penalised(rows, estimating, std::move(ridge), selecting, context);
  });
}

}  // namespace

const ModelEntry& sparse_inputs_model() {
  static const ModelEntry entry = linear_entry(
      {.name = "sparse_inputs",
       .help = "least squares with a penalty on the norm of f's derivative in each input, which "
               "selects inputs; 8 d D^2 bytes",
       .fields = {number_field(kPenalty, kOptional, 0, kUnbounded,
                               "of 2 tau sum_a ||d_a f||; absent: chosen on rows held out"),
                  number_field(kSelectedFrom, 0.2, 0, 1,
                               "the share of the largest norm from which on an input is selected"),
                  number_above_field(kGapTolerance, 1e-6, 0, 1,
                                     "the duality gap over what ridge gains on a constant"),
                  number_field("lambda", kOptional, 0, kUnbounded,
                               "on theta'theta; absent: that of ridge, by select")},
       .selection = Selection::folds,
       .fit = fit_sparse_inputs,
       .check = check_sparse_inputs,
       .most_features = 512});
  return entry;
}

}  // namespace mercer::model
