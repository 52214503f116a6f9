// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The run of a search: the order of its stages, the choice of D, the drift of rows, and the final
// fit.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "base/numbers.h"
#include "model/assess/warnings.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/posterior_prediction.h"
#include "model/prepare/row_coding.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "model/search/search_run.h"
#include "model/select/selection.h"
#include "solver/lambda_path.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

// The final fit. If the choice was made on a part of the rows or features, lambda is chosen once
// more on all of them. Unseen rows are scored, then added to the sums with lambda kept.

constexpr int64_t kFittedJudged = 2000;  // training rows
// Training error over held-out error: below this noise was fitted. The least lambda alone proves
// nothing: at a long lengthscale it is that of a polynomial.
constexpr double kInterpolating = 0.01;

}  // namespace

void SearchRun::assess_by(const Chosen& chosen, std::shared_ptr<const Predictor> predictor,
                          std::shared_ptr<const solver::Posterior> posterior) {
  Model model;
  model.map = map_;
  model.fit = fit_;
  if (final_ == nullptr) model.fit.estimate = judging(fit_.estimate);
  model.preparation = chosen.setting.prepared->by;
  model.ranges = ranges();
  model.predictor = std::move(predictor);
  model.posterior = std::move(posterior);
  const Matrix<double> targets = copied_targets(Y_, unseen_, context_);
  Foreseen foreseen{Matrix<double>(std::ssize(unseen_), model.outputs(), context_,
                                   "predictions of rows held out"),
                    baselines(model, X_, Y_, chosen_by_, unseen_, context_, weights_)};
  const CopiedRows rows(X_, unseen_, context_);
  predict(model, rows.rows(), context_, foreseen.model.view(), foreseen_as(fit_.extrapolation));
  foreseen.variance = variances_of(model, rows.rows(), context_);
  report_.assessment =
      assess(Assessed::unseen, Measuring(fit_.coding.task, model.fit.estimate), targets.view(),
             foreseen, solver::numbers_of(weights_, unseen_), 1, clusters_of(unseen_, rule_));
  report_.assessment.groups = group_count(unseen_, rule_.groups);
}

void SearchRun::choose_between(std::span<const Split> splits, const RidgeResult& ridge,
                               Chosen& chosen) {
  if (fit_.coding.task != Task::classification) return;
  if (!options_.calibrate && options_.estimator == Estimator::ridge) return;
  RidgeResult given = ridge;
  given.given = lambda_ >= 0;
  given.unit = unit_;
  given.class_factors = factors_;
  const int64_t rows = std::ssize(split_.train);
  const bool tries = tries_logistic(plain_rows(chosen), estimator(), splits.size(), context_);
  if (tries) keep(3, rows, chosen);
  choice_ = choose_estimator(plain_rows(chosen), judging(fit_.estimate), estimator(), splits, given,
                             context_);
  if (keeps_logistic()) {
    chosen.point.lambda = choice_->lambda;
    chosen.point.score = choice_->error_rate;
    // These were ridge's.
    chosen.point.dimension = chosen.point.loss = kNaN;
  }
  if (tries) keep(kLogisticStage, rows, chosen);
}

solver::Weights SearchRun::fit_logistic_last(const Chosen& chosen,
                                             const solver::RowStatistics* statistics) {
  const FeatureRows rows = plain_rows(chosen);
  if (!unseen_.empty())
    assess_by(chosen, fit_logistic(*rows.subset(chosen_by_), statistics, *choice_, context_));
  return fit_logistic(rows, statistics, *choice_, context_);
}

void SearchRun::map_whole(const Chosen& chosen, int64_t features) {
  last_.reset();
  whole_.reset();
  const MapMaker& maker = *chosen.setting.maker;
  candidates_.use(maker);
  candidates_.release();
  map_ = chosen.learnt;
  if (map_ == nullptr)
    map_ = candidates_.make(chosen.setting.prepared->by, chosen.lengthscales, features,
                            made_of(maker));
  couple(*map_, chosen.setting);
  whole_.emplace(rows_of(chosen, learnt_));
  take_unit(*map_, *whole_, chosen_by_);
}

void SearchRun::take_whole(Chosen& chosen, int64_t features) {
  map_whole(chosen, features);
  if (chosen.whole) return;
  Trial trial;
  if (leaves_out()) {
    trial = leave_out(*whole_, chosen.setting, chosen_by_, lambdas(chosen));
  } else {
    last_.emplace(*whole_, estimate_.problem(), split_.train, HeldOutFit::Sums::exact, context_,
                  counting(features));
    LambdaPlan plan;
    plan.unit = unit_;
    if (!chosen.trial.points.empty()) plan.start = chosen.point.lambda / unit_;
    // Trials went no lower than kLeastSingle; the best lambda may lie far below.
    plan.factor = plan.start <= 1.5 * kLeastSingle ? 10.0 : std::sqrt(10.0);
    if (lambda_ >= 0) plan.grid = {lambda_};
    trial = judged(*last_, plan, chosen.setting, split_.held_out);
  }
  const size_t at = paired_pick(trial);
  chosen.take(std::move(trial), at);
}

