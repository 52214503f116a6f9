// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The choice: a coarse walk by factors of 2 from the median heuristic, then by 2^(1/2) and 2^(1/4)
// and, by the paired rule, on to longer lengthscales. Up to kMostLeftOut rows every lambda of a
// grid is judged by leave-one-out at each lengthscale; above, few lambdas on held-out rows.
#include "model/search/search_run.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "model/estimator/class_weights.h"
#include "model/prepare/row_summary.h"
#include "model/rows/central_lengthscale.h"
#include "model/select/selection.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostHeldOut = 20000;  // enough to compare candidates
constexpr int64_t kLeastHeldOut = 2000;  // in trials on a part of the rows
constexpr int64_t kFineSteps = 3;
constexpr double kFineFactor = 1.4142135623730951;
constexpr int64_t kLonger = 2;
constexpr int64_t kLambdas = 34;
constexpr int64_t kFewLambdas = 17;  // if each takes a factorisation
constexpr double kAbout = 10;        // factor about the lambda chosen on part of the rows
constexpr int64_t kAboutLambdas = 5;
constexpr double kFar = 4;        // factor from the start beyond which it is tried again
constexpr int64_t kDecades = 10;  // from kMostLambda to it
constexpr int64_t kCoarseTrials = 5, kFineTrials = 4;  // about, for progress

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

}  // namespace

double reported(std::span<const double> lengthscales) {
  if (lengthscales.size() > 1) return kNaN;
  return lengthscales.empty() ? 0.0 : lengthscales[0];
}

SearchRun::SearchRun(const MapMaker& maker, const SearchOptions& options, const Found& found,
                     const TargetedRows& rows, std::vector<int64_t> chosen_by,
                     std::vector<int64_t> unseen, Context& context)
    : options_(options),
      fit_(options.fit),
      estimate_(fit_.estimate),
      found_(found),
      X_(rows.X),
      Y_(rows.Y),
      chosen_by_(std::move(chosen_by)),
      unseen_(std::move(unseen)),
      context_(context),
      weights_(rows.weights),
      rule_{classes_of(fit_.coding, Y_),
            {rows.groups.begin(), rows.groups.end()},
            fit_.select.ordered},
      seen_(weights_without(weights_, X_.rows(), unseen_)),
      factors_(
          class_factors(fit_.estimate.parameters, fit_.coding.classes, Y_, weights_, chosen_by_)),
      learnt_(class_weighted(Y_, weights_, factors_)),
      judge_(fit_.coding, Y_, chosen_by_, learnt_),
      split_(leaves_out() ? Split{chosen_by_, {}}
                          : split_rows(chosen_by_, options.held_out_fraction, kMostHeldOut,
                                       fit_.select.seed, Purpose::choice, rule_)),
      candidates_(maker, fit_.coding, fit_.estimate.precision, fit_.select.seed, {X_, Y_, learnt_},
                  context),
      sizes_(leaves_out() ? left_out_sizes(std::ssize(split_.train), options.features)
                          : held_out_sizes(std::ssize(split_.train), options.features)),
      phases_(context, (fit_.outputs.or_independent ? 2 : 1) *
                           (phase_units(sizes_.coarse, kCoarseTrials) +
                            phase_units(sizes_.fine, kFineTrials) + last_units())) {
  start_ = {.prepared = &prepared_with(fit_.prepare.transform, fit_.prepare.target_transform),
            .maker = &maker};
  start_ = shapes_of(start_).front();
}

const Prepared& SearchRun::prepared_with(Transform of_inputs, Transform of_targets) {
  for (const Prepared& one : prepared_)
    if (one.asked.transform == of_inputs && one.asked.target_transform == of_targets) return one;
  candidates_.release();
  Preparing asked = fit_.prepare;
  asked.transform = of_inputs;
  asked.target_transform = of_targets;
  const RowSummary summary(asked, found_, fit_.select.seed, X_, ranged_targets(fit_.coding, Y_),
                           seen_, context_);
  return prepared_.emplace_back(Prepared{asked, summary.preparation()});
}

Ranges SearchRun::ranges() const {
  return ranges_of(X_, ranged_targets(fit_.coding, Y_), fit_.select.seed, context_, seen_);
}

solver::RowsDone SearchRun::counting(int64_t features) {
  return [this, units = pace_ * static_cast<double>(row_units(features))](int64_t rows) {
    phases_.advance(static_cast<int64_t>(static_cast<double>(rows) * units));
  };
}

