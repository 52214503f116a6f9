// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The order of a search (at the end of this file): checks, the split into rows that choices see and
// others, the stages, and the honest score, which for few rows repeats the whole search.
#include "model/search/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/numbers.h"
#include "feature/map_entry.h"
#include "model/assess/warnings.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/predict.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/prepare/row_summary.h"
#include "model/rows/row_sets.h"
#include "model/search/search_run.h"
#include "solver/ridge_system.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr int64_t kLeastAssessed = 10;
// Up to kAllFolds rows the search is repeated for every fold; then for fewer, so that neither the
// time nor the number of scored rows has a cliff; above kMostNested for none, and the unseen rows
// are as many as the last fold's.
constexpr double kAllFolds = 1000;
constexpr double kLeastUnseen = static_cast<double>(kMostNested) / kFolds;
constexpr int64_t kLeastScoredGroups = 5;
constexpr int64_t kLeastOrdered = 20;           // assessed: five parts of a half of them
constexpr int64_t kLeastAssessedGroups = 3;     // two of them choose, one is scored
constexpr double kFarWorse = 4, kFarOff = 0.1;  // of a fold's unexplained share: factor, difference
constexpr int64_t kFeatures = 2048;
// A whole block of frequencies for up to 4,096 inputs: half a block would miss half of their
// directions.
constexpr int64_t kMostDefault = 4096;
constexpr int64_t kFeatureNumbers = int64_t{1} << 23;   // n D: n^2 D is at most that of n = 2,048
constexpr int64_t kWeights = int64_t{1} << 25;          // d D: of frequencies kept as a matrix
constexpr int64_t kFeatureProducts = int64_t{1} << 38;  // n D^2: what the last sums take

/// 4,096, or a half of it, such that n <= most_rows(D).
template <class Rows>
int64_t features_for(int64_t n, int64_t d, const Context& context, const Rows& most_rows) {
  int64_t features = kMostDefault;
  while (features > kFeatures && (n > most_rows(features) || d > kWeights / features ||
                                  !context.has_room(2 * solver::least_ridge_bytes(n, features))))
    features /= 2;
  return features;
}

}  // namespace

double Budget::left(double share) const {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
  return seconds_ > 0 ? share * seconds_ - spent.count() : kInfinity;
}

bool Budget::allows(double seconds, const char* what, double share) {
  if (left(share) > seconds) return true;
  if (std::ranges::find(left_out_, what) == left_out_.end()) left_out_.emplace_back(what);
  return false;
}

int64_t default_features(int64_t n, int64_t d, const Context& context) {
  return features_for(n, d, context, [](int64_t features) { return kFeatureNumbers / features; });
}

int64_t affordable_features(int64_t n, int64_t d, const Context& context) {
  return features_for(n, d, context,
                      [](int64_t features) { return kFeatureProducts / features / features; });
}

bool is_fitted_last(const EstimatorOptions& asked) {
  return asked.entry->is_searched == nullptr || !asked.entry->is_searched(asked.parameters);
}

EstimatorOptions trial_estimator(const EstimatorOptions& asked) {
  if (asked.entry->least_squares && !is_fitted_last(asked)) return asked;
  EstimatorOptions ridge = asked;
  ridge.entry = &ridge_model();
  ridge.parameters = default_parameters(ridge_model());
  if (asked.parameters.find(kClassWeight.key) != nullptr)
    kClassWeight.write(ridge.parameters, kClassWeight.read(asked.parameters));
  return ridge;
}

