// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The state of a search, and its trials: few rows are judged by leave-one-out for every lambda of a
// grid, many on rows held out for a few lambdas. A search that repeats another on some of its rows
// takes the losses of these from the trials of that one.
#include "model/search/search_run.h"

#include <cmath>

#include "base/error.h"
#include "model/estimator/class_weights.h"
#include "model/prepare/row_coding.h"
#include "model/prepare/row_summary.h"
#include "model/rows/median_lengthscale.h"
#include "solver/ridge_system.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostHeldOut = 20000;  // enough to compare candidates
constexpr int64_t kLeastHeldOut = 2000;  // in trials on a part of the rows
constexpr int64_t kLambdas = 34;
constexpr int64_t kFewLambdas = 17;   // if each takes a factorisation
constexpr double kChoiceShare = 0.4;  // of a budget; the others are for the last fit and the score
constexpr double kAbout = 3.1622776601683795;  // factor about the lambda chosen on part of the rows
constexpr int64_t kAboutLambdas = 3;
constexpr int64_t kDecades = 10;  // from kMostLambda to it

int64_t share_of(int64_t all, int64_t part, int64_t whole) {
  return static_cast<int64_t>(static_cast<double>(all) * static_cast<double>(part) /
                              static_cast<double>(whole));
}

/// Weights with 0 for unseen rows; empty if all are 1.
std::vector<double> weights_without(std::span<const double> all, int64_t rows,
                                    const std::vector<int64_t>& unseen) {
  std::vector<double> weights(all.begin(), all.end());
  if (unseen.empty()) return weights;
  weights.resize(rows, 1.0);
  for (const int64_t i : unseen) weights[i] = 0.0;
  return weights;
}

/// The split of the search that is repeated, without the rows that are left out.
Split split_as(const Repeat& repeat) {
  Split split;
  const std::vector<int64_t>& held_out = repeat.first.split.held_out;
  for (int64_t i = 0; i < std::ssize(repeat.rows); ++i)
    (std::ranges::binary_search(held_out, repeat.rows[i]) ? split.held_out : split.train)
        .push_back(i);
  return split;
}

/// The trial without the rows that are left out; none without rows.
std::optional<Trial> part_of(const KnownTrial& known, const Repeat& repeat) {
  std::vector<size_t> places;
  for (size_t i = 0; i < known.rows.size(); ++i)
    if (std::ranges::binary_search(repeat.rows, known.rows[i])) places.push_back(i);
  const auto fold =
      std::ranges::find(repeat.first.repeated, repeat.rows) - repeat.first.repeated.begin();
  Trial part = known.trial;
  double total = 0;
  part.weights.clear();
  for (const size_t i : places) {
    part.weights.push_back(known.trial.weights[i]);
    total += part.weights.back();
  }
  if (!(total > 0)) return std::nullopt;
  for (size_t k = 0; k < part.points.size(); ++k) {
    const double before = part.points[k].loss;
    part.losses[k].clear();
    double sum = 0;
    for (const size_t i : places) {
      part.losses[k].push_back(known.trial.losses[k][i]);
      sum += known.trial.weights[i] * known.trial.losses[k][i];
    }
    part.points[k].loss = sum / total;
    part.points[k].score += part.points[k].loss - before;  // an error rate moves about as much
    part.points[k].evidence = known.evidence.empty() ? kNaN : known.evidence[fold][k];
  }
  return part;
}

/// What the search that is repeated knows of a candidate.
std::optional<Trial> known_trial(const Repeat& repeat, const Setting& setting,
                                 std::span<const double> lengthscales, const TrialSize& size) {
  constexpr double kRounding = 1e-9;  // of steps in another order
  const auto equal = [](double a, double b) { return std::abs(a - b) <= kRounding * b; };
  for (const KnownTrial& one : repeat.first.known)
    if (one.setting.prepared == setting.prepared && one.setting.partial == setting.partial &&
        one.size == size && std::ranges::equal(one.lengthscales, lengthscales, equal))
      return part_of(one, repeat);
  return std::nullopt;
}

std::vector<double> in_unit(const SearchRun& run, std::vector<double> lambdas) {
  for (double& lambda : lambdas) lambda *= run.unit;
  return lambdas;
}

}  // namespace

double reported(std::span<const double> lengthscales) {
  if (lengthscales.size() > 1) return kNaN;
  return lengthscales.empty() ? 0.0 : lengthscales[0];
}