std::vector<double> SearchRun::lambdas(const Chosen& near) const {
  if (options_.lambda >= 0) return {options_.lambda};
  if (std::ssize(chosen_by_) > kMostLeftOut && !near.trial.points.empty())
    return solver::lambda_grid(kAbout * near.point.lambda, near.point.lambda / kAbout,
                               kAboutLambdas);
  return in_unit(
      solver::lambda_grid(kMostLambda, kLeastTried, rule_.exchangeable() ? kLambdas : kFewLambdas));
}

std::vector<double> SearchRun::in_unit(std::vector<double> lambdas) const {
  for (double& lambda : lambdas) lambda *= unit_;
  return lambdas;
}

void SearchRun::take_unit(const feature::FeatureMap& map, const solver::BlockSource& rows,
                          const std::vector<int64_t>& train) {
  unit_ = lambda_unit(map.kernel(), estimate_.coupling.get(), *rows.subset(train), context_);
}

double SearchRun::central(const Setting& setting) {
  if (setting.maker->start() > 0) return setting.maker->start();
  double& found = central_[setting.prepared];
  if (found == 0)
    found = X_.visit([&](const auto& X) {
      return central_lengthscale(setting.prepared->by, X, split_.train, fit_.select.seed, context_);
    });
  return found;
}

// The median distance is a Gaussian kernel's; other kernels' lengthscales are in their own units.
double SearchRun::longest(const Setting& setting) {
  const double start = kLongest * central(setting);
  if (setting.maker->start() > 0 || !setting.maker->scales_inputs()) return start;
  const auto d = static_cast<double>(setting.prepared->by.prepared(X_.cols()));
  return start * std::max(1.0, usual_lengthscale(setting) / std::sqrt(2 * d));
}

LengthscaleWalk::HasCandidate SearchRun::candidates(const Setting& setting) {
  return [most = longest(setting), maker = setting.maker](double lengthscale) {
    return lengthscale <= most && maker->has_candidate(lengthscale);
  };
}

void SearchRun::check_on_all(Chosen& chosen) {
  const int64_t n = std::ssize(chosen_by_);
  if (!leaves_out() || !rule_.exchangeable() || !searches_lengthscale() ||
      chosen.lengthscales.size() != 1 || options_.final_estimate || 2 * sizes_.fine.rows >= n)
    return;
  const double start = longest(chosen.setting) / kLongest;
  if (chosen.lengthscales[0] <= kFar * start) return;
  const TrialSize whole{n, options_.features};
  Trial far = try_out(3, chosen.setting, chosen.lengthscales, whole, nullptr);
  Trial near = try_out(3, chosen.setting, {&start, 1}, whole, nullptr);
  const bool stays = !is_less(near.best().loss, far.best().loss);
  if (!stays) chosen.lengthscales = {start}, lengthscale_at_edge_ = false;
  Trial& taken = stays ? far : near;
  const size_t at = paired_pick(taken);
  chosen.take(std::move(taken), at);
  chosen.whole = true;
}

Trial SearchRun::leave_out(const solver::BlockSource& rows, const Setting& setting,
                           const std::vector<int64_t>& train, const std::vector<double>& lambdas) {
  const auto count = counting(rows.features());
  const Judge judge = judge_of(setting);
  if (rule_.exchangeable())
    return left_out_trial(*rows.subset(train), estimate_.problem(), lambdas, judge.on(train),
                          context_, count);
  const std::vector<Split> splits = fold_splits(train, kFolds, fit_.select.seed, rule_);
  Trial trial = judge_splits(rows, estimate_.problem(), splits, lambdas, judge, context_, count);
  cluster(trial, clusters_of(held_out_of(splits), rule_));
  return trial;
}

Trial SearchRun::hold_out(const solver::BlockSource& rows, const Setting& setting,
                          const std::vector<int64_t>& train, const std::vector<int64_t>& held_out,
                          const Trial* near) {
  const bool far_below = options_.lambda >= 0 && options_.lambda < kLeastSingle * unit_;
  const HeldOutFit fit(rows, estimate_.problem(), train,
                       far_below ? HeldOutFit::Sums::exact : HeldOutFit::Sums::single, context_,
                       counting(rows.features()));
  LambdaPlan plan;
  plan.unit = unit_;
  plan.least = kLeastSingle;
  if (options_.lambda >= 0) {
    plan.grid = {options_.lambda};
  } else if (near == nullptr) {
    plan.grid = in_unit(solver::lambda_grid(kMostLambda, kLeastSingle, kDecades));
  } else {
    plan.start = near->best().lambda / near->unit;
  }
  return judged(fit, plan, setting, held_out);
}

