// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The final fit. If the choice was made on a part of the rows or features, lambda is chosen once
// more on all of them. Unseen rows are scored, then added to the sums with lambda kept.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "model/assess/warnings.h"
#include "model/estimator/model_entry.h"
#include "model/posterior_prediction.h"
#include "model/prepare/row_coding.h"
#include "model/rows/copied_rows.h"
#include "model/rows/scored_rows.h"
#include "model/search/search_run.h"
#include "model/select/selection.h"
#include "model/vanishing.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

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
  if (options_.final_estimate) model.fit.estimate = *options_.final_estimate;
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
             foreseen, solver::taken_weights(weights_, unseen_), 1, clusters_of(unseen_, rule_));
  report_.assessment.groups = group_count(unseen_, rule_.groups);
}

void SearchRun::choose_between(std::span<const Split> splits, const RidgeResult& ridge,
                               Chosen& chosen) {
  if (fit_.coding.task != Task::classification) return;
  if (!options_.calibrate && options_.estimator == Estimator::ridge) return;
  RidgeResult given = ridge;
  given.given = options_.lambda >= 0;
  given.unit = unit_;
  given.class_factors = factors_;
  const int64_t rows = std::ssize(split_.train);
  const bool tries = tries_logistic(plain_rows(chosen), estimator(), splits.size(), context_);
  if (tries) keep(3, rows, chosen);
  choice_ =
      choose_estimator(plain_rows(chosen), fit_.estimate, estimator(), splits, given, context_);
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
    if (options_.lambda >= 0) plan.grid = {options_.lambda};
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
  if (options_.final_lambda >= 0) return Selection::fixed;
  const Selection usual =
      by_evidence() ? Selection::evidence : options_.final_estimate->entry->selection;
  if (usual != Selection::loo) return usual;
  if (!leaves_out()) return Selection::held_out;
  return rule_.exchangeable() ? Selection::loo : Selection::kfold;
}

void SearchRun::fit_final(Chosen& chosen, Model& model) {
  Estimating asked = *options_.final_estimate;
  asked.coupling = estimate_.coupling;
  Selecting how = fit_.select;
  how.selection = final_selection();
  how.lambda = options_.final_lambda;
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
  if (options_.final_estimate || options_.lambda >= 0 || keeps_logistic() ||
      chosen.point.lambda > kLeastTried * unit_)
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
  if (options_.lambda >= 0 || options_.final_estimate ||
      (lambda > kLeastTried * unit_ && lambda < kMostLambda * unit_))
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
  if (choice_) fitted.estimate = choice_->estimating;
  if (options_.final_estimate) fitted.estimate = *options_.final_estimate;
  if (chosen.setting.coupling == nullptr) {
    fitted.outputs = {};
  } else {
    fitted.outputs.weight = chosen.setting.shape;
  }
  fitted.estimate.coupling = nullptr;  // only for the fit
  fitted.select.folds = std::min(fitted.select.folds, std::ssize(chosen_by_));
  fitted.prepare = chosen.setting.prepared->asked;
  fitted.select.lambda = chosen.point.lambda;
  const double given = options_.final_estimate ? options_.final_lambda : options_.lambda;
  fitted.select.selection = given >= 0                          ? Selection::fixed
                            : options_.final_estimate           ? final_selection()
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
  if (options_.final_estimate) {
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

}  // namespace mercer::model