bool has_time(const SearchRun& run, const char* what) {
  return run.repeat != nullptr || run.options.time->allows(0, what, kChoiceShare);
}

std::string name_in_report(const kernel::Kernel& kernel) {
  const Value* const nu = kernel.parameters().find("nu");
  return std::string(kernel.name()) + (nu != nullptr ? text(" %g", std::get<double>(*nu)) : "");
}

void record(SearchRun& run, int64_t stage, const TrialSize& size, const Setting& setting,
            std::span<const double> lengthscales, const feature::FeatureMap& map,
            const TrialPoint& point) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> spent = now - std::exchange(run.recorded_at, now);
  const PreparationOptions& prepare = setting.prepared->options;
  const SearchCandidate& candidate = run.report.trials.emplace_back(
      SearchCandidate{stage, size.features, size.rows, reported(lengthscales), point.lambda,
                      point.score, spent.count(), prepare.transform, point.loss, setting.shape,
                      name_in_report(map.kernel()), prepare.target_transform});
  if (run.options.report != nullptr) run.options.report(run.options.user, candidate);
}

SearchRun::SearchRun(const PartialMap& partial, const SearchOptions& asked,
                     const PreparationFacts& facts, const TargetedRows& rows,
                     std::vector<int64_t> by, std::vector<int64_t> others, Context& running,
                     const Repeat* of)
    : repeat(of),
      options(asked),
      fit(asked.fit),
      fitted_last(is_fitted_last(fit.estimate) ? &fit.estimate : nullptr),
      lambda(fitted_last == nullptr ? asked.lambda : -1),
      found(facts),
      X(rows.X),
      Y(rows.Y),
      chosen_by(std::move(by)),
      unseen(std::move(others)),
      context(running),
      weights(rows.weights),
      rule{classes_of(fit.coding, Y), {rows.groups.begin(), rows.groups.end()}, fit.select.ordered},
      seen(weights_without(weights, X.rows(), unseen)),
      estimate(trial_estimator(fit.estimate)),
      class_factors(
          model::class_factors(estimate.parameters, fit.coding.classes, Y, weights, chosen_by)),
      learnt_weights(class_weighted(Y, weights, class_factors)),
      judge(of != nullptr ? of->first.judge : Judge(fit.coding, Y, chosen_by, learnt_weights)),
      split(leaves_out()    ? Split{chosen_by, {}}
            : of != nullptr ? split_as(*of)
                            : split_rows(chosen_by, asked.held_out_fraction, kMostHeldOut,
                                         fit.select.seed, Purpose::choice, rule)),
      candidates(partial, fit.coding, fit.estimate.precision, fit.select.seed,
                 {X, Y, learnt_weights}, context),
      sizes(of != nullptr  ? of->first.sizes
            : leaves_out() ? left_out_sizes(std::ssize(split.train), asked.features)
                           : held_out_sizes(std::ssize(split.train), asked.features)),
      phases(context, (fit.outputs.or_independent ? 2 : 1) *
                          (phase_units(sizes.coarse, kCoarseTrials) +
                           phase_units(sizes.fine, kFineTrials) + last_units(*this))) {
  start.partial = &partial;
}

void begin(SearchRun& run) {
  const PreparationOptions& given = run.fit.prepare;
  run.start.prepared = &prepared_with(run, given.transform, given.target_transform);
  run.start = shapes_of(run, run.start).front();
}

const FittedPreparation& prepared_with(SearchRun& run, Transform of_inputs, Transform of_targets) {
  if (run.repeat != nullptr) return prepared_with(run.repeat->first, of_inputs, of_targets);
  for (const FittedPreparation& one : run.prepared)
    if (one.options.transform == of_inputs && one.options.target_transform == of_targets)
      return one;
  run.candidates.release();
  PreparationOptions asked = run.fit.prepare;
  asked.transform = of_inputs;
  asked.target_transform = of_targets;
  const RowSummary summary(asked, run.found, run.fit.select.seed, run.X,
                           ranged_targets(run.fit.coding, run.Y), run.seen, run.context);
  return run.prepared.emplace_back(FittedPreparation{asked, summary.preparation()});
}

void couple(SearchRun& run, const feature::FeatureMap& map, const Setting& setting) {
  run.estimate.coupling = map.outputs() > 1 ? coupling_of(map, run.context) : setting.coupling;
}

Ranges seen_ranges(const SearchRun& run) {
  return ranges_of(run.X, ranged_targets(run.fit.coding, run.Y), run.fit.select.seed, run.context,
                   run.seen);
}

