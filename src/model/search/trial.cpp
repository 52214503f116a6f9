// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "model/fit_checks.h"
#include "model/prepare/row_coding.h"
#include "solver/block_statistics.h"
#include "solver/row_weights.h"

namespace mercer::model {

const TrialPoint& Trial::best() const {
  return *std::ranges::min_element(
      points, [](const TrialPoint& a, const TrialPoint& b) { return is_less(a.loss, b.loss); });
}

TrialSums::TrialSums(const Judge& judge, int64_t outputs, int64_t points)
    : judge_(judge),
      outputs_(outputs),
      losses_(points),
      wrong_(points, 0.0),
      scratch_(outputs, 0.0) {}

void TrialSums::add(int64_t i, const double* code, double weight, const double* scores) {
  weights_.push_back(weight);
  for (size_t k = 0; k < losses_.size(); ++k, scores += outputs_) {
    losses_[k].push_back(weight > 0 ? judge_.loss(i, scores, code, scratch_.data()) : 0.0);
    if (judge_.classifies() && judge_.wrong(scores, code)) wrong_[k] += weight;
  }
}

Trial TrialSums::finish(std::vector<TrialPoint> points) {
  double all = 0;
  for (const double weight : weights_) all += weight;
  for (size_t k = 0; k < points.size(); ++k) {
    double sum = 0;
    for (size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * losses_[k][i];
    points[k].loss = sum / all;
    points[k].score = judge_.score(points[k].loss, wrong_[k] / all);
  }
  return {std::move(points), std::move(losses_), std::move(weights_)};
}

void Trial::append(Trial more) {
  points.push_back(more.points[0]);
  losses.push_back(std::move(more.losses[0]));
  weights = std::move(more.weights);
}

namespace {

constexpr int64_t kMostFurther = 6;  // lambdas beyond those asked for, each way

/// One lambda by a factor.
Trial left_out_at(const solver::BlockSource& rows, solver::RidgeSystem& system, double lambda,
                  const Judge& judge, Context& context) {
  TrialSums sums(judge, rows.outputs(), 1);
  const auto add = [&](int64_t i, const double* code, double weight, const double* scores) {
    sums.add(i, code, weight, scores);
  };
  const solver::Solution found =
      system.solve_leaving_out(rows, lambda, context, scores_left_out(rows.outputs(), 1, add));
  return sums.finish({{.lambda = lambda, .dimension = found.effective_dimension}});
}

/// A few lambdas, each by a factor, but for those at which rounding leaves none; further ones at
/// the same steps while the last one is the best.
Trial left_out_by_factors(const solver::BlockSource& rows, solver::RidgeSystem& system,
                          std::span<const double> lambdas, const Judge& judge, Context& context) {
  Trial all;
  std::exception_ptr refused;
  const auto tried = [&](double lambda) {
    try {
      all.append(left_out_at(rows, system, lambda, judge, context));
      return true;
    } catch (const Error& error) {
      if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
      refused = std::current_exception();
      return false;
    }
  };
  for (const double lambda : lambdas) tried(lambda);
  if (all.points.empty()) std::rethrow_exception(refused);
  if (lambdas.size() < 2) return all;
  const double step = lambdas[1] / lambdas[0];
  const auto goes_on = [&](double factor) {
    for (int64_t k = 0; k < kMostFurther; ++k) {
      const double next = all.best().lambda * factor;
      const bool met = std::ranges::any_of(
          all.points, [&](const TrialPoint& p) { return std::abs(p.lambda - next) < 1e-6 * next; });
      if (met || !tried(next)) return;
    }
  };
  goes_on(step);
  goes_on(1 / step);
  return all;
}

}  // namespace

Trial left_out_trial(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                     std::span<const double> lambdas, const Judge& judge, Context& context,
                     const solver::RowsDone& done, std::unique_ptr<solver::RidgeSystem>* kept) {
  if (solver::lambdas_use(std::ssize(lambdas)) == solver::RidgeUse::few &&
      std::ranges::min(lambdas) > 0 && !problem.is_coupled(rows) &&
      problem.iterative == solver::Iterative::no) {
    auto few = solver::make_ridge_system(rows, problem, solver::RidgeUse::few, 0, context, done);
    Trial trial = left_out_by_factors(rows, *few, lambdas, judge, context);
    if (kept != nullptr) *kept = std::move(few);
    return trial;
  }
  auto system =
      solver::make_ridge_system(rows, problem, solver::RidgeUse::criteria, 0, context, done);
  TrialSums sums(judge, rows.outputs(), std::ssize(lambdas));
  const auto add = [&](int64_t i, const double* code, double weight, const double* scores) {
    sums.add(i, code, weight, scores);
  };
  system->for_each_left_out(rows, lambdas, context,
                            scores_left_out(rows.outputs(), std::ssize(lambdas), add));
  std::vector<TrialPoint> points;
  const bool likely = !judge.classifies() && !problem.is_coupled(rows) && solver::is_dual(rows);
  for (const double lambda : lambdas) {
    points.push_back({.lambda = lambda, .dimension = system->effective_dimension(lambda)});
    if (likely && lambda > 0) points.back().evidence = sum_over_outputs(system->evidence(lambda));
  }
  if (kept != nullptr) *kept = std::move(system);
  return sums.finish(std::move(points));
}

Trial joined(std::vector<Trial> parts) {
  Trial all;
  double total = 0;
  std::vector<double> totals;
  for (const Trial& part : parts) {
    totals.push_back(std::accumulate(part.weights.begin(), part.weights.end(), 0.0));
    total += totals.back();
    all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
  }
  for (const TrialPoint& first : parts[0].points) {
    TrialPoint point{.lambda = first.lambda};
    std::vector<double> losses;
    bool known = true;
    for (size_t p = 0; known && p < parts.size(); ++p) {
      const auto own = std::ranges::find(parts[p].points, first.lambda, &TrialPoint::lambda);
      known = own != parts[p].points.end();
      if (!known) break;
      const auto& more = parts[p].losses[own - parts[p].points.begin()];
      losses.insert(losses.end(), more.begin(), more.end());
      const double share = totals[p] / total;
      point.loss += share * own->loss;
      point.score += share * own->score;
      point.dimension += own->dimension / static_cast<double>(parts.size());
    }
    if (!known) continue;
    all.points.push_back(point);
    all.losses.push_back(std::move(losses));
  }
  return all;
}

void cluster(Trial& trial, const std::vector<int64_t>& clusters) {
  if (clusters.empty()) return;
  const int64_t last = std::ranges::max(clusters);
  std::vector<double> weights(static_cast<size_t>(last) + 1, 0.0);
  for (size_t i = 0; i < clusters.size(); ++i) weights[clusters[i]] += trial.weights[i];
  for (std::vector<double>& losses : trial.losses) {
    std::vector<double> means(weights.size(), 0.0);
    for (size_t i = 0; i < clusters.size(); ++i) {
      const auto c = static_cast<size_t>(clusters[i]);
      if (weights[c] > 0) means[c] += trial.weights[i] / weights[c] * losses[i];
    }
    losses = std::move(means);
  }
  trial.weights = std::move(weights);
}

std::vector<PathPoint> path_of(const Trial& trial) {
  std::vector<PathPoint> path;
  for (const TrialPoint& point : trial.points)
    path.push_back({point.lambda, std::isnan(point.score) ? point.loss : point.score});
  std::ranges::sort(path, std::ranges::greater(), &PathPoint::lambda);
  return path;
}

TrialPlace paired_pick(std::span<const Trial* const> trials) {
  std::vector<double> dimensions, evidence;
  std::vector<const std::vector<double>*> losses;
  std::vector<TrialPlace> places;
  for (size_t t = 0; t < trials.size(); ++t) {
    for (size_t k = 0; k < trials[t]->points.size(); ++k) {
      places.push_back({t, k});
      losses.push_back(&trials[t]->losses[k]);
      dimensions.push_back(trials[t]->points[k].dimension);
      evidence.push_back(trials[t]->points[k].evidence);
    }
  }
  const bool known = std::ranges::none_of(evidence, [](double value) { return std::isnan(value); });
  return places[one_standard_error_choice(paired_losses(losses, trials[0]->weights),
                                          known ? evidence : dimensions)];
}

size_t paired_pick(const Trial& trial) {
  const Trial* const one = &trial;
  return paired_pick({&one, 1}).point;
}

Gain gain(const Trial& one, size_t a, const Trial& other, size_t b) {
  const std::array losses{&one.losses[a], &other.losses[b]};
  const PairedLosses sums = paired_losses(losses, one.weights);
  double absolute = 0, squares = 0;
  for (size_t i = 0; i < one.weights.size(); ++i) {
    const double difference = one.weights[i] * ((*losses[1])[i] - (*losses[0])[i]);
    absolute += std::abs(difference);
    squares += difference * difference;
  }
  const double rows = squares > 0 ? absolute * absolute / squares : 0;
  return {sums.mean(1) - sums.mean(0), sums.error_of_difference(0, 1),
          rows / static_cast<double>(one.weights.size())};
}

bool beats(const Trial& one, size_t a, const Trial& other, size_t b, double errors) {
  const Gain found = gain(one, a, other, b);
  return found.mean > errors * found.error;
}

// For the few lambdas of a trial, Cholesky factors cost less time and memory than an
// eigendecomposition (about thirty factors at D = 4096), and the Gram matrix survives for the final
// fit.

HeldOutFit::HeldOutFit(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                       solver::RowSet train, Sums sums, Context& context,
                       const solver::RowsDone& done)
    : rows_(rows), problem_(problem) {
  problem_.misses_targets = !rows.is_complete();  // these rows alone may miss none
  for (int64_t i = 0; i < train.count; ++i) fitted_.push_back(train[i]);
  const auto part = rows.subset(train);
  if (!solver::is_primal(*part, problem_)) {
    make_system(context, done);
    return;
  }
  statistics_ = std::make_shared<solver::RowStatistics>(rows.features(), rows.outputs(), context);
  if (sums == Sums::single) {
    solver::add_blocks_single(*part, *statistics_, context, done);
  } else {
    solver::add_blocks(*part, *statistics_, context, done);
  }
  system_ =
      solver::make_primal_system(statistics_, problem_.center, solver::RidgeUse::few, 0, context);
}

void HeldOutFit::make_system(Context& context, const solver::RowsDone& done) {
  system_ = solver::make_ridge_system(*rows_.subset(fitted_), problem_, solver::RidgeUse::few, 0,
                                      context, done);
}

namespace {

/// None if the factorisation fails; `refused` has the reason.
std::optional<solver::Solution> solution_at(const solver::RidgeSystem& system, double lambda,
                                            Context& context, std::exception_ptr& refused) {
  try {
    return system.solution(lambda, solver::Want::dimension, context);
  } catch (const Error& error) {
    if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
    refused = std::current_exception();
    return std::nullopt;
  }
}

/// Judges held-out rows at the lambdas that have a solution.
Trial judge_system(const solver::RidgeSystem& system, std::span<const double> lambdas,
                   const solver::BlockSource& held_out, const Judge& judge, Context& context,
                   std::exception_ptr& refused) {
  std::vector<TrialPoint> points;
  std::vector<solver::Weights> weights;
  for (const double lambda : lambdas) {
    context.checkpoint();
    auto solved = solution_at(system, lambda, context, refused);
    if (!solved) continue;
    points.push_back({.lambda = lambda, .dimension = solved->effective_dimension});
    weights.push_back(std::move(solved->weights));
  }
  if (points.empty()) return Trial{};
  TrialSums sums(judge, held_out.outputs(), std::ssize(points));
  for_each_scored(held_out, weights, context,
                  [&](int64_t i, const double* code, double weight, const double* scores) {
                    sums.add(i, code, weight, scores);
                  });
  return sums.finish(std::move(points));
}

}  // namespace

Trial HeldOutFit::judge(const WalkPlan& plan, solver::RowSet held_out, const Judge& judge,
                        Context& context) const {
  const Judge own = judge.on(held_out);
  const auto part = rows_.subset(held_out);
  std::exception_ptr refused;
  const auto evaluate = [&](std::span<const double> lambdas) {
    return judge_system(*system_, lambdas, *part, own, context, refused);
  };
  Trial all;
  if (!plan.grid.empty()) {
    all = evaluate(plan.grid);
  } else {
    walk_downhill(plan, [&](double lambda) {
      Trial one = evaluate({&lambda, 1});
      if (one.points.empty()) return kInfinity;
      all.append(std::move(one));
      return all.points.back().loss;
    });
  }
  if (all.points.empty()) std::rethrow_exception(refused);
  return all;
}

Trial judge_splits(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                   const std::vector<Split>& splits, std::span<const double> lambdas,
                   const Judge& judge, Context& context, const solver::RowsDone& done) {
  const solver::RidgeUse use = solver::lambdas_use(std::ssize(lambdas));
  std::vector<Trial> parts;
  for (const Split& split : splits) {
    if (use == solver::RidgeUse::few) {
      const HeldOutFit fit(rows, problem, split.train, HeldOutFit::Sums::exact, context, done);
      parts.push_back(
          fit.judge({.grid = {lambdas.begin(), lambdas.end()}}, split.held_out, judge, context));
      continue;
    }
    std::exception_ptr none;  // decompositions serve every lambda
    const auto system =
        solver::make_ridge_system(*rows.subset(split.train), problem, use, 0, context, done);
    parts.push_back(judge_system(*system, lambdas, *rows.subset(split.held_out),
                                 judge.on(split.held_out), context, none));
  }
  Trial all = joined(std::move(parts));
  require(!all.points.empty(), MERCER_NOT_POSITIVE_DEFINITE,
          "no lambda from %g down to %g serves every split of the rows, expected a larger one",
          lambdas.front(), lambdas.back());
  return all;
}

void HeldOutFit::add(solver::RowSet more, Context& context) {
  for (int64_t i = 0; i < more.count; ++i) fitted_.push_back(more[i]);
  std::ranges::sort(fitted_);
  if (statistics_ != nullptr)
    return solver::add_blocks(*rows_.subset(more), *statistics_, context, {});
  system_.reset();
  make_system(context, {});
}

Preparation divided_by(const Preparation& preparation, int64_t d,
                       std::span<const double> lengthscales) {
  require(lengthscales.size() == 1 || preparation.row_norm == 0, MERCER_UNSUPPORTED,
          "unit rows with a lengthscale for each input, which would change their norm");
  if (lengthscales.size() == 1) return preparation.divided_by(lengthscales[0], d);
  Preparation result = preparation.divided_by(1, d);
  for (size_t j = 0; j < result.scale.size(); ++j) result.scale[j] *= lengthscales[j];
  return result;
}

std::shared_ptr<const feature::FeatureMap> CandidateRows::make(
    const Preparation& preparation, std::span<const double> lengthscales, int64_t features,
    const std::vector<int64_t>& train) const {
  const double lengthscale = lengthscales.empty() ? 0.0 : lengthscales[0];
  std::shared_ptr<const feature::FeatureMap> map;
  if (partial_->needs_rows()) {
    const int64_t own = partial_->features_of(features, std::ssize(train));
    const int64_t sample = partial_->reads_all_rows() ? std::ssize(train) : own;
    const RowsForMap rows =
        rows_for_map(data_, preparation, coding_, train, sample, seed_, context_);
    map = partial_->make_from(lengthscale, own, rows.X.view(), rows.Y.view(), context_);
  } else {
    map = lengthscales.size() > 1 ? partial_->make_per_input(lengthscales, features)
                                  : partial_->make(lengthscale, features);
  }
  require(!map->is_complex(), MERCER_UNSUPPORTED,
          "a search of a complex map, whose ridge is not that of its real parts, expected "
          "\"search\": false, or these parts by name, of twice as many columns: form pair, or "
          "field complex_to_real");
  check_inputs(map->inputs(), preparation.prepared(data_.X.cols()));
  check_row_norms(map->kernel(), preparation);
  return map;
}

const feature::FeatureMap& CandidateRows::unit(const Preparation& preparation, int64_t features) {
  if (map_ == nullptr || unit_features_ != features) {
    map_.reset();
    map_ = make(preparation, std::array{1.0}, features, {});
    unit_features_ = features;
  }
  return *map_;
}

const solver::BlockSource& CandidateRows::at(const Preparation& preparation,
                                             std::span<const double> lengthscales, int64_t features,
                                             const std::vector<int64_t>& train) {
  rows_.reset();
  exact_.reset();
  if (partial_->scales_inputs()) {
    unit(preparation, features);
  } else {
    map_ = make(preparation, lengthscales, features, train);
  }
  const bool scales = !lengthscales.empty() && partial_->scales_inputs();
  inputs_ = scales ? divided_by(preparation, data_.X.cols(), lengthscales) : preparation;
  return rows_.emplace(*map_, inputs_, coding_, precision_, data_, train);
}

const solver::BlockSource& CandidateRows::at_exact(const PartialMap& exact,
                                                   const Preparation& preparation,
                                                   std::span<const double> lengthscales,
                                                   const std::vector<int64_t>& train) {
  rows_.reset();
  inputs_ =
      lengthscales.empty() ? preparation : divided_by(preparation, data_.X.cols(), lengthscales);
  const int64_t n = std::ssize(train);
  const RowsForMap rows = rows_for_map(data_, inputs_, coding_, train, n, seed_, context_);
  exact_ = exact.make_from(1.0, n, rows.X.view(), rows.Y.view(), context_);
  return rows_.emplace(*exact_, inputs_, coding_, precision_, data_, train);
}

void CandidateRows::release() {
  rows_.reset();
  exact_.reset();
  map_.reset();
  unit_features_ = 0;
}

}  // namespace mercer::model
