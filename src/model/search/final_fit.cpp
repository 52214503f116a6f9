// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The last fit of a search, of few rows of a regression by the kernel itself. If the choice was made
// on a part of the rows or features, lambda is chosen once more on all of them, and D by its
// learning curve. Unseen rows are scored, then added to the sums with lambda kept.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "base/numbers.h"
#include "model/assess/warnings.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/predict.h"
#include "model/prepare/row_coding.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "model/search/search_run.h"
#include "model/select/selection.h"
#include "solver/ridge_system.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr int64_t kFittedJudged = 2000;  // training rows
constexpr double kOtherFits = 20;        // their time in that of a fit by least squares, about
// Training error over held-out error: below this noise was fitted. The least lambda alone proves
// nothing: at a long lengthscale it is that of a polynomial.
constexpr double kInterpolating = 0.01;

class FinalFit {
 public:
  /// Reference is kept.
  explicit FinalFit(SearchRun& run) : run_(run) {}
  Model fit(Candidate chosen, Ranges ranges);

 private:
  // By ridge.
  /// Where the fit ends in the kernel itself.
  void take_kernel(const Candidate& chosen);
  const PartialMap& partial(const Candidate& chosen) const {
    return exact_ != nullptr ? *exact_ : *chosen.setting.partial;
  }
  /// Sets map_ and whole_ for the current choice.
  void map_whole(const Candidate& chosen, int64_t features);
  /// Fits the rows of choices with so many features: sets last_, too.
  void take_whole(Candidate& chosen, int64_t features);
  solver::Weights fit_left_out(Candidate& chosen);
  solver::Weights fit_held_out(Candidate& chosen);

  // By logistic regression, or ridge.
  bool keeps_logistic() const { return choice_ && choice_->keeps_logistic; }
  /// Once ridge's lambda is chosen: chooses the estimator of a classification and calibrates it.
  void choose_between(std::span<const Split> splits, const RidgeResult& ridge, Candidate& chosen);
  /// On all rows, preconditioned by ridge's statistics if there are any.
  solver::Weights fit_logistic_last(const Candidate& chosen,
                                    const solver::RowStatistics* statistics);

  // By another estimator.
  Selection last_selection() const;
  void learn_kernel(EstimatorOptions& asked, SelectionOptions& how, Candidate& chosen);
  /// Chooses its lambda, then fits all rows.
  void fit_last(Candidate& chosen, Model& model);

  // The number of features.
  /// take_whole with all features, possibly doubled.
  void choose_features(Candidate& chosen);
  bool has_twice(int64_t features, const Candidate& chosen) const;
  /// Whether D has a learning curve: fits are by least squares, and D may vary.
  bool has_curve(const Candidate& chosen);
  /// Estimated seconds of the fit with so many features, by the speed of the trials before.
  double seconds_with(int64_t features) const;
  /// As many features as may be fitted so often in the time that is left, 256 at least.
  int64_t features_in_time(double fits) const;
  bool may_double(int64_t features, const Candidate& chosen) const;
  /// Whether a fit with so many features, of which it is open whether they pay, may be tried.
  bool may_look(int64_t features) const;
  void begin_whole(int64_t features);
  /// Searches the lengthscale again with so many features.
  void walk_again(int64_t features, Candidate& chosen);
  void warn_of_few_features(int64_t features, const Trial& fewer, const Candidate& chosen);

  // The report.
  /// Scores the unseen rows by a model of this choice and predictor.
  void assess_by(const Candidate& chosen, std::shared_ptr<const Predictor> predictor,
                 std::shared_ptr<const solver::Posterior> posterior = nullptr);
  void assess_by(const Candidate& chosen, solver::Weights weights) {
    if (!run_.unseen.empty()) assess_by(chosen, make_linear(std::move(weights)));
  }
  /// The loss of some training rows; NaN if not needed.
  double training_loss(const Candidate& chosen, const Model& model);
  void record_choice(int64_t stage, int64_t rows, const Candidate& chosen);
  void warn_of_ends(const Candidate& chosen, double training_loss);
  void fill_report(const Candidate& chosen, double training_loss);
  /// The options of the fit, with the choices filled in.
  FitOptions fitted_as(const Candidate& chosen) const;