namespace {

// Rows up to which every lambda of a grid is tried; above, a few factors take less time.
constexpr int64_t kMostDecomposed = 600;

std::vector<double> lambdas_about(double lambda) {
  return solver::lambda_grid(kAbout * lambda, lambda / kAbout, kAboutLambdas);
}

}  // namespace

std::vector<double> lambdas(const SearchRun& run, const Candidate& near) {
  if (run.lambda >= 0) return {run.lambda};
  const int64_t n = std::ssize(run.chosen_by), tried = std::ssize(near.trial.weights);
  if (run.leaves_out() && run.rule.exchangeable() && tried > 0 &&
      (run.repeat != nullptr || n > kMostDecomposed)) {
    // n lambda is the ratio of two variances, whatever the number of rows.
    const double about = near.point.lambda * static_cast<double>(tried) / static_cast<double>(n);
    if (run.repeat != nullptr) return {about};
    return lambdas_about(about);
  }
  if (std::ssize(run.chosen_by) > kMostLeftOut && !near.trial.points.empty())
    return lambdas_about(near.point.lambda);
  return in_unit(run, solver::lambda_grid(kMostLambda, kLeastTried,
                                          run.rule.exchangeable() ? kLambdas : kFewLambdas));
}

void take_unit(SearchRun& run, const feature::FeatureMap& map, const solver::BlockSource& rows,
               const std::vector<int64_t>& train) {
  run.unit =
      lambda_unit(map.kernel(), run.estimate.coupling.get(), *rows.subset(train), run.context);
}

bool has_values_at_rows(const SearchRun& run, const Setting& setting) {
  return !run.X.sparse() && setting.coupling == nullptr && is_complete(run.Y, run.chosen_by);
}

bool ends_in_kernel(const SearchRun& run, const Setting& setting) {
  const SearchOptions& options = run.options;
  // Repeats are fitted as the first search is, whose score they tell.
  const int64_t n = std::max(run.X.rows(), options.all_rows);
  const bool open = !options.given_features && run.fit.keep == Keep::nothing &&
                    setting.partial->leaves_map() && options.estimator != Estimator::logistic &&
                    n <= options.most_features &&
                    run.context.has_room(solver::dual_ridge_bytes(n, n));
  return (open || options.takes_kernel) && has_values_at_rows(run, setting);
}

namespace {

/// The setting's kernel itself in place of at least as many features as rows; null: there is none.
const PartialMap* exact_of(SearchRun& run, const Setting& setting, int64_t features, int64_t rows) {
  const PartialMap& partial = *setting.partial;
  if (partial.features_of(features, rows) < rows || !has_values_at_rows(run, setting))
    return nullptr;
  const auto [place, is_new] = run.exact.try_emplace(&partial);
  if (is_new)
    if (auto exact = partial.exact()) place->second.push_back(&run.keep(std::move(exact)));
  return place->second.empty() ? nullptr : place->second.front();
}

}  // namespace

const solver::BlockSource& map_rows(SearchRun& run, const Setting& setting,
                                    std::span<const double> lengthscales, int64_t features,
                                    const std::vector<int64_t>& train) {
  run.candidates.use(*setting.partial);
  const PartialMap* const exact = exact_of(run, setting, features, std::ssize(train));
  const solver::BlockSource& rows =
      exact != nullptr
          ? run.candidates.at_exact(*exact, setting.prepared->fitted, lengthscales, train)
          : run.candidates.at(setting.prepared->fitted, lengthscales, features, train);
  couple(run, run.candidates.map(), setting);
  take_unit(run, run.candidates.map(), rows, train);
  return rows;
}

const std::vector<const PartialMap*>& kernels_beside(SearchRun& run, const PartialMap& partial) {
  if (run.repeat != nullptr) return kernels_beside(run.repeat->first, partial);
  const auto [place, is_new] = run.kernels.try_emplace(&partial);
  if (is_new)
    for (auto& other : partial.other_kernels())
      place->second.push_back(&run.keep(std::move(other)));
  return place->second;
}

const feature::FeatureMap& unit_of(SearchRun& run, const Setting& setting, int64_t features) {
  run.candidates.use(*setting.partial);
  return run.candidates.unit(setting.prepared->fitted, features);
}

