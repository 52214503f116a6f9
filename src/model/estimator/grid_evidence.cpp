// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/estimator/grid_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "feature/frequency_grid.h"
#include "feature/map_entry.h"
#include "linalg/lbfgs.h"
#include "model/rows/feature_rows.h"
#include "model/select/selection.h"
#include "solver/iterative_system.h"

namespace mercer::model {
namespace {

constexpr double kLogDifference = 1e-4;  // of a logarithm, for slopes of those of weights
constexpr int64_t kEvidenceProbes = 8, kEvidenceSteps = 30, kRounds = 4;
constexpr double kLargestMove = 1.4;  // of a round, in a logarithm: its grid serves others near by
constexpr double kSettled = 0.1;      // a move after which the grid is left
constexpr double kFlatEvidence = 0.05;  // nats in a logarithm, or the error of the value

/// The map's kernel with its lengthscales moved.
std::shared_ptr<const Parameters> moved_kernel(const feature::FeatureMap& map,
                                               std::span<const double> moves) {
  std::vector<double> lengthscale(map.kernel().lengthscale().begin(),
                                  map.kernel().lengthscale().end());
  for (size_t k = 0; k < lengthscale.size(); ++k) lengthscale[k] *= std::exp(moves[k]);
  Parameters kernel = map.parameters().object("kernel");
  kernel.set("lengthscale", lengthscale.size() > 1 ? Value(lengthscale) : Value(lengthscale[0]));
  return std::make_shared<const Parameters>(std::move(kernel));
}

/// The map of that kernel, its step by the diameter anew where that is known.
std::shared_ptr<const feature::FeatureMap> moved_map(const feature::FeatureMap& map,
                                                     std::span<const double> moves) {
  const Parameters from = map.parameters();
  Parameters to;
  const bool anew = from.find("diameter") != nullptr;
  for (const auto& [key, value] : from.entries())
    if (!anew || (key != "step" && key != "extent" && key != "error_bound")) to.set(key, value);
  to.set("kernel", moved_kernel(map, moves));
  return feature::make_map(to);
}

}  // namespace

GridEvidence::GridEvidence(const FeatureRows& rows, const feature::FeatureMap& map, bool center,
                           double noise, const solver::Probing& by, Context& context)
    : map_(map),
      sums_(rows.under(map).normal_sums(context, {})),
      center_(center),
      noise_(noise),
      by_(by),
      context_(context) {}

std::vector<double> GridEvidence::weights(std::span<const double> moves) const {
  return map_.grid()->weights_of(*kernel::make_kernel(*moved_kernel(map_, moves)));
}

std::unique_ptr<solver::RidgeSystem> GridEvidence::system() const {
  const std::vector<double> ones(sums_->diagonal.size(), 1.0);
  return solver::make_iterative_system(solver::scaled(*sums_, ones, context_), center_, context_);
}

double GridEvidence::operator()(std::span<const double> moves, std::span<double> gradient) {
  const int64_t F = map_.grid()->count(), count = lengthscales();
  const std::span<const double> own = map_.grid()->weights();
  const std::vector<double> here = weights(moves);
  std::vector<double> factors(static_cast<size_t>(2 * F));
  // Frequencies so high that their weight is 0 in double precision have no part in the sums.
  const auto ratio = [](double a, double b) { return a > 0 && b > 0 ? a / b : 0.0; };
  for (int64_t j = 0; j < 2 * F; ++j) factors[j] = std::sqrt(ratio(here[j % F], own[j % F]));
  const Matrix<double> directions(count, 2 * F, context_, "slopes of weights");
  directions.fill(0);
  std::vector<double> near(moves.begin(), moves.end());
  for (int64_t k = 0; k < count; ++k) {
    near[k] = moves[k] + kLogDifference;
    const std::vector<double> above = weights(near);
    near[k] = moves[k] - kLogDifference;
    const std::vector<double> below = weights(near);
    near[k] = moves[k];
    for (int64_t j = 0; j < 2 * F; ++j)
      if (const double moved = ratio(above[j % F], below[j % F]); moved > 0)
        directions(k, j) = std::log(moved) / (4 * kLogDifference);
  }
  const auto system =
      solver::make_iterative_system(solver::scaled(*sums_, factors, context_), center_, context_);
  const solver::EvidencePoint point =
      system->sampled_evidence(std::exp(moves.back()), noise_, by_, directions.view(), context_);
  const double degrees = sums_->weight - (center_ ? 1 : 0);
  for (int64_t k = 0; k < count; ++k) gradient[k] = degrees * point.slopes[1 + k];
  gradient.back() = degrees * point.slopes[0];
  error_ = degrees * point.error;
  return degrees * point.value;
}

namespace {

struct Climb {
  double start, end;  // values
};

/// Moves become those of the least value near by.
Climb descend(GridEvidence& evidence, bool given_lambda, Context& context,
              std::span<double> moves) {
  const double from = moves.back();
  double start = kNaN;
  const auto value = [&](std::span<const double> x, std::span<double> gradient) {
    if (std::ranges::any_of(x.first(x.size() - 1),
                            [](double move) { return !(std::abs(move) <= kLargestMove); }))
      return kInfinity;
    std::vector<double> at(x.begin(), x.end());
    if (given_lambda) at.back() = from;
    const double found = evidence(at, gradient);
    if (given_lambda) gradient.back() = 0;
    if (std::isnan(start)) start = found;
    return found;
  };
  std::vector<double> gradient(moves.size());
  value(moves, gradient);
  const double error = evidence.error();
  const auto end =
      linalg::minimize_lbfgs(value, moves,
                             {.most_iterations = kEvidenceSteps,
                              .gradient_tolerance = std::max(kFlatEvidence, error),
                              .decrease_tolerance = kFlatEvidence / 10,
                              .absolute = true,
                              .noise = std::max(1e-12, error / std::max(1.0, std::abs(start)))},
                             context);
  return {start, end.value};
}

}  // namespace

std::shared_ptr<const feature::FeatureMap> learn_grid_lengthscales(
    const FeatureRows& rows, const EstimatorOptions& estimating, const SelectionOptions& selecting,
    Context& context) {
  const solver::Probing by{kEvidenceProbes, selecting.seed};
  const bool given = selecting.selection == Selection::fixed;
  double log_lambda = std::log(selecting.lambda);
  std::shared_ptr<const feature::FeatureMap> learnt;
  Stage stage(context, kRounds);
  for (int64_t round = 0; round < kRounds; ++round) {
    stage.share(1);
    const feature::FeatureMap& map = learnt ? *learnt : *estimating.map;
    GridEvidence evidence(rows, map, estimating.center, selecting.noise, by, context);
    if (round == 0 && !given) {
      std::vector<PathPoint> path;
      log_lambda =
          std::log(likeliest_by_slope(*evidence.system(), selecting, context, path).lambda);
    }
    std::vector<double> moves(static_cast<size_t>(evidence.lengthscales()) + 1, 0.0);
    moves.back() = log_lambda;
    const Climb values = descend(evidence, given, context, moves);
    stage.advance(1);
    if (!(values.end < values.start)) break;
    if (!given) log_lambda = moves.back();
    moves.pop_back();
    learnt = moved_map(map, moves);
    if (std::ranges::all_of(moves, [](double move) { return std::abs(move) < kSettled; })) break;
  }
  return learnt;
}

}  // namespace mercer::model