  FeatureRows rows_of(const Candidate& chosen, std::span<const double> weights) const {
    return {*map_,
            chosen.setting.prepared->fitted,
            run_.fit.coding,
            run_.estimate.precision,
            {run_.X, run_.Y, weights},
            run_.made_of(partial(chosen))};
  }
  /// All rows without class factors: for scores, and for logistic regression, which weighs classes
  /// itself.
  FeatureRows plain_rows(const Candidate& chosen) const { return rows_of(chosen, run_.weights); }

  SearchRun& run_;
  std::unique_ptr<PartialMap> exact_;  // of take_kernel
  std::shared_ptr<const feature::FeatureMap> map_;
  std::optional<FeatureRows> whole_;             // all rows under map_
  std::optional<HeldOutFit> last_;               // to the rows of choices
  std::unique_ptr<solver::RidgeSystem> system_;  // of the rows of choices, by leave-one-out
  std::optional<EstimatorChoice> choice_;        // classification
};

// Warns if rows are not exchangeable: one fit, at the choice and with the size of a coarse trial,
// predicts the last fifth of the rows and as many drawn from the others.

constexpr int64_t kMostJudged = 2000;  // of either kind
constexpr double kLeastLost = 0.05;    // of R^2 or accuracy, to be worth a warning

void warn_of_drift(SearchRun& run, const Candidate& chosen) {
  const int64_t n = std::ssize(run.chosen_by), fifth = n / 5;
  if (!run.rule.exchangeable() || !run.options.assess || run.options.all_rows > 0 ||
      fifth < static_cast<int64_t>(kLeastDriftRows))
    return;
  const std::vector<int64_t> before(run.chosen_by.begin(), run.chosen_by.end() - fifth),
      last(run.chosen_by.end() - fifth, run.chosen_by.end()),
      among = sample_rows(before, fifth, run.fit.select.seed);
  std::vector<int64_t> others;
  std::ranges::set_difference(before, among, std::back_inserter(others));
  const auto part = [&](const std::vector<int64_t>& rows, int64_t most) {
    return sample_rows(rows, most, run.fit.select.seed);
  };
  const std::vector<int64_t> train = part(others, run.sizes.coarse.rows);
  run.candidates.use(*chosen.setting.partial);
  const int64_t features =
      chosen.setting.partial->features_of(run.sizes.coarse.features, std::ssize(train));
  const solver::BlockSource& rows =
      run.candidates.at(chosen.setting.prepared->fitted, chosen.lengthscales, features, train);
  couple(run, run.candidates.map(), chosen.setting);
  const Judge judge = run.judge_of(chosen.setting);
  WalkPlan plan;
  // By ridge, whatever the final estimator.
  plan.grid = {chosen.trial.points.empty() ? chosen.point.lambda
                                           : chosen.trial.points[chosen.at].lambda};
  try {
    const HeldOutFit fit(rows, run.estimate.problem(), train, HeldOutFit::Sums::exact, run.context,
                         {});
    const Trial later = fit.judge(plan, part(last, kMostJudged), judge, run.context);
    const Trial alike = fit.judge(plan, part(among, kMostJudged), judge, run.context);
    const double lost = later.points[0].score - alike.points[0].score;
    if (!(lost > kLeastLost) || !are_larger(later.losses[0], alike.losses[0])) return;
    run.report.warnings.push_back(
        text("the rows before the last fifth predict it worse (%s %.3f) than rows among themselves "
             "(%.3f): if rows are in the order of time, set ordered; if they come in groups, give "
             "groups; if they are merely sorted, the score is valid",
             run.judge.classifies() ? "accuracy" : "R^2", 1 - later.points[0].score,
             1 - alike.points[0].score));
  } catch (const Error& error) {
    if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
  }
  run.candidates.release();
}

void FinalFit::assess_by(const Candidate& chosen, std::shared_ptr<const Predictor> predictor,
                         std::shared_ptr<const solver::Posterior> posterior) {
  Model model;
  model.map = map_;
  model.fit = run_.fit;
  if (run_.fitted_last == nullptr) model.fit.estimate = trial_estimator(run_.fit.estimate);
  model.preparation = chosen.setting.prepared->fitted;
  model.ranges = seen_ranges(run_);
  model.rows = std::ssize(run_.chosen_by);
  model.predictor = std::move(predictor);
  model.posterior = std::move(posterior);
  run_.report.assessment = assess_unseen(model, {run_.X, run_.Y, run_.weights}, run_.chosen_by,
                                         run_.unseen, run_.rule, run_.context);
}