/// The lengthscale with k = e^{-1/2} for rows that differ by sqrt(2), the root mean square
/// difference of standardised inputs, in every input; for a Gaussian kernel sqrt(2 d).
double usual_lengthscale(SearchRun& run, const Setting& setting) {
  const kernel::Kernel& kernel = unit_of(run, setting, run.sizes.coarse.features).kernel();
  const int64_t d = setting.prepared->fitted.prepared(run.X.cols());
  const std::vector<double> x(d, 0.0), y(x.size(), std::sqrt(2.0));
  const auto at = [&](double multiple) {
    return kernel.value_at_multiple(multiple, d, x.data(), y.data());
  };
  if (std::isnan(at(1))) return std::sqrt(2.0 * static_cast<double>(d));
  const double wanted = at(0) * std::exp(-0.5);
  double near = 1e-9, far = 1e9;
  for (int step = 0; step < 80; ++step) {
    const double middle = std::sqrt(near * far);
    (at(middle) > wanted ? near : far) = middle;
  }
  return 1 / near;
}

double central(SearchRun& run, const Setting& setting) {
  if (run.repeat != nullptr) return central(run.repeat->first, setting);
  if (setting.partial->start() > 0) return setting.partial->start();
  double& found = run.medians[setting.prepared];
  if (found == 0)
    found = run.X.visit([&](const auto& X) {
      return median_lengthscale(setting.prepared->fitted, X, run.split.train, run.fit.select.seed,
                                run.context);
    });
  return found;
}

// The median distance is a Gaussian kernel's; other kernels' lengthscales are in their own units.
double longest(SearchRun& run, const Setting& setting) {
  const double start = kLongest * central(run, setting);
  if (setting.partial->start() > 0 || !setting.partial->scales_inputs()) return start;
  const auto d = static_cast<double>(setting.prepared->fitted.prepared(run.X.cols()));
  return start * std::max(1.0, usual_lengthscale(run, setting) / std::sqrt(2 * d));
}

LengthscaleWalk::HasCandidate has_candidate(SearchRun& run, const Setting& setting) {
  return [&run, most = longest(run, setting), partial = setting.partial](double lengthscale) {
    return lengthscale <= most && partial->has_candidate(lengthscale) &&
           has_time(run, "other lengthscales");
  };
}

LengthscaleWalk factor_walk(SearchRun& run, int64_t stage, const Setting& setting,
                            const std::vector<double>& lengthscales, const TrialSize& size,
                            const Trial& near) {
  const double most = longest(run, setting) / *std::ranges::min_element(lengthscales);
  return LengthscaleWalk(
      1.0,
      [&, stage](double factor, const Trial* last) {
        return try_out(run, stage, setting, scaled(lengthscales, factor), size,
                       last == nullptr ? &near : last);
      },
      [most](double factor) { return factor <= most; });
}

Trial leave_out(SearchRun& run, const solver::BlockSource& rows, const Setting& setting,
                const std::vector<int64_t>& train, const std::vector<double>& lambdas,
                std::unique_ptr<solver::RidgeSystem>* kept) {
  const auto count = run.phases.counting(row_units(rows.features()));
  const Judge judge = run.judge_of(setting);
  if (run.rule.exchangeable())
    return left_out_trial(*rows.subset(train), run.estimate.problem(), lambdas, judge.on(train),
                          run.context, count, kept);
  const std::vector<Split> splits = fold_splits(train, kFolds, run.fit.select.seed, run.rule);
  Trial trial =
      judge_splits(rows, run.estimate.problem(), splits, lambdas, judge, run.context, count);
  cluster(trial, clusters_of(held_out_of(splits), run.rule));
  return trial;
}

namespace {

/// leave_out at few lambdas about the best of about as many rows, if that is known (not 0).
Trial leave_out_about(SearchRun& run, const solver::BlockSource& rows, const Setting& setting,
                      const std::vector<int64_t>& train, double about,
                      std::unique_ptr<solver::RidgeSystem>* kept) {
  // Losses of classes' codes are so flat in lambda that the rule of one standard error goes far.
  const bool few = about > 0 && run.lambda < 0 && run.rule.exchangeable();
  if (few && !run.judge.classifies()) {
    try {
      return leave_out(run, rows, setting, train, lambdas_about(about));
    } catch (const Error& error) {
      if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;  // a decomposition has no such
    }
  }
  return leave_out(run, rows, setting, train, lambdas(run, {}), kept);
}

Trial hold_out(SearchRun& run, const solver::BlockSource& rows, const Setting& setting,
               const std::vector<int64_t>& train, const std::vector<int64_t>& held_out,
               const Trial* near) {
  const bool far_below = run.lambda >= 0 && run.lambda < kLeastSingle * run.unit;
  const HeldOutFit fit(rows, run.estimate.problem(), train,
                       far_below ? HeldOutFit::Sums::exact : HeldOutFit::Sums::single, run.context,
                       run.phases.counting(row_units(rows.features())));
  WalkPlan plan;
  plan.unit = run.unit;
  plan.least = kLeastSingle;
  if (run.lambda >= 0) {
    plan.grid = {run.lambda};
  } else if (near == nullptr) {
    plan.grid = in_unit(run, solver::lambda_grid(kMostLambda, kLeastSingle, kDecades));
  } else {
    plan.start = near->best().lambda / near->unit;
  }
  return judged(run, fit, plan, setting, held_out);
}

}  // namespace