namespace {

Model run_search(SearchRun& run, Ranges ranges);

void check_search(const SearchOptions& options) {
  require(
      options.estimator != Estimator::logistic || is_fitted_last(options.fit.estimate) ||
          options.fit.coding.task == Task::classification,
      MERCER_INVALID_ARGUMENT,
      "model = \"logistic\" in a search of a regression, expected task = \"classification\", or "
      "another loss");
  require(options.features >= 1, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a positive number", options.features);
  require(options.most_features >= 0, MERCER_INVALID_ARGUMENT,
          "most_features = %ld, expected a positive number, or 0 for the library's",
          options.most_features);
  require(options.lengthscale >= 0 && std::isfinite(options.lengthscale), MERCER_INVALID_ARGUMENT,
          "lengthscale = %g, expected a positive number, or 0 to search", options.lengthscale);
  require(options.budget >= 0, MERCER_INVALID_ARGUMENT,
          "budget = %g seconds, expected a positive number, or 0 for no bound", options.budget);
  require(!std::isnan(options.lambda) && !std::isinf(options.lambda), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a number >= 0, or a negative one to search", options.lambda);
  require(options.held_out_fraction > 0 && options.held_out_fraction < 1, MERCER_INVALID_ARGUMENT,
          "held_out_fraction = %g, expected a number between 0 and 1", options.held_out_fraction);
}

void put_rows(const Matrix<double>& from, int64_t first, const Matrix<double>& to) {
  if (from.rows() == 0) return;  // no such baseline
  std::copy_n(from.data(), from.rows() * from.cols(), to.view().row(first));
}

/// 1 - R^2 of the first output over some rows; NaN where a target is missing.
double share_unexplained(MatrixView<const double> Y, const std::vector<int64_t>& rows,
                         const Matrix<double>& predicted) {
  double mean = 0, varying = 0, left = 0;
  for (const int64_t i : rows) mean += Y(i, 0) / static_cast<double>(std::ssize(rows));
  for (size_t k = 0; k < rows.size(); ++k) {
    const double y = Y(rows[k], 0);
    varying += (y - mean) * (y - mean);
    left +=
        (y - predicted(static_cast<int64_t>(k), 0)) * (y - predicted(static_cast<int64_t>(k), 0));
  }
  return left / varying;
}

SplitRule assessing_rule(const FitOptions& fit, const TargetedRows& rows) {
  return {
      classes_of(fit.coding, rows.Y), {rows.groups.begin(), rows.groups.end()}, fit.select.ordered};
}

/// The folds for which the search of n rows is repeated: all up to kAllFolds rows; above, their
/// number falls as n^(-3/2), since a fold has more rows and a search takes longer. At least 580 rows
/// are scored. Ordered: the last ones; groups: enough of them for an error.
std::vector<Split> assessing_splits(int64_t n, uint64_t seed, const SplitRule& rule) {
  std::vector<Split> splits = fold_splits(all_rows(n), kFolds, seed, rule);
  const double share = std::min(1.0, kAllFolds / static_cast<double>(n));
  auto count = static_cast<size_t>(std::ceil(kFolds * share * std::sqrt(share)));
  if (rule.ordered && count < splits.size())
    splits.erase(splits.begin(), splits.end() - static_cast<int64_t>(count));
  const auto few_groups = [&](size_t folds) {
    return group_count(held_out_of({splits.begin(), splits.begin() + static_cast<int64_t>(folds)}),
                       rule.groups) < kLeastScoredGroups;
  };
  if (!rule.groups.empty())
    while (count < splits.size() && few_groups(count)) ++count;
  if (count < splits.size()) splits.resize(count);
  return splits;
}

/// At least one of the folds; each takes less than half the time of the search before them.
void keep_in_time(const SearchOptions& options, Time started, std::vector<Split>& folds) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started;
  while (folds.size() > 1 &&
         !options.time->allows(spent.count() / 2 * static_cast<double>(folds.size()),
                               "folds of the honest score"))
    folds.erase(folds.begin());
}

void warn_of_budget(const SearchOptions& options, FitReport& report) {
  std::string left_out;
  for (const std::string& one : options.time->left_out())
    left_out += (left_out.empty() ? "" : ", ") + one;
  if (!left_out.empty())
    report.warnings.push_back(
        text("a budget of %g s left out: %s", options.budget, left_out.c_str()));
}

/// The share of a fold's variance that the model of the others leaves unexplained.
struct FoldLoss {
  double loss;
  double free;           // without clipping; the same where nothing was clipped
  int64_t rows, beyond;  // of them clipped
};

FoldLoss loss_of_fold(const Model& part, const Rows& X, MatrixView<const double> Y,
                      const std::vector<int64_t>& fold, const Matrix<double>& predicted,
                      int64_t beyond, Context& context) {
  FoldLoss found{share_unexplained(Y, fold, predicted), 0, X.rows(), beyond};
  found.free = found.loss;
  if (beyond == 0 || domain_of(part.map->kernel())) return found;
  const Matrix<double> free(predicted.rows(), predicted.cols(), context, "predictions beyond");
  predict(part, X, context, free.view(), Extrapolation::free);
  found.free = share_unexplained(Y, fold, free);
  return found;
}

/// Warns if one of the repeated searches predicts far worse than most: it may clip rows outside the
/// ranges of its own, or there may be a better or a worse model for all rows, too.
void warn_of_worst_fold(std::vector<FoldLoss> folds, FitReport& report) {
  std::erase_if(folds, [](const FoldLoss& one) { return !std::isfinite(one.loss); });
  if (folds.empty()) return;
  std::ranges::sort(folds, {}, &FoldLoss::loss);
  const FoldLoss worst = folds.back();
  const double median = folds[folds.size() / 2].loss;
  const auto is_far = [&](double loss) {
    return loss > kFarWorse * median && loss - median > kFarOff;
  };
  if (!is_far(worst.loss)) return;
  if (worst.beyond > 0 && !is_far(worst.free))
    return report.warn(
        {text("%ld of %ld rows of one fold of the honest score lie outside the range of the others "
              "and were clipped to it, which leaves %.3f of the variance unexplained, unclipped "
              "%.3f (median of folds %.3f): extrapolation = free clips nothing",
              worst.beyond, worst.rows, worst.loss, worst.free, median)});
  report.warnings.push_back(text(
      "one of the %zu searches that the honest score repeats left %.3f of the targets' variance "
      "unexplained, the median one %.3f: what is found depends on the rows at hand",
      folds.size(), worst.loss, median));
}

/// The options of a search that is repeated on a fold's rows: D and the kind of classifier are kept.
SearchOptions options_of_repeats(const SearchOptions& options, const Model& model, int64_t n) {
  SearchOptions inner = options;
  inner.report = nullptr;
  inner.calibrate = false;
  inner.all_rows = n;
  if (options.budget > 0)
    inner.features = model.map->features();
  else if (model.map->outputs() == 1)
    inner.features = std::max(options.features, model.map->features());
  if (!is_fitted_last(options.fit.estimate) && options.fit.coding.task == Task::classification)
    inner.estimator =
        model.fit.estimate.entry->least_squares ? Estimator::ridge : Estimator::logistic;
  return inner;
}

/// Repeats the search `first`, of all rows, without each of the splits' held-out rows and predicts
/// these. Choices are made again from the losses of the rows that are left, what is learnt by
/// gradients is learnt again. model: of all rows.
Assessment assess_nested(const PartialMap& partial, const SearchOptions& options, SearchRun& first,
                         const TargetedRows& rows, const std::vector<Split>& splits, Model& model,
                         Stage& stage, Context& context) {
  SearchOptions inner = options_of_repeats(options, model, rows.X.rows());
  const int64_t features = inner.features;
  FitReport& report = model.report;
  const auto& [X, Y, weights, groups] = rows;
  const TargetOptions& coding = options.fit.coding;
  const EstimatorOptions& asked = options.fit.estimate;
  const SplitRule rule = assessing_rule(options.fit, rows);
  const std::vector<int64_t> scored = held_out_of(splits);
  const int64_t n = std::ssize(scored), outputs = coded_outputs(coding, Y.cols);
  const auto predictions = [&](int64_t rows) {
    return Matrix<double>(rows, outputs, context, "predictions of rows left out");
  };
  Predictions all{predictions(n), {predictions(n), {}}};
  const ScoreMetric by = is_fitted_last(asked) ? ScoreMetric(coding.task, asked) : coding.task;
  if (X.cols() <= kMostLinearInputs && !by.of_loss()) all.baselines.linear = predictions(n);
  double criteria = 0;
  std::vector<FoldLoss> losses;  // of the folds
  int64_t place = 0;             // the fold's first row among the scored rows
  for (const auto& [train, fold] : splits) {
    const CopiedRows train_rows(X, train, context), fold_rows(X, fold, context);
    const Matrix<double> targets = copied_targets(Y, train, context);
    const std::vector<double> own = solver::numbers_of(weights, train);
    const std::vector<double> own_groups = solver::numbers_of(groups, train);
    inner.features = partial.features_of(features, std::ssize(train));
    stage.share(1);
    const Repeat repeat{first, train};
    SearchRun run(partial, inner, first.found, {train_rows.rows(), targets.view(), own, own_groups},
                  all_rows(std::ssize(train)), {}, context, &repeat);
    const Model part = run_search(run, seen_ranges(run));
    criteria += part.report.criterion_score / static_cast<double>(splits.size());
    const Matrix<double> predicted = predictions(std::ssize(fold));
    const Extrapolation extrapolation = score_extrapolation(options.fit.prepare.extrapolation);
    const RangeViolations outside =
        predict(part, fold_rows.rows(), context, predicted.view(), extrapolation);
    const Baselines base = baselines(part, X, Y, train, fold, context, weights);
    const Matrix<double> variance = variances_of(part, fold_rows.rows(), context);
    if (place == 0 && variance.rows() > 0) all.variance = predictions(n);
    put_rows(variance, place, all.variance);
    put_rows(predicted, place, all.model);
    if (by.measure == Measure::r_squared)
      losses.push_back(loss_of_fold(part, fold_rows.rows(), Y, fold, predicted,
                                    extrapolation == Extrapolation::clip ? outside.rows : 0,
                                    context));
    put_rows(base.constant, place, all.baselines.constant);
    put_rows(base.linear, place, all.baselines.linear);
    place += std::ssize(fold);
    stage.advance(1);
  }
  const Matrix<double> targets = copied_targets(Y, scored, context);
  const std::vector<double> own = solver::numbers_of(weights, scored);
  if (rule.ordered && by.measure == Measure::r_squared)
    center_parts(splits, own, targets.view(), all);
  if (!rule.ordered) warn_of_worst_fold(std::move(losses), report);
  Assessment assessment =
      assess(AssessmentRows::nested, by, targets.view(), all, own,
             by.of_loss() ? 1 : report.criterion_score / criteria, clusters_of(scored, rule));
  assessment.groups = group_count(scored, rule.groups);
  return assessment;
}

/// possible: as many as rows and inputs allow.
std::string fewer_features(const PartialMap& partial, int64_t features, int64_t possible,
                           int64_t wanted) {
  const char* reason = "the columns of each frequency stay together: ";
  if (possible < wanted)
    reason = partial.features_of(wanted, feature::kMostFeatures) > possible
                 ? "the map takes a training row for each feature: "
                 : "the inputs decide how many features the map has: ";
  return reason + std::to_string(features) + " features, not " + std::to_string(wanted);
}

/// The rows that choices may see, and the unseen rows.
Split split_of(const SearchOptions& options, bool keeps_unseen, int64_t n, const SplitRule& rule) {
  if (!keeps_unseen) return {all_rows(n), {}};
  if (!options.unseen.empty()) return {rows_without(n, options.unseen), options.unseen};
  const double share =
      std::clamp(kLeastUnseen / static_cast<double>(n), kUnseenShare, 1.0 / kFolds);
  return split_rows(all_rows(n), share, kMostUnseen, options.fit.select.seed, Purpose::unseen,
                    rule);
}

bool is_assessable(int64_t n, const SplitRule& rule) {
  return n >= (rule.ordered ? kLeastOrdered : kLeastAssessed) &&
         (rule.groups.empty() || group_count(all_rows(n), rule.groups) >= kLeastAssessedGroups);
}

/// Keeps the score's part of the search: what the trials leave of the time since `started`.
void keep_score(Time started, const SearchOptions& options, FitReport& report) {
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  for (const SearchCandidate& trial : report.trials) seconds -= trial.seconds;
  SearchCandidate score = report.trials.back();  // of the model that is scored
  score.stage = kScoreStage;
  score.rows = report.assessment.rows;
  score.score = 1 - report.assessment.score;
  score.loss = kNaN;
  score.seconds = std::max(seconds, 0.0);
  report.trials.push_back(score);
  if (options.report != nullptr) options.report(options.user, score);
}

/// Checks of the estimator that is fitted last.
void check_final(const SearchOptions& options) {
  FitOptions last = options.fit;
  last.select.selection = last.estimate.entry->selection;
  if (last.estimate.entry->check != nullptr) last.estimate.entry->check(last);
}

/// Options that pass check_dependence: a search holds dependent rows out itself.
SelectionOptions checked_selecting(const FitOptions& fit) {
  return {.selection = Selection::held_out, .ordered = fit.select.ordered};
}

/// A row without any target has weight 0: without such rows the others may be complete, and have a
/// lengthscale for each input.
std::vector<double> without_untargeted(std::vector<double> weights, MatrixView<const double> Y) {
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (!std::all_of(Y.row(i), Y.row(i) + Y.cols, [](double y) { return std::isnan(y); })) continue;
    weights.resize(Y.rows, 1.0);
    weights[i] = 0;
  }
  return weights;
}

/// Fills in D, the limit of its doubling, and that an estimator fitted last excludes others.
SearchOptions settled(SearchOptions options, int64_t n, int64_t d, const Context& context) {
  const EstimatorOptions& asked = options.fit.estimate;
  if (is_fitted_last(asked)) options.estimator = Estimator::ridge;
  if (options.given_features) {
    options.most_features = std::max(options.features, options.most_features);
    return options;
  }
  options.features = options.quick ? kFeatures : default_features(n, d, context);
  if (is_fitted_last(asked) && asked.entry->most_features > 0)
    options.features = std::min(options.features, asked.entry->most_features);
  if (options.most_features > 0) {
    options.features = std::min(options.features, options.most_features);
  } else {
    options.most_features = options.quick ? options.features : affordable_features(n, d, context);
  }
  return options;
}

}  // namespace