void FinalFit::choose_between(std::span<const Split> splits, const RidgeResult& ridge,
                              Candidate& chosen) {
  if (run_.fit.coding.task != Task::classification) return;
  if (!run_.options.calibrate && run_.options.estimator == Estimator::ridge) return;
  RidgeResult given = ridge;
  given.given = run_.lambda >= 0;
  given.unit = run_.unit;
  given.class_factors = run_.class_factors;
  const int64_t rows = std::ssize(run_.split.train);
  Estimator asked = run_.options.estimator;
  bool tries = tries_logistic(plain_rows(chosen), asked, splits.size(), run_.context);
  if (tries && asked == Estimator::automatic &&
      !run_.options.time->allows(kOtherFits * seconds_with(map_->features()),
                                 "logistic regression")) {
    asked = Estimator::ridge;
    tries = false;
  }
  if (tries) record_choice(kFeaturesStage, rows, chosen);
  choice_ = choose_estimator(plain_rows(chosen), trial_estimator(run_.fit.estimate), asked, splits,
                             given, run_.context);
  if (keeps_logistic()) {
    chosen.point.lambda = choice_->lambda;
    chosen.point.score = choice_->error_rate;
    // These were ridge's.
    chosen.point.dimension = chosen.point.loss = kNaN;
  }
  if (tries) record_choice(kLogisticStage, rows, chosen);
}

solver::Weights FinalFit::fit_logistic_last(const Candidate& chosen,
                                            const solver::RowStatistics* statistics) {
  const FeatureRows rows = plain_rows(chosen);
  if (!run_.unseen.empty())
    assess_by(chosen,
              fit_logistic(*rows.subset(run_.chosen_by), statistics, *choice_, run_.context));
  return fit_logistic(rows, statistics, *choice_, run_.context);
}

void FinalFit::take_kernel(const Candidate& chosen) {
  const Setting& setting = chosen.setting;
  if (setting.partial->keeps_all_rows()) return;  // the linear kernel itself
  if (chosen.learnt == nullptr && ends_in_kernel(run_, setting))
    exact_ = setting.partial->exact(chosen.lengthscales);
  require(exact_ != nullptr || !run_.options.takes_kernel, MERCER_INTERNAL,
          "a search for map exact chose a map that has none");
}

void FinalFit::map_whole(const Candidate& chosen, int64_t features) {
  last_.reset();
  system_.reset();
  whole_.reset();
  const PartialMap& partial = this->partial(chosen);
  run_.candidates.use(partial);
  run_.candidates.release();
  map_ = chosen.learnt;
  const std::vector<double> one = {1.0};  // times those that exact_ holds
  const bool holds = exact_ != nullptr && chosen.lengthscales.size() > 1;
  if (map_ == nullptr)
    map_ = run_.candidates.make(chosen.setting.prepared->fitted, holds ? one : chosen.lengthscales,
                                features, run_.made_of(partial));
  couple(run_, *map_, chosen.setting);
  whole_.emplace(rows_of(chosen, run_.learnt_weights));
  take_unit(run_, *map_, *whole_, run_.chosen_by);
}

void FinalFit::take_whole(Candidate& chosen, int64_t features) {
  map_whole(chosen, features);
  if (chosen.whole) return;
  Trial trial;
  if (run_.leaves_out()) {
    trial =
        leave_out(run_, *whole_, chosen.setting, run_.chosen_by, lambdas(run_, chosen), &system_);
  } else {
    last_.emplace(*whole_, run_.estimate.problem(), run_.split.train, HeldOutFit::Sums::exact,
                  run_.context, run_.phases.counting(row_units(features)));
    WalkPlan plan;
    plan.unit = run_.unit;
    if (!chosen.trial.points.empty()) plan.start = chosen.point.lambda / run_.unit;
    // Trials went no lower than kLeastSingle; the best lambda may lie far below.
    plan.factor = plan.start <= 1.5 * kLeastSingle ? 10.0 : std::sqrt(10.0);
    if (run_.lambda >= 0) plan.grid = {run_.lambda};
    trial = judged(run_, *last_, plan, chosen.setting, run_.split.held_out);
  }
  const size_t at = paired_pick(trial);
  chosen.take(std::move(trial), at);
}

