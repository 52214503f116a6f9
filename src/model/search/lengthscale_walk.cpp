// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/lengthscale_walk.h"

#include <algorithm>
#include <cmath>

#include "model/search/search_run.h"

namespace mercer::model {
namespace {

// Of the loss: along a kernel's limit of long lengthscales each step gains a little less.
constexpr double kLittle = 0.01;

}  // namespace

LengthscaleWalk::LengthscaleWalk(double start, TryOut try_out, HasCandidate has_candidate)
    : try_out_(std::move(try_out)), has_candidate_(std::move(has_candidate)) {
  tried_.push_back({start, try_out_(start, nullptr)});
}

bool LengthscaleWalk::try_at(double lengthscale) {
  if (!has_candidate_(lengthscale)) return false;
  tried_.push_back({lengthscale, try_out_(lengthscale, &tried_[best_].trial)});
  const double loss = tried_.back().trial.best().loss, least = tried_[best_].trial.best().loss;
  const bool better = is_less(loss, least);
  gains_ = loss < (1 - kLittle) * least;
  if (better) best_ = tried_.size() - 1;
  return better;
}

void LengthscaleWalk::climb(double factor, int64_t most) {
  const size_t start = best_;
  for (const double step : {1.0 / factor, factor}) {
    int64_t taken = 0;
    while (taken < most && try_at(tried_[best_].lengthscale * step)) {
      ++taken;
      if (!gains_) break;
    }
    const bool ends = taken == most || !has_candidate_(tried_[best_].lengthscale * step);
    stopped_short_ = stopped_short_ || (taken > 0 && ends);
    if (best_ != start) break;
  }
}

void LengthscaleWalk::lengthen(double factor, int64_t most) {
  for (int64_t k = 0; k < most; ++k) {
    const auto longest = std::ranges::max_element(tried_, {}, &LengthscaleTrial::lengthscale);
    if (choice().tried != &*longest) return;
    try_at(longest->lengthscale * factor);
  }
}

LengthscaleWalk::Choice LengthscaleWalk::choice() const {
  std::vector<const Trial*> trials;
  for (const LengthscaleTrial& one : tried_) trials.push_back(&one.trial);
  const TrialPlace picked = paired_pick(trials);
  return {&tried_[picked.trial], picked.point};
}

namespace {

// Smaller trials would save nothing that matters.
constexpr TrialSize kLeast{2000, 512};
constexpr int64_t kCoarseRows = 300, kFineRows = 600;
constexpr double kProducts = 2e10;
constexpr double kRowsPerFeature = 2.5;

/// Some forms want an even number of features, some sketches whole blocks.
int64_t divided(int64_t features, int64_t divisor) { return features / divisor / 32 * 32; }

TrialSize part(int64_t rows, int64_t features, int64_t divisor) {
  const int64_t D = std::max(divided(features, divisor), std::min(features, kLeast.features));
  const int64_t n = std::max(rows / divisor, std::min(rows, kLeast.rows));
  const auto wide = static_cast<double>(D);
  const double most = std::max(kRowsPerFeature * wide, kProducts / (wide * wide));
  return {static_cast<int64_t>(std::min(static_cast<double>(n), most)), D};
}

}  // namespace

// A decomposition's order is the lesser of rows and features.
TrialSizes left_out_sizes(int64_t rows, int64_t features) {
  const auto size = [&](int64_t most) {
    return TrialSize{features <= most ? rows : std::min(rows, most), features};
  };
  return {size(kCoarseRows), size(kFineRows)};
}

// With few features more rows fit in the same time; fewer rows would hide details.
TrialSizes held_out_sizes(int64_t rows, int64_t features) {
  const int64_t most = std::max(kFineRows, kFineRows * kFineRows / features);
  return {{std::min(rows, most), features}, part(rows, features, 2)};
}

// The choice of a lengthscale: a coarse walk by factors of 2 from the median heuristic, then by
// 2^(1/2) and 2^(1/4) and, by the paired rule, on to longer lengthscales. At each
// lengthscale every lambda of a grid is judged by leave-one-out; above kMostLeftOut rows fine trials
// judge few lambdas on held-out rows.

namespace {

constexpr int64_t kFineSteps = 6;  // details that coarse trials had too few rows for
constexpr double kFineFactor = 1.4142135623730951;
constexpr int64_t kLonger = 2;
constexpr double kFar = 4;  // factor from the start beyond which it is tried again

Candidate chosen_of(SearchRun& run, const Setting& setting, const LengthscaleWalk& walk,
                    const TrialSize& size) {
  const LengthscaleWalk::Choice choice = choice_of(run, walk);
  const bool whole = size.rows == std::ssize(run.chosen_by) &&
                     size.features == run.options.features &&
                     choice.tried->trial.features == size.features;
  Candidate chosen;
  chosen.setting = setting;
  chosen.lengthscales = {choice.tried->lengthscale};
  chosen.take(choice.tried->trial, choice.point);
  chosen.whole = whole && run.leaves_out();
  return chosen;
}

Candidate walk_lengthscale(SearchRun& run) {
  run.stage = kCoarseStage;
  run.phases.begin(phase_units(run.sizes.coarse, kCoarseTrials));
  SettingWalk walked = walk_settings(run);
  LengthscaleWalk& coarse = walked.walk;
  run.stage = kFineStage;
  run.phases.begin(phase_units(run.sizes.fine, kFineTrials));
  const bool stopped = coarse.stopped_short();
  const double ended = coarse.best().lengthscale;
  const auto refine = [&](LengthscaleWalk& walk) {
    walk.climb(kFineFactor, kFineSteps);
    if (run.leaves_out()) {
      walk.lengthen(kFineFactor, kLonger);
    } else {
      walk.climb(std::sqrt(kFineFactor), 1);
    }
    Candidate chosen = chosen_of(run, walked.setting, walk, run.sizes.fine);
    const double l = chosen.lengthscales[0];
    const bool stayed = std::abs(std::log(l / ended)) < 1.01 * std::log(kFineFactor);
    chosen.at_edge = (stopped && stayed) || l * kFineFactor > longest(run, walked.setting);
    return chosen;
  };
  if (run.sizes.coarse == run.sizes.fine) return refine(coarse);
  const LengthscaleTrial& near_by = coarse.best();
  const double start = longest(run, walked.setting) / kLongest;
  LengthscaleWalk fine(
      near_by.lengthscale,
      [&](double lengthscale, const Trial* near) {
        return try_out(run, run.stage, walked.setting, {&lengthscale, 1}, run.sizes.fine,
                       near == nullptr ? &near_by.trial : near);
      },
      has_candidate(run, walked.setting));
  // Few rows see a trend before details: the walk may have passed by what more rows show.
  if (near_by.lengthscale > kFar * start) fine.probe(start);
  return refine(fine);
}

}  // namespace

LengthscaleWalk::Choice choice_of(const SearchRun& run, const LengthscaleWalk& walk) {
  return run.leaves_out() ? walk.choice() : walk.best_choice();
}

Candidate choose_lengthscale(SearchRun& run) {
  if (run.searches_lengthscale()) return walk_lengthscale(run);
  Candidate chosen;
  chosen.setting = run.start;
  if (run.start.partial->has_lengthscale()) chosen.lengthscales = {run.options.lengthscale};
  if (run.lambda >= 0 || run.leaves_out()) return chosen;
  Trial trial =
      try_out(run, kCoarseStage, chosen.setting, chosen.lengthscales, run.sizes.coarse, nullptr);
  const size_t at = paired_pick(trial);
  chosen.take(std::move(trial), at);
  return chosen;
}

void check_on_all(SearchRun& run, Candidate& chosen) {
  const int64_t n = std::ssize(run.chosen_by);
  if (!run.leaves_out() || !run.rule.exchangeable() || !run.searches_lengthscale() ||
      chosen.lengthscales.size() != 1 || run.fitted_last || 2 * run.sizes.fine.rows >= n)
    return;
  const double start = longest(run, chosen.setting) / kLongest;
  if (chosen.lengthscales[0] <= kFar * start || !has_time(run, "the start on all rows")) return;
  const TrialSize whole{n, run.options.features};
  Trial far = try_out(run, kFeaturesStage, chosen.setting, chosen.lengthscales, whole, nullptr);
  Trial near = try_out(run, kFeaturesStage, chosen.setting, {&start, 1}, whole, nullptr);
  const bool stays = !is_less(near.best().loss, far.best().loss);
  if (!stays) chosen.lengthscales = {start}, chosen.at_edge = false;
  Trial& taken = stays ? far : near;
  const size_t at = paired_pick(taken);
  chosen.take(std::move(taken), at);
  chosen.whole = true;
}

}  // namespace mercer::model