solver::Weights SearchRun::fit_left_out(Chosen& chosen) {
  const FeatureRows& rows = *whole_;
  const Selecting fixed{.selection = Selection::fixed, .lambda = chosen.point.lambda};
  const auto solved = [&](const solver::BlockSource& some) {
    return select(some, fixed, fit_.coding.task, estimate_.problem(), context_).weights;
  };
  const auto part = [&](const Split& split) { return solved(*rows.subset(split.train)); };
  choose_between(
      fold_splits(chosen_by_, std::min(kFolds, std::ssize(chosen_by_)), fit_.select.seed, rule_),
      {.lambda = fixed.lambda, .part = part}, chosen);
  if (keeps_logistic()) return fit_logistic_last(chosen, nullptr);
  if (!unseen_.empty()) assess_by(chosen, solved(*rows.subset(chosen_by_)));
  return solved(rows);
}

solver::Weights SearchRun::fit_held_out(Chosen& chosen) {
  HeldOutFit& fit = *last_;
  const double lambda = chosen.point.lambda;
  const auto part = [&](const Split&) { return fit.solve(lambda, context_); };
  choose_between({&split_, 1}, {.lambda = lambda, .part = part, .statistics = fit.statistics()},
                 chosen);
  if (keeps_logistic()) return fit_logistic_last(chosen, fit.statistics());
  fit.add(split_.held_out, context_);
  if (!unseen_.empty()) {
    assess_by(chosen, fit.solve(chosen.point.lambda, context_));
    fit.add(unseen_, context_);
  }
  return fit.solve(chosen.point.lambda, context_);
}

Selection SearchRun::final_selection() const {
  if (options_.lambda >= 0) return Selection::fixed;
  const Selection usual = by_evidence() ? Selection::evidence : final_->entry->selection;
  if (usual != Selection::loo) return usual;
  if (!leaves_out()) return Selection::held_out;
  return rule_.exchangeable() ? Selection::loo : Selection::kfold;
}