Candidate choose_all(SearchRun& run) {
  Candidate chosen = choose_lengthscale(run);
  choose_shape(run, chosen);
  choose_part_weights(run, chosen);
  const Candidate one = chosen;
  choose_per_input(run, chosen);
  climb_evidence(run, chosen, one);
  check_on_all(run, chosen);
  learn_frequencies(run, chosen);
  choose_linear(run, chosen);
  tell_relevance(run, chosen);
  return chosen;
}

namespace {

/// The stages of a search in their order. ranges: of all rows.
Model run_search(SearchRun& run, Ranges ranges) {
  begin(run);
  check_gradients(run);
  check_part_weights(run);
  Candidate chosen = choose_all(run);
  if (run.fit.outputs.or_independent)
    if (std::optional<Model> apart = run_independent(run, chosen, ranges)) return std::move(*apart);
  return finish(run, std::move(chosen), std::move(ranges));
}

/// Flags and ranges are those of all rows, before any are held out.
Model search_used(const PartialMap& partial, const SearchOptions& options, PreparationFacts found,
                  const TargetedRows& rows, Context& context) {
  const Time started = std::chrono::steady_clock::now();
  const FitOptions& fit = options.fit;
  const int64_t n = rows.X.rows();
  const SplitRule rule = assessing_rule(fit, rows);
  const bool assessed = options.assess && is_assessable(n, rule);
  const bool nested = assessed && n <= kMostNested && !options.quick && options.unseen.empty();
  std::vector<Split> folds =
      nested ? assessing_splits(n, fit.select.seed, rule) : std::vector<Split>{};
  Stage stage(context, std::ssize(folds) + 1);
  Split split = split_of(options, assessed && !nested, n, rule);
  SearchOptions possible = options;
  possible.features = partial.features_of(options.features, std::ssize(split.train));
  // Check memory for the last fit before the first trial.
  const bool exact = options.takes_kernel || partial.keeps_all_rows();
  const int64_t all = options.takes_kernel ? n : partial.features_of(0, n);  // the kernel's columns
  context.require_room(
      exact ? solver::dual_ridge_bytes(all, all) : solver::least_ridge_bytes(n, possible.features),
      "the search");
  auto summary =
      std::make_optional<RowSummary>(fit.prepare, found, fit.select.seed, rows.X,
                                     ranged_targets(fit.coding, rows.Y), rows.weights, context);
  summary->require_numbers();
  found.flagged = summary->flagged();
  Ranges ranges = summary->ranges();
  summary.reset();  // and its sample of the rows
  stage.share(1);
  SearchRun run(partial, possible, found, rows, std::move(split.train), std::move(split.held_out),
                context);
  for (const Split& fold : folds) run.repeated.push_back(fold.train);
  Model model = run_search(run, std::move(ranges));
  stage.advance(1);
  const bool enough = model.map->scalar().grid() != nullptr;  // as few as keep its tolerance
  if (model.map->features() < options.features && options.given_features && !enough)
    model.report.warnings.push_back(
        fewer_features(partial, model.map->features(), possible.features, options.features));
  if (options.assess && !assessed && !rows.groups.empty())
    model.report.warnings.emplace_back(
        "too few rows or groups for both a choice and a score: there is no score");
  Assessment& assessment = model.report.assessment;
  if (nested) keep_in_time(options, started, folds);
  if (nested)
    assessment = assess_nested(partial, possible, run, rows, folds, model, stage, context);
  model.report.warn(data_warnings(fit.coding, rows.X, rows.Y, assessment, context));
  if (options.unseen.empty())  // else the score will be that of a fit of more rows
    model.report.warn(
        score_warnings(trial_estimator(fit.estimate).parameters, fit.coding.task, assessment));
  // First, since a bad column causes other warnings.
  const auto columns = column_warnings(fit.coding.task, rows.X, rows.Y, context);
  model.report.warnings.insert(model.report.warnings.begin(), columns.begin(), columns.end());
  if (assessed) keep_score(started, options, model.report);
  warn_of_budget(options, model.report);
  return model;
}

/// Where those of `rows` that are in `among` are there; both ascending.
std::vector<int64_t> places_in(const std::vector<int64_t>& among,
                               const std::vector<int64_t>& rows) {
  std::vector<int64_t> places;
  for (int64_t k = 0; k < std::ssize(among); ++k)
    if (std::ranges::binary_search(rows, among[k])) places.push_back(k);
  return places;
}

/// Searches a copy of the rows of positive weight.
Model search_weighing(const PartialMap& partial, const SearchOptions& options,
                      const PreparationFacts& found, const TargetedRows& given, Context& context) {
  const auto& [X, Y, weights, groups] = given;
  std::vector<int64_t> used;
  for (int64_t i = 0; i < X.rows(); ++i)
    if (weights[i] > 0) used.push_back(i);
  require(std::ssize(used) >= 2, MERCER_INVALID_ARGUMENT,
          "%ld of %ld rows have a target and a weight above 0, expected at least 2",
          std::ssize(used), X.rows());
  const CopiedRows rows(X, used, context);
  const Matrix<double> targets = copied_targets(Y, used, context);
  const std::vector<double> own = solver::numbers_of(weights, used);
  const std::vector<double> own_groups = solver::numbers_of(groups, used);
  check_dependence(checked_selecting(options.fit), own_groups);
  SearchOptions of_used = options;
  of_used.unseen = places_in(used, options.unseen);
  return search_used(partial, of_used, found, {rows.rows(), targets.view(), own, own_groups},
                     context);
}

}  // namespace