Trial SearchRun::judged(const HeldOutFit& fit, const LambdaPlan& plan, const Setting& setting,
                        const std::vector<int64_t>& held_out) {
  Trial trial = fit.judge(plan, held_out, judge_of(setting), context_);
  cluster(trial, clusters_of(held_out, rule_));
  return trial;
}

Trial SearchRun::try_out(int64_t stage, const Setting& setting,
                         std::span<const double> lengthscales, const TrialSize& size,
                         const Trial* near) {
  const std::vector<int64_t> train = sample_rows(split_.train, size.rows, fit_.select.seed);
  candidates_.use(*setting.maker);
  const solver::BlockSource& rows =
      candidates_.at(setting.prepared->by, lengthscales, size.features, train);
  couple(candidates_.map(), setting);
  take_unit(candidates_.map(), rows, train);
  const int64_t judged = std::max(
      kLeastHeldOut, share_of(std::ssize(split_.held_out), size.rows, std::ssize(split_.train)));
  Trial trial = leaves_out()
                    ? leave_out(rows, setting, train, lambdas({}))
                    : hold_out(rows, setting, train,
                               sample_rows(split_.held_out, judged, fit_.select.seed), near);
  trial.unit = unit_;
  const TrialPoint& best = trial.best();
  keep({stage, rows.features(), std::ssize(train), reported(lengthscales), best.lambda, best.score,
        0, setting.prepared->asked.transform, best.loss, setting.shape,
        std::string(candidates_.map().kernel().name()), setting.prepared->asked.target_transform});
  return trial;
}

void SearchRun::keep(SearchCandidate candidate) {
  const Time now = std::chrono::steady_clock::now();
  candidate.seconds = std::chrono::duration<double>(now - std::exchange(kept_at_, now)).count();
  report_.trials.push_back(candidate);
  if (options_.report != nullptr) options_.report(options_.user, candidate);
}

SearchRun::Chosen SearchRun::chosen_of(const Setting& setting, const LengthscaleWalk& walk,
                                       const TrialSize& size) {
  const LengthscaleWalk::Choice choice = choice_of(walk);
  const bool whole = size.rows == std::ssize(chosen_by_) && size.features == options_.features;
  Chosen chosen;
  chosen.setting = setting;
  chosen.lengthscales = {choice.tried->lengthscale};
  chosen.take(choice.tried->trial, choice.point);
  chosen.whole = whole && leaves_out();
  return chosen;
}

SearchRun::Chosen SearchRun::choose() {
  if (searches_lengthscale()) return choose_lengthscale();
  Chosen chosen;
  chosen.setting = start_;
  if (start_.maker->has_lengthscale()) chosen.lengthscales = {options_.lengthscale};
  if (options_.lambda >= 0 || leaves_out()) return chosen;
  Trial trial = try_out(0, chosen.setting, chosen.lengthscales, sizes_.coarse, nullptr);
  const size_t at = paired_pick(trial);
  chosen.take(std::move(trial), at);
  return chosen;
}

SearchRun::Chosen SearchRun::choose_lengthscale() {
  stage_ = 0;
  phases_.begin(phase_units(sizes_.coarse, kCoarseTrials));
  Walked walked = walk_settings();
  LengthscaleWalk& coarse = walked.walk;
  stage_ = 1;
  phases_.begin(phase_units(sizes_.fine, kFineTrials));
  const bool stopped = coarse.stopped_short();
  const double ended = coarse.best().lengthscale;
  const auto refine = [&](LengthscaleWalk& walk) {
    walk.climb(kFineFactor, kFineSteps);
    if (leaves_out()) {
      walk.lengthen(kFineFactor, kLonger);
    } else {
      walk.climb(std::sqrt(kFineFactor), 1);
    }
    const Chosen chosen = chosen_of(walked.setting, walk, sizes_.fine);
    const double l = chosen.lengthscales[0];
    const bool stayed = std::abs(std::log(l / ended)) < 1.01 * std::log(kFineFactor);
    lengthscale_at_edge_ = (stopped && stayed) || l * kFineFactor > longest(walked.setting);
    return chosen;
  };
  if (sizes_.coarse == sizes_.fine) return refine(coarse);
  const Tried& near_by = coarse.best();
  const double start = longest(walked.setting) / kLongest;
  LengthscaleWalk fine(
      near_by.lengthscale,
      [&](double lengthscale, const Trial* near) {
        return try_out(stage_, walked.setting, {&lengthscale, 1}, sizes_.fine,
                       near == nullptr ? &near_by.trial : near);
      },
      candidates(walked.setting));
  // Few rows see a trend before details: the walk may have passed by what more rows show.
  if (near_by.lengthscale > kFar * start) fine.probe(start);
  return refine(fine);
}

}  // namespace mercer::model