solver::Weights FinalFit::fit_left_out(Candidate& chosen) {
  const FeatureRows& rows = *whole_;
  const SelectionOptions fixed{.selection = Selection::fixed, .lambda = chosen.point.lambda};
  const auto solved = [&](const solver::BlockSource& some) {
    return select(some, fixed, run_.fit.coding.task, run_.estimate.problem(), run_.context).weights;
  };
  const auto part = [&](const Split& split) { return solved(*rows.subset(split.train)); };
  std::vector<Split> splits =
      fold_splits(run_.chosen_by, std::min(kFolds, std::ssize(run_.chosen_by)),
                  run_.fit.select.seed, run_.rule);
  if (run_.repeat != nullptr) splits.resize(1);  // for lambda alone
  choose_between(splits, {.lambda = fixed.lambda, .part = part}, chosen);
  if (keeps_logistic()) return fit_logistic_last(chosen, nullptr);
  if (run_.unseen.empty() && system_ != nullptr)
    return system_->solution(chosen.point.lambda, solver::Want::weights, run_.context).weights;
  if (!run_.unseen.empty()) assess_by(chosen, solved(*rows.subset(run_.chosen_by)));
  return solved(rows);
}

solver::Weights FinalFit::fit_held_out(Candidate& chosen) {
  HeldOutFit& fit = *last_;
  const double lambda = chosen.point.lambda;
  const auto part = [&](const Split&) { return fit.solve(lambda, run_.context); };
  choose_between({&run_.split, 1}, {.lambda = lambda, .part = part, .statistics = fit.statistics()},
                 chosen);
  if (keeps_logistic()) return fit_logistic_last(chosen, fit.statistics());
  fit.add(run_.split.held_out, run_.context);
  if (!run_.unseen.empty()) {
    assess_by(chosen, fit.solve(chosen.point.lambda, run_.context));
    fit.add(run_.unseen, run_.context);
  }
  return fit.solve(chosen.point.lambda, run_.context);
}

Selection FinalFit::last_selection() const {
  if (run_.options.lambda >= 0) return Selection::fixed;
  const Selection usual =
      run_.by_evidence() ? Selection::evidence : run_.fitted_last->entry->selection;
  if (usual != Selection::leave_one_out) return usual;
  if (!run_.leaves_out()) return Selection::held_out;
  return run_.rule.exchangeable() ? Selection::leave_one_out : Selection::folds;
}

/// In place of those of the choice, by the rows that choices see.
void FinalFit::learn_kernel(EstimatorOptions& asked, SelectionOptions& how, Candidate& chosen) {
  const FeatureRows rows = plain_rows(chosen).chosen(run_.chosen_by);
  LearntKernel learnt = asked.entry->learn_kernel(rows, asked, how, run_.context);
  if (learnt.map == nullptr) return run_.report.warn({kGivenKernel});
  map_ = std::move(learnt.map);
  asked.map = map_.get();
  if (learnt.lambda > 0) how.fix(learnt.lambda);
  const std::span<const double> lengthscales = map_->kernel().lengthscale();
  if (lengthscales.size() == chosen.lengthscales.size())
    chosen.lengthscales.assign(lengthscales.begin(), lengthscales.end());
}