void SearchRun::fit_final(Chosen& chosen, Model& model) {
  Estimating asked = *final_;
  asked.coupling = estimate_.coupling;
  Selecting how = fit_.select;
  how.selection = final_selection();
  how.lambda = options_.lambda;
  how.unit = unit_;
  how.held_out_fraction = options_.held_out_fraction;
  const FeatureRows rows = plain_rows(chosen);
  const auto learn = [&](const solver::BlockSource& some, const Selecting& by) {
    return asked.entry->fit(some, asked, fit_.coding, by, context_);
  };
  const auto learn_all = [&] {
    if (unseen_.empty()) return learn(rows, how);
    Learned seen = learn(*rows.subset(chosen_by_), how);
    assess_by(chosen, std::move(seen.predictor), std::move(seen.posterior));
    model.path = std::move(seen.path);
    Selecting kept = how;
    kept.selection = Selection::fixed;
    kept.lambda = seen.lambda;
    try {
      return learn(rows, kept);
    } catch (const Error& error) {
      // The sums over all rows have other rounding errors: choose lambda again.
      const bool given = how.selection == Selection::fixed;
      if (given || error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
      return learn(rows, how);
    }
  };
  Learned learned = learn_all();
  model.predictor = std::move(learned.predictor);
  model.calibration = std::move(learned.calibration);
  model.posterior = std::move(learned.posterior);
  report_.elbo = learned.elbo;
  std::ranges::move(learned.warnings, std::back_inserter(report_.warnings));
  if (unseen_.empty()) model.path = std::move(learned.path);
  // These were ridge's, which chose the map.
  if (chosen.trial.points.empty()) chosen.point.score = kNaN;
  chosen.point.dimension = model.posterior ? model.posterior->effective_dimension() : kNaN;
  chosen.point.lambda = learned.lambda;
}

double SearchRun::training_loss(const Chosen& chosen, const Model& model) {
  if (final_ || lambda_ >= 0 || keeps_logistic() || chosen.point.lambda > kLeastTried * unit_)
    return std::numeric_limits<double>::quiet_NaN();
  const std::vector<int64_t> some = sample_rows(chosen_by_, kFittedJudged, fit_.select.seed);
  const Judge judge = judge_of(chosen.setting).on(some);
  TrialSums sums(judge, whole_->outputs(), 1);
  for_each_scored(*whole_->subset(some), {&linear_weights(model), 1}, context_,
                  [&](int64_t i, const double* code, double weight, const double* scores) {
                    sums.add(i, code, weight, scores);
                  });
  return sums.finish({TrialPoint{}}).points[0].loss;
}

void SearchRun::keep(int64_t stage, int64_t rows, const Chosen& chosen) {
  keep({stage, map_->features(), rows, reported(chosen.lengthscales), chosen.point.lambda,
        chosen.point.score, 0, chosen.setting.prepared->asked.transform, chosen.point.loss,
        chosen.setting.shape, std::string(map_->kernel().name()),
        chosen.setting.prepared->asked.target_transform});
}

void SearchRun::fill_report(const Chosen& chosen, double training_loss) {
  report_.rows_are = !rule_.groups.empty() ? RowsAre::grouped
                     : rule_.ordered       ? RowsAre::ordered
                                           : RowsAre::exchangeable;
  report_.criterion = !leaves_out()          ? ComparedBy::held_out
                      : rule_.exchangeable() ? ComparedBy::leave_one_out
                                             : ComparedBy::folds;
  report_.criterion_rows = leaves_out() ? std::ssize(chosen_by_) : std::ssize(split_.held_out);
  report_.criterion_score = chosen.point.score;
  report_.lengthscale = reported(chosen.lengthscales);
  report_.transform = chosen.setting.prepared->asked.transform;
  report_.lambda = chosen.point.lambda;
  report_.shape = chosen.setting.shape;
  report_.kernel = map_->kernel().name();
  report_.target_transform = chosen.setting.prepared->asked.target_transform;
  report_.dimension = chosen.point.dimension;
  std::ranges::move(choice_warnings(report_, lengthscale_at_edge_),
                    std::back_inserter(report_.warnings));
  warn_of_ends(chosen, training_loss);
}

/// Of the lambdas of the last trial, if these reach an end of all that a search tries.
void SearchRun::warn_of_ends(const Chosen& chosen, double training_loss) {
  const double lambda = chosen.point.lambda;
  if (lambda_ >= 0 || final_ || (lambda > kLeastTried * unit_ && lambda < kMostLambda * unit_))
    return;
  std::vector<PathPoint> path = keeps_logistic() ? choice_->path : std::vector<PathPoint>();
  for (const TrialPoint& point : chosen.trial.points)
    if (!keeps_logistic()) path.push_back({point.lambda, point.loss});
  std::ranges::sort(path, std::ranges::greater(), &PathPoint::lambda);
  const bool interpolates = training_loss < kInterpolating * chosen.point.loss;
  // A constant's loss is 1, about 1 of classes.
  std::ranges::move(end_warnings(path, {.lambda = lambda, .unit = unit_}, 1, interpolates),
                    std::back_inserter(report_.warnings));
}

/// Leave-one-out is for ridge alone; logistic regression was judged on held-out rows.
Fitting SearchRun::fitted_as(const Chosen& chosen) const {
  Fitting fitted = fit_;
  if (final_ == nullptr) fitted.estimate = choice_ ? choice_->estimating : judging(fit_.estimate);
  if (chosen.setting.coupling == nullptr) {
    fitted.outputs = {};
  } else {
    fitted.outputs.weight = chosen.setting.shape;
  }
  fitted.estimate.coupling = nullptr;  // only for the fit
  fitted.select.folds = std::min(fitted.select.folds, std::ssize(chosen_by_));
  fitted.prepare = chosen.setting.prepared->asked;
  fitted.select.lambda = chosen.point.lambda;
  fitted.select.selection = options_.lambda >= 0                ? Selection::fixed
                            : final_                            ? final_selection()
                            : !leaves_out() || keeps_logistic() ? Selection::held_out
                            : rule_.exchangeable()              ? Selection::loo
                                                                : Selection::kfold;
  return fitted;
}

SearchRun::Chosen SearchRun::choose_all() {
  Chosen chosen = choose();
  choose_shape(chosen);
  const Chosen one = chosen;
  try_per_input(chosen);
  climb_evidence(chosen, one);
  check_on_all(chosen);
  learn_frequencies(chosen);
  tell_relevance(chosen);
  return chosen;
}

Model SearchRun::run(Ranges ranges) {
  check_gradients();
  Chosen chosen = choose_all();
  if (fit_.outputs.or_independent)
    if (std::optional<Model> apart = run_independent(chosen, ranges)) return std::move(*apart);
  return finish(std::move(chosen), std::move(ranges));
}

Model SearchRun::finish(Chosen chosen, Ranges ranges) {
  Model model;
  if (final_) {
    phases_.begin(phase_units({std::ssize(split_.train), options_.features}, 1));
    map_whole(chosen, options_.features);
    fit_final(chosen, model);
  } else {
    choose_features(chosen);
    model.predictor = make_linear(leaves_out() ? fit_left_out(chosen) : fit_held_out(chosen));
    last_.reset();
    model.path = keeps_logistic() ? choice_->path : std::move(chosen.path);
  }
  model.map = map_;
  model.fit = fitted_as(chosen);
  if (choice_) model.calibration = choice_->calibration;
  model.rows = X_.rows();
  keep(4, model.rows, chosen);
  fill_report(chosen, training_loss(chosen, model));
  whole_.reset();
  warn_of_drift(chosen);
  model.preparation = chosen.setting.prepared->by;
  model.ranges = std::move(ranges);
  if (model.posterior != nullptr && by_evidence() && chosen.learnt == nullptr)
    for (std::string& one :
         evidence_warnings(model.posterior->effective_dimension(), map_->features()))
      report_.warnings.push_back(std::move(one));
  if (options_.calibrate)
    for (std::string& one : far_warnings(model, context_))
      report_.warnings.push_back(std::move(one));
  model.report = std::move(report_);
  if (options_.calibrate) warn_of_vanishing(model, X_, context_);
  return model;
}

// Chooses D by its learning curve: fits with D/2 and D features, each with its own lambda, predict
// the gain of 2 D. The variance of random features, and the loss that it adds, falls as 1/D, so
// each doubling gains half as much as the last, or more if D limits the fit. D is doubled while the
// predicted gain exceeds both the standard error of the difference and a share of the unexplained
// loss. Where the gain is within its error, which thousands of rows held out would take to tell, twice
// the features are looked at if that takes at most kMostLook times the sums of all trials before,
// and kept if they gain more than an error.

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
  if (D < kLeastCurve || lambda_ >= 0 || !judge_.varies() || !has_twice(D, chosen)) return false;
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

// Warns if rows are not exchangeable: one fit, at the choice and with the size of a coarse trial,
// predicts the last fifth of the rows and as many drawn from the others.

namespace {

constexpr int64_t kMostJudged = 2000;  // of either kind
constexpr double kLeastLost = 0.05;    // of R^2 or accuracy, to be worth a warning

}  // namespace

void SearchRun::warn_of_drift(const Chosen& chosen) {
  const int64_t n = std::ssize(chosen_by_), fifth = n / 5;
  if (!rule_.exchangeable() || !options_.assess || options_.part_of > 0 ||
      fifth < static_cast<int64_t>(kLeastDriftRows))
    return;
  const std::vector<int64_t> before(chosen_by_.begin(), chosen_by_.end() - fifth),
      last(chosen_by_.end() - fifth, chosen_by_.end()),
      among = sample_rows(before, fifth, fit_.select.seed);
  std::vector<int64_t> others;
  std::ranges::set_difference(before, among, std::back_inserter(others));
  const auto part = [&](const std::vector<int64_t>& rows, int64_t most) {
    return sample_rows(rows, most, fit_.select.seed);
  };
  const std::vector<int64_t> train = part(others, sizes_.coarse.rows);
  candidates_.use(*chosen.setting.maker);
  const int64_t features =
      chosen.setting.maker->features_of(sizes_.coarse.features, std::ssize(train));
  const solver::BlockSource& rows =
      candidates_.at(chosen.setting.prepared->by, chosen.lengthscales, features, train);
  couple(candidates_.map(), chosen.setting);
  const Judge judge = judge_of(chosen.setting);
  LambdaPlan plan;
  // By ridge, whatever the final estimator.
  plan.grid = {chosen.trial.points.empty() ? chosen.point.lambda
                                           : chosen.trial.points[chosen.at].lambda};
  try {
    const HeldOutFit fit(rows, estimate_.problem(), train, HeldOutFit::Sums::exact, context_, {});
    const Trial later = fit.judge(plan, part(last, kMostJudged), judge, context_);
    const Trial alike = fit.judge(plan, part(among, kMostJudged), judge, context_);
    const double lost = later.points[0].score - alike.points[0].score;
    if (!(lost > kLeastLost) || !are_larger(later.losses[0], alike.losses[0])) return;
    report_.warnings.push_back(
        text("the rows before the last fifth predict it worse (%s %.3f) than rows among themselves "
             "(%.3f): if rows are in the order of time, set ordered; if they come in groups, give "
             "groups; if they are merely sorted, the score is valid",
             judge_.classifies() ? "accuracy" : "R^2", 1 - later.points[0].score,
             1 - alike.points[0].score));
  } catch (const Error& error) {
    if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
  }
  candidates_.release();
}

}  // namespace mercer::model