Trial judged(SearchRun& run, const HeldOutFit& fit, const WalkPlan& plan, const Setting& setting,
             const std::vector<int64_t>& held_out) {
  Trial trial = fit.judge(plan, held_out, run.judge_of(setting), run.context);
  cluster(trial, clusters_of(held_out, run.rule));
  return trial;
}

namespace {

/// Of the rows of each search that repeats this one, what remains of the system's evidence. Points
/// that are worse by kHopeless standard errors none of them will choose.
std::vector<std::vector<double>> evidence_of_repeats(const SearchRun& run,
                                                     const solver::RidgeSystem* system,
                                                     const Trial& trial,
                                                     const std::vector<int64_t>& rows) {
  std::vector<std::vector<double>> all;
  if (system == nullptr || std::isnan(trial.points[0].evidence)) return all;
  std::vector<size_t> hopeful;
  std::vector<double> lambdas;
  for (size_t k = 0; k < trial.points.size(); ++k)
    if (!beats(trial, trial.best_place(), trial, k, kHopeless)) {
      hopeful.push_back(k);
      lambdas.push_back(trial.points[k].lambda);
    }
  for (const std::vector<int64_t>& left : run.repeated) {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < std::ssize(rows); ++i)
      if (!std::ranges::binary_search(left, rows[i])) out.push_back(i);
    std::vector<double>& own = all.emplace_back(trial.points.size(), kInfinity);
    const auto found = system->evidence_without(lambdas, out, run.context);
    for (size_t k = 0; k < hopeful.size(); ++k) own[hopeful[k]] = sum_over_outputs(found[k]);
  }
  return all;
}

}  // namespace

Trial try_out(SearchRun& run, int64_t stage, const Setting& setting,
              std::span<const double> lengthscales, const TrialSize& size, const Trial* near,
              double about) {
  const bool shared = run.rule.exchangeable() && setting.coupling == nullptr;
  if (run.repeat != nullptr && shared)
    if (auto known = known_trial(*run.repeat, setting, lengthscales, size))
      return std::move(*known);
  const std::vector<int64_t> train = sample_rows(run.split.train, size.rows, run.fit.select.seed);
  const solver::BlockSource& rows = map_rows(run, setting, lengthscales, size.features, train);
  const int64_t judged = std::max(kLeastHeldOut, share_of(std::ssize(run.split.held_out), size.rows,
                                                          std::ssize(run.split.train)));
  const bool leaves_out = run.leaves_out() || (run.rule.exchangeable() && size == run.sizes.coarse);
  const std::vector<int64_t> held_out =
      leaves_out ? train : sample_rows(run.split.held_out, judged, run.fit.select.seed);
  std::unique_ptr<solver::RidgeSystem> system;
  Trial trial = leaves_out ? leave_out_about(run, rows, setting, train, about, &system)
                           : hold_out(run, rows, setting, train, held_out, near);
  trial.unit = run.unit;
  trial.features = rows.features();
  if (run.repeat == nullptr && shared && run.X.rows() <= kMostNested) {
    const int64_t losses = std::ssize(trial.weights) * std::ssize(trial.losses);
    run.known.push_back({setting,
                         {lengthscales.begin(), lengthscales.end()},
                         size,
                         trial,
                         held_out,
                         evidence_of_repeats(run, system.get(), trial, held_out),
                         run.context.charge(8 * losses, "the losses of trials")});
  }
  record(run, stage, {std::ssize(train), rows.features()}, setting, lengthscales,
         run.candidates.map(), trial.best());
  return trial;
}

}  // namespace mercer::model