void FinalFit::fit_last(Candidate& chosen, Model& model) {
  EstimatorOptions asked = *run_.fitted_last;
  asked.coupling = run_.estimate.coupling;
  asked.map = map_.get();
  SelectionOptions how = run_.fit.select;
  how.selection = last_selection();
  how.lambda = run_.options.lambda;
  how.unit = run_.unit;
  how.held_out_fraction = run_.options.held_out_fraction;
  if (learns_kernel(asked)) learn_kernel(asked, how, chosen);
  const FeatureRows rows = plain_rows(chosen);
  const auto learn = [&](const solver::BlockSource& some, const SelectionOptions& by) {
    return asked.entry->fit(some, asked, run_.fit.coding, by, run_.context);
  };
  const auto learn_all = [&] {
    if (run_.unseen.empty()) return learn(rows, how);
    EstimatorFit seen = learn(*rows.subset(run_.chosen_by), how);
    assess_by(chosen, std::move(seen.predictor), std::move(seen.posterior));
    model.path = std::move(seen.path);
    SelectionOptions kept = how;
    kept.fix(seen.lambda);
    try {
      return learn(rows, kept);
    } catch (const Error& error) {
      // The sums over all rows have other rounding errors: choose lambda again.
      const bool given = how.selection == Selection::fixed;
      if (given || error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
      return learn(rows, how);
    }
  };
  EstimatorFit learned = learn_all();
  take_fit(learned, model, run_.report);
  run_.report.warn(learned.warnings);
  if (run_.unseen.empty()) model.path = std::move(learned.path);
  // These were ridge's, which chose the map.
  if (chosen.trial.points.empty()) chosen.point.score = kNaN;
  chosen.point.dimension = model.posterior ? model.posterior->effective_dimension() : kNaN;
  chosen.point.lambda = learned.lambda;
}

double FinalFit::training_loss(const Candidate& chosen, const Model& model) {
  if (run_.fitted_last || run_.lambda >= 0 || keeps_logistic() ||
      chosen.point.lambda > kLeastTried * run_.unit)
    return std::numeric_limits<double>::quiet_NaN();
  const std::vector<int64_t> some =
      sample_rows(run_.chosen_by, kFittedJudged, run_.fit.select.seed);
  const Judge judge = run_.judge_of(chosen.setting).on(some);
  TrialSums sums(judge, whole_->outputs(), 1);
  for_each_scored(*whole_->subset(some), {&linear_weights(model), 1}, run_.context,
                  [&](int64_t i, const double* code, double weight, const double* scores) {
                    sums.add(i, code, weight, scores);
                  });
  return sums.finish({TrialPoint{}}).points[0].loss;
}

void FinalFit::record_choice(int64_t stage, int64_t rows, const Candidate& chosen) {
  record(run_, stage, {rows, map_->features()}, chosen.setting, chosen.lengthscales, *map_,
         chosen.point);
}

void FinalFit::fill_report(const Candidate& chosen, double training_loss) {
  run_.report.rows_are = !run_.rule.groups.empty() ? RowDependence::grouped
                         : run_.rule.ordered       ? RowDependence::ordered
                                                   : RowDependence::exchangeable;
  run_.report.criterion = !run_.leaves_out()         ? ComparisonMethod::held_out
                          : run_.rule.exchangeable() ? ComparisonMethod::leave_one_out
                                                     : ComparisonMethod::folds;
  run_.report.criterion_rows =
      run_.leaves_out() ? std::ssize(run_.chosen_by) : std::ssize(run_.split.held_out);
  run_.report.criterion_score = chosen.point.score;
  run_.report.lengthscale = reported(chosen.lengthscales);
  run_.report.transform = chosen.setting.prepared->options.transform;
  run_.report.lambda = chosen.point.lambda;
  run_.report.shape = chosen.setting.shape;
  run_.report.kernel = name_in_report(map_->kernel());
  run_.report.target_transform = chosen.setting.prepared->options.target_transform;
  run_.report.dimension = chosen.point.dimension;
  run_.report.warn(choice_warnings(run_.report, chosen.at_edge));
  warn_of_ends(chosen, training_loss);
}

/// Of the lambdas of the last trial, if these reach an end of all that a search tries.
void FinalFit::warn_of_ends(const Candidate& chosen, double training_loss) {
  const double lambda = chosen.point.lambda;
  if (run_.lambda >= 0 || run_.fitted_last ||
      (lambda > kLeastTried * run_.unit && lambda < kMostLambda * run_.unit))
    return;
  std::vector<PathPoint> path = keeps_logistic() ? choice_->path : std::vector<PathPoint>();
  for (const TrialPoint& point : chosen.trial.points)
    if (!keeps_logistic()) path.push_back({point.lambda, point.loss});
  std::ranges::sort(path, std::ranges::greater(), &PathPoint::lambda);
  const bool interpolates = training_loss < kInterpolating * chosen.point.loss;
  // A constant's loss is 1, about 1 of classes.
  run_.report.warn(end_warnings(path, {.lambda = lambda, .unit = run_.unit}, 1, interpolates));
}

/// Leave-one-out is for ridge alone; logistic regression was judged on held-out rows.
FitOptions FinalFit::fitted_as(const Candidate& chosen) const {
  FitOptions fitted = run_.fit;
  if (run_.fitted_last == nullptr)
    fitted.estimate = choice_ ? choice_->estimating : trial_estimator(run_.fit.estimate);
  if (chosen.setting.coupling == nullptr) {
    fitted.outputs = {};
  } else {
    fitted.outputs.weight = chosen.setting.shape;
  }
  fitted.estimate.coupling = nullptr;  // only for the fit
  fitted.select.folds = std::min(fitted.select.folds, std::ssize(run_.chosen_by));
  fitted.prepare = chosen.setting.prepared->options;
  fitted.select.lambda = chosen.point.lambda;
  fitted.select.selection = run_.options.lambda >= 0                 ? Selection::fixed
                            : run_.fitted_last                       ? last_selection()
                            : !run_.leaves_out() || keeps_logistic() ? Selection::held_out
                            : run_.rule.exchangeable()               ? Selection::leave_one_out
                                                                     : Selection::folds;
  return fitted;
}

// Chooses D by its learning curve: fits with D/2 and D features, each with its own lambda, predict
// the gain of 2 D. The variance of random features, and the loss that it adds, falls as 1/D, so
// each doubling gains half as much as the last, or more if D limits the fit. D is doubled while the
// predicted gain exceeds both the standard error of the difference and a share of the unexplained
// loss. Where the gain is within its error (only thousands of held-out rows could tell), twice the
// features are tried if that takes at most kMostLook times the sums of all trials before, and kept
// if they gain more than an error.

constexpr int64_t kLeastCurve = 1024;  // fewer features: speed was asked for
constexpr double kCurveErrors = 2, kCurveShare = 0.01;
constexpr double kNextGain = 0.5;  // of the last
constexpr double kMostLook = 2;
// Within a budget: the fit, the one with half of the features, and as much again for the score.
constexpr double kFits = 2.5;
constexpr int64_t kLeastInTime = 256;
constexpr const char* kMoreFeatures = "more features";
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

/// From D = n on the exact kernel is better and costs no more.
bool FinalFit::has_twice(int64_t D, const Candidate& chosen) const {
  return 2 * D <= std::ssize(run_.chosen_by) &&
         chosen.setting.partial->features_of(2 * D, std::ssize(run_.chosen_by)) == 2 * D;
}

bool FinalFit::has_curve(const Candidate& chosen) {
  const int64_t D = run_.options.features;
  if (run_.repeat != nullptr || D < kLeastCurve || run_.lambda >= 0 || !run_.judge.varies() ||
      !has_twice(D, chosen))
    return false;
  if (!run_.judge.classifies()) return true;
  map_whole(chosen, D);  // the learning curve is that of least squares only
  return !tries_logistic(*whole_, run_.options.estimator, run_.leaves_out() ? kFolds : 1,
                         run_.context);
}

/// The number of doublings is unknown: each takes half of the remaining progress.
void FinalFit::begin_whole(int64_t features) {
  const double share =
      std::min(1.0, static_cast<double>(run_.options.features) / static_cast<double>(features));
  run_.phases.begin(phase_units({std::ssize(run_.split.train), features}, 1),
                    share * share * share);
}

void FinalFit::choose_features(Candidate& chosen) {
  const auto take = [&](Candidate& one, int64_t features) {
    begin_whole(features);
    take_whole(one, features);
  };
  const auto keep_this = [&](const Candidate& one) {
    record_choice(kFeaturesStage, std::ssize(run_.split.train), one);
  };
  if (exact_ != nullptr) return take(chosen, run_.options.features);  // of which it has none
  int64_t D = features_in_time(kFits);
  if (D < run_.options.features || !has_curve(chosen)) return take(chosen, D);
  Candidate fewer = chosen;
  fewer.whole = false;
  take(fewer, D / 64 * 32);
  keep_this(fewer);
  take(chosen, D);
  for (;; D *= 2) {
    const Doubling next = doubling(fewer.trial, chosen.trial);
    const bool pays = next == Doubling::pays;
    if (next == Doubling::stops || !may_double(D, chosen) || !(pays || may_look(2 * D)) ||
        !run_.options.time->allows(kFits * seconds_with(2 * D), kMoreFeatures)) {
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

double FinalFit::seconds_with(int64_t features) const {
  const auto work = [](int64_t rows, int64_t D) {
    return static_cast<double>(rows) * static_cast<double>(D) *
           static_cast<double>(std::min(rows, D));
  };
  double speed = 0;
  for (const SearchCandidate& trial : run_.report.trials)
    speed = std::max(speed, work(trial.rows, trial.features) / trial.seconds);
  return speed > 0 ? work(std::ssize(run_.chosen_by), features) / speed : 0;
}

int64_t FinalFit::features_in_time(double fits) const {
  int64_t D = run_.options.features;
  if (run_.repeat != nullptr || run_.options.given_features) return D;
  while (D > kLeastInTime && !run_.options.time->allows(fits * seconds_with(D), kMoreFeatures))
    D /= 2;
  return D;
}

bool FinalFit::may_look(int64_t features) const {
  const auto products = [](int64_t rows, int64_t D) {
    return static_cast<double>(rows) * static_cast<double>(D) * static_cast<double>(D);
  };
  const int64_t rows = std::ssize(run_.split.train);
  double spent = products(rows, features / 2);  // the last fit, which is not kept yet
  for (const SearchCandidate& trial : run_.report.trials)
    spent += products(trial.rows, trial.features);
  return products(rows, features) <= kMostLook * spent;
}

bool FinalFit::may_double(int64_t D, const Candidate& chosen) const {
  return 2 * D <= run_.options.most_features && run_.estimate.coupling == nullptr &&
         has_twice(D, chosen) &&
         run_.context.has_room(2 * solver::least_ridge_bytes(run_.X.rows(), 2 * D));
}

/// The lengthscale that suits few features is too long for many.
void FinalFit::walk_again(int64_t features, Candidate& chosen) {
  if (!run_.searches_lengthscale()) return;
  last_.reset();
  const TrialSizes sizes = held_out_sizes(std::ssize(run_.split.train), features);
  LengthscaleWalk walk = factor_walk(run_, kFeaturesStage, chosen.setting, chosen.lengthscales,
                                     sizes.fine, chosen.trial);
  walk.climb(kFeatureStep, kFeatureSteps);
  chosen.lengthscales = scaled(chosen.lengthscales, choice_of(run_, walk).tried->lengthscale);
}

void FinalFit::warn_of_few_features(int64_t D, const Trial& fewer, const Candidate& chosen) {
  const double score = chosen.trial.best().score;
  const double better = kNextGain * (fewer.best().score - score);
  if (!(better > 0)) return;
  const bool open = !run_.options.given_features && run_.estimate.coupling == nullptr;
  run_.report.warnings.push_back(
      text("%ld features are few: twice as many would raise %s from %.4f to about %.4f on the "
           "training rows (%s = %ld: four times the time and memory of the last fit)",
           D, run_.judge.classifies() ? "accuracy" : "R^2", 1 - score, 1 - score + better,
           open ? "most_features" : "features", 2 * D));
}

Model FinalFit::fit(Candidate chosen, Ranges ranges) {
  Model model;
  if (run_.fitted_last) {
    if (run_.options.takes_kernel) take_kernel(chosen);
    run_.phases.begin(phase_units({std::ssize(run_.split.train), run_.options.features}, 1));
    map_whole(chosen, features_in_time(kOtherFits));
    fit_last(chosen, model);
  } else {
    take_kernel(chosen);
    choose_features(chosen);
    model.predictor = make_linear(run_.leaves_out() ? fit_left_out(chosen) : fit_held_out(chosen));
    last_.reset();
    model.path = keeps_logistic() ? choice_->path : std::move(chosen.path);
  }
  model.map = map_;
  model.fit = fitted_as(chosen);
  if (choice_) model.calibration = choice_->calibration;
  model.rows = run_.X.rows();
  record_choice(kChoiceStage, model.rows, chosen);
  fill_report(chosen, training_loss(chosen, model));
  whole_.reset();
  warn_of_drift(run_, chosen);
  model.preparation = chosen.setting.prepared->fitted;
  model.ranges = std::move(ranges);
  if (model.posterior != nullptr && run_.by_evidence() && chosen.learnt == nullptr &&
      !model.posterior->is_of_kernel())
    run_.report.warn(evidence_warnings(model.posterior->effective_dimension(), map_->features()));
  if (run_.options.calibrate) run_.report.warn(far_warnings(model, run_.context));
  model.report = std::move(run_.report);
  if (run_.options.calibrate) warn_of_vanishing(model, run_.X, run_.context);
  return model;
}

}  // namespace

int64_t last_units(const SearchRun& run) {
  const TrialSize whole{std::ssize(run.split.train), run.options.features};
  const int64_t last = phase_units(whole, 1);
  return phase_units({whole.rows, whole.features / 2}, 1) +
         (2 * whole.features <= run.options.most_features ? 2 : 1) * last;
}

Model finish(SearchRun& run, Candidate chosen, Ranges ranges) {
  return FinalFit(run).fit(std::move(chosen), std::move(ranges));
}

}  // namespace mercer::model