// The page of a search, from here up: checks, rows of weight 0 left out, the split into rows that
// choices see and others, the stages, and the honest score.

Model search(const PartialMap& partial, const SearchOptions& options, const TargetedRows& given,
             Context& context) {
  const auto& [X, Y, weights, groups] = given;
  const FitOptions& fit = options.fit;
  check_search(options);
  check(fit.coding);
  check(fit.prepare, fit.coding);
  check_class_weight(fit.estimate.parameters, fit.coding);
  if (is_fitted_last(fit.estimate)) check_final(options);
  check_shapes(fit.coding, X.rows(), X.cols(), Y);
  FitOptions checked = fit;
  checked.select = checked_selecting(fit);
  if (!is_fitted_last(fit.estimate)) checked.estimate.entry = &ridge_model();
  check_data(checked, given);
  const ObservedTargets observed = observed_of(Y, weights);
  observed.require_some();
  PreparationFacts found = within(partial.domain(), fit.prepare, X);
  found.flagged = options.flagged;
  SearchOptions inside = settled(options, X.rows(), X.cols(), context);
  Budget spent(options.budget);
  inside.time = &spent;
  const std::vector<double> relative = without_untargeted(solver::relative_weights(weights), Y);
  const TargetedRows rows{X, Y, relative, groups};
  Model model = std::ranges::count(relative, 0.0) > 0
                    ? search_weighing(partial, inside, found, rows, context)
                    : search_used(partial, inside, found, rows, context);
  observed.warn(model.report);
  if (options.few_missing > 0)
    model.report.warnings.push_back(std::to_string(options.few_missing) +
                                    (options.few_missing == 1 ? " input is" : " inputs are") +
                                    " missing in fewer than " + std::to_string(kLeastFlagged) +
                                    " rows: filled, not flagged");
  return model;
}

}  // namespace mercer::model
