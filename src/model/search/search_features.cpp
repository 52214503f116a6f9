// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses D by its learning curve: fits with D/2 and D features, each with its own lambda, predict
// the gain of 2 D. The variance of random features, and the loss that it adds, falls as 1/D, so
// each doubling gains half as much as the last, or more if D limits the fit. D is doubled while the
// predicted gain exceeds both the standard error of the difference and a share of the unexplained
// loss. Where the gain is within its error, which thousands of rows held out would take to tell, twice
// the features are looked at if that takes at most kMostLook times the sums of all trials before,
// and kept if they gain more than an error.
#include <algorithm>
#include <cmath>

#include "model/assess/warnings.h"
#include "model/search/search_run.h"
#include "solver/lambda_path.h"

namespace mercer::model {
namespace {

constexpr int64_t kLeastCurve = 1024;  // fewer features: speed was asked for
constexpr double kCurveErrors = 2, kCurveShare = 0.01;
constexpr double kNextGain = 0.5;  // of the last
constexpr double kMostLook = 2;
constexpr double kFeatureStep = 1.4142135623730951;
constexpr int64_t kFeatureSteps = 3;

/// What the curve says of twice the features: that they do not pay, or do, or that they gained
/// something, but less than rows held out tell apart.
enum class Doubling { stops, open, pays };

Doubling doubling(const Trial& half, const Trial& whole) {
  const Gain found = gain(whole, whole.best_place(), half, half.best_place());
  const double least = kCurveShare * whole.best().loss;
  if (found.mean > kCurveErrors * found.error && kNextGain * found.mean > least)
    return Doubling::pays;
  return found.mean > 0 && kNextGain * (found.mean + found.error) > least ? Doubling::open
                                                                          : Doubling::stops;
}

}  // namespace

/// From D = n on the exact kernel is better and costs no more.
bool SearchRun::has_twice(int64_t D, const Chosen& chosen) const {
  return 2 * D <= std::ssize(chosen_by_) &&
         chosen.setting.maker->features_of(2 * D, std::ssize(chosen_by_)) == 2 * D;
}

bool SearchRun::has_curve(const Chosen& chosen) {
  const int64_t D = options_.features;
  if (D < kLeastCurve || options_.lambda >= 0 || !judge_.varies() || !has_twice(D, chosen))
    return false;
  if (!judge_.classifies()) return true;
  map_whole(chosen, D);  // the learning curve is that of least squares only
  return !tries_logistic(*whole_, estimator(), leaves_out() ? kFolds : 1, context_);
}

int64_t SearchRun::last_units() const {
  const TrialSize whole{std::ssize(split_.train), options_.features};
  const int64_t last = phase_units(whole, 1);
  return phase_units({whole.rows, whole.features / 2}, 1) +
         (2 * whole.features <= options_.most_features ? 2 : 1) * last;
}

/// The number of doublings is unknown: each takes half of the remaining progress.
void SearchRun::begin_whole(int64_t features) {
  const double share =
      std::min(1.0, static_cast<double>(options_.features) / static_cast<double>(features));
  pace_ = share * share * share;
  phases_.begin(static_cast<int64_t>(
      pace_ * static_cast<double>(phase_units({std::ssize(split_.train), features}, 1))));
}

void SearchRun::choose_features(Chosen& chosen) {
  const auto take = [&](Chosen& one, int64_t features) {
    begin_whole(features);
    take_whole(one, features);
  };
  const auto keep_this = [&](const Chosen& one) { keep(3, std::ssize(split_.train), one); };
  int64_t D = options_.features;
  if (!has_curve(chosen)) return take(chosen, D);
  Chosen fewer = chosen;
  fewer.whole = false;
  take(fewer, D / 64 * 32);
  keep_this(fewer);
  take(chosen, D);
  for (;; D *= 2) {
    const Doubling next = doubling(fewer.trial, chosen.trial);
    const bool pays = next == Doubling::pays;
    if (next == Doubling::stops || !may_double(D, chosen) || !(pays || may_look(2 * D))) {
      if (pays && has_twice(D, chosen)) warn_of_few_features(D, fewer.trial, chosen);
      return;
    }
    keep_this(chosen);
    fewer = chosen;
    walk_again(2 * D, chosen);
    take(chosen, 2 * D);
    const size_t at = chosen.trial.best_place(), before = fewer.trial.best_place();
    if (pays || beats(chosen.trial, at, fewer.trial, before, 1)) continue;
    keep_this(chosen);
    chosen = std::move(fewer);
    return take(chosen, D);
  }
}

bool SearchRun::may_look(int64_t features) const {
  const auto products = [](int64_t rows, int64_t D) {
    return static_cast<double>(rows) * static_cast<double>(D) * static_cast<double>(D);
  };
  const int64_t rows = std::ssize(split_.train);
  double spent = products(rows, features / 2);  // the last fit, which is not kept yet
  for (const SearchCandidate& trial : report_.trials) spent += products(trial.rows, trial.features);
  return products(rows, features) <= kMostLook * spent;
}

bool SearchRun::may_double(int64_t D, const Chosen& chosen) const {
  return 2 * D <= options_.most_features && estimate_.coupling == nullptr && has_twice(D, chosen) &&
         context_.has_room(2 * solver::least_ridge_bytes(X_.rows(), 2 * D));
}

/// The lengthscale that suits few features is too long for many.
void SearchRun::walk_again(int64_t features, Chosen& chosen) {
  if (!searches_lengthscale()) return;
  last_.reset();
  const TrialSizes sizes = held_out_sizes(std::ssize(split_.train), features);
  const double most = longest(chosen.setting) / *std::ranges::min_element(chosen.lengthscales);
  LengthscaleWalk walk(
      1.0,
      [&](double factor, const Trial* near) {
        return try_out(3, chosen.setting, scaled(chosen.lengthscales, factor), sizes.fine,
                       near == nullptr ? &chosen.trial : near);
      },
      [&](double factor) { return factor <= most; });
  walk.climb(kFeatureStep, kFeatureSteps);
  chosen.lengthscales = scaled(chosen.lengthscales, choice_of(walk).tried->lengthscale);
}

void SearchRun::warn_of_few_features(int64_t D, const Trial& fewer, const Chosen& chosen) {
  const double score = chosen.trial.best().score;
  const double better = kNextGain * (fewer.best().score - score);
  if (!(better > 0)) return;
  const bool open = !options_.given_features && estimate_.coupling == nullptr;
  report_.warnings.push_back(
      text("%ld features are few: twice as many would raise %s from %.4f to about %.4f on the "
           "training rows (%s = %ld: four times the time and memory of the last fit)",
           D, judge_.classifies() ? "accuracy" : "R^2", 1 - score, 1 - score + better,
           open ? "most_features" : "features", 2 * D));
}

}  // namespace mercer::model
