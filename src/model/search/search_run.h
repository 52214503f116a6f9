// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One search: what its stages share, how they try a candidate, and the stages, which search.cpp
// calls in their order.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/numbers.h"
#include "model/assess/assessment.h"
#include "model/estimator/model_entry.h"
#include "model/outputs/outputs.h"
#include "model/prepare/preparation.h"
#include "model/rows/row_sets.h"
#include "model/search/ard.h"
#include "model/search/lengthscale_walk.h"
#include "model/search/partial_map.h"
#include "model/search/search.h"
#include "model/search/trial.h"

namespace mercer::model {

/// Progress over phases of estimated work. A phase never runs past its end, and beginning the next
/// one jumps there.
class Phases {
 public:
  Phases(Context& context, int64_t total) : stage_(context, total), total_(total) {}
  /// share: of the units that its rows are counted for.
  void begin(int64_t units, double share = 1) {
    stage_.advance(end_ - done_);
    done_ = end_;
    share_ = share;
    end_ += static_cast<int64_t>(share * static_cast<double>(units));
  }
  /// Sets aside all that is left for the next inner stage.
  void share_rest() { stage_.share(total_ - end_); }
  /// The function that counts rows of so many units each.
  solver::RowsDone counting(int64_t units) {
    return [this, each = share_ * static_cast<double>(units)](int64_t rows) {
      const auto wanted = static_cast<int64_t>(static_cast<double>(rows) * each);
      const int64_t step = std::min(wanted, end_ - done_);
      done_ += step;
      stage_.advance(step);
    };
  }

 private:
  Stage stage_;
  int64_t total_ = 0;
  int64_t done_ = 0;
  int64_t end_ = 0;
  double share_ = 1;
};

/// Work of one row, in units >= 1 that do not overflow when multiplied by any number of rows.
inline int64_t row_units(int64_t features) {
  const int64_t blocks = std::min<int64_t>(features / 64, int64_t{1} << 14);
  return 1 + blocks * blocks;
}
inline int64_t phase_units(const TrialSize& size, int64_t trials) {
  return trials * size.rows * row_units(size.features);
}

/// Options of preparation, and the preparation fitted to all rows except the unseen ones.
struct FittedPreparation {
  PreparationOptions options;
  Preparation fitted;
};

/// All choices beside lengthscale and lambda. A search moves between settings that differ in one
/// choice and keeps the better one.
struct Setting {
  const FittedPreparation* prepared = nullptr;
  const PartialMap* partial = nullptr;  // for one kernel
  /// How outputs are learnt together: by the kernel's mixture, a weight of Gamma, or not at all.
  CouplingPointer coupling = nullptr;
  double shape = kNaN;  // that mixture or weight
  bool joined = true;   // false: not at all
  double loss = kNaN;   // the least of its coarse walk
};

/// What is chosen so far.
struct Candidate {
  Setting setting;
  std::vector<double> lengthscales;  // none, one, or one for each input
  Trial trial;                       // at these; without points if nothing was tried
  size_t at = 0;                     // the chosen point of trial
  TrialPoint point;                  // that point
  std::vector<PathPoint> path;       // all points of trial
  std::shared_ptr<const feature::FeatureMap> learnt;  // of a learnt spectrum, if that is kept
  bool whole = false;    // trial is leave-one-out of all rows: lambda is final
  bool at_edge = false;  // the lengthscale is the last that is tried

  void take(Trial from, size_t place) {
    trial = std::move(from);
    at = place;
    point = trial.points[at];
    path = path_of(trial);
  }
};

// Lambdas in units of k(x, x).
inline constexpr double kLeastTried = 1e-12;
inline constexpr double kLeastSingle = 1e-8;  // the least for products in f32

inline constexpr double kHopeless = 2;  // standard errors from the best, which no rule makes up for

inline constexpr int64_t kCoarseTrials = 5, kFineTrials = 4;  // about, for progress

/// What is learnt without the rows of one of kFolds folds, once it is asked for.
struct LearntFold {
  Split split;
  std::optional<std::vector<double>> lengthscales;  // empty: no result
  std::optional<Setting> metric;
};

/// How lengthscales for each input, or a metric of them, were learnt.
struct Learning {
  Setting setting;
  Ard learnt;
  double factor = 1;  // of the learnt lengthscales
  double lambda = 0;  // with these
  Candidate common;   // one lengthscale for all inputs, where it starts
  std::vector<LearntFold> folds = {};
  bool metric = false;                            // of all inputs together
  std::vector<linalg::CurvaturePair> turns = {};  // of its descent
};

/// A trial, from whose losses a search of some of its rows can choose.
struct KnownTrial {
  Setting setting;
  std::vector<double> lengthscales;
  TrialSize size;
  Trial trial;
  std::vector<int64_t> rows;  // whose losses these are
  /// The points' evidence of the rows of each of SearchRun::repeated; none where it is unknown.
  std::vector<std::vector<double>> evidence;
  MemoryCharge held;  // of the losses
};

struct SearchRun;
/// A search of some rows of another one, which gives it preparations, maps and losses: the loss of a
/// row by a fit that has not seen it stays valid when other rows are left out.
struct Repeat {
  SearchRun& first;
  const std::vector<int64_t>& rows;  // of the first, ascending
};

/// The state of one search.
struct SearchRun {
  /// Row weights: n numbers > 0, or none. by: the rows that choices see, ascending; others: all
  /// that they do not. References are kept; rows and options have been checked.
  SearchRun(const PartialMap& partial, const SearchOptions& asked, const PreparationFacts& facts,
            const TargetedRows& rows, std::vector<int64_t> by, std::vector<int64_t> others,
            Context& running, const Repeat* of = nullptr);
  SearchRun(const SearchRun&) = delete;

  bool leaves_out() const {
    if (repeat != nullptr) return repeat->first.leaves_out();
    return std::ssize(chosen_by) <= (rule.groups.empty() ? kMostLeftOut : kMostFolded);
  }
  bool searches_lengthscale() const {
    return start.partial->has_lengthscale() && options.lengthscale == 0;
  }
  /// Whether the final lengthscales and lambda maximise the evidence.
  bool by_evidence() const { return fit.select.selection == Selection::evidence; }
  Judge judge_of(const Setting& setting) const { return judge.of(setting.prepared->fitted, Y); }
  /// The rows that a map is made from, if any.
  std::vector<int64_t> made_of(const PartialMap& partial) const {
    return partial.keeps_all_rows() ? all_rows(X.rows()) : chosen_by;
  }
  const PartialMap& keep(std::unique_ptr<PartialMap> partial) {
    partials.push_back(std::move(partial));
    return *partials.back();
  }

  // What is asked, and of which rows.
  const Repeat* repeat;  // null: a search of its own
  const SearchOptions& options;
  const FitOptions& fit;
  const EstimatorOptions* fitted_last;  // null: ridge or logistic regression
  double lambda;                        // of ridge, given; negative: chosen
  const PreparationFacts& found;
  Rows X;
  MatrixView<const double> Y;
  std::vector<int64_t> chosen_by, unseen;
  Context& context;
  std::span<const double> weights;
  SplitRule rule;
  std::vector<double> seen;  // weights, 0 for unseen rows; empty: 1 each

  // How candidates are tried: by ridge, whatever is fitted last.
  EstimatorOptions estimate;           // with the coupling of the last candidate
  double unit = 1;                     // lambda_unit of the rows that are fitted next
  std::vector<double> class_factors;   // empty: 1 each
  std::vector<double> learnt_weights;  // weights times class factors; empty: 1 each
  Judge judge;
  Split split;  // of chosen_by
  CandidateRows candidates;
  TrialSizes sizes;

  // What is found.
  std::list<FittedPreparation> prepared;               // the first by the given options
  std::map<const FittedPreparation*, double> medians;  // of distances
  std::vector<std::unique_ptr<PartialMap>> partials;   // of settings
  /// Of a partial map: those of other kernels, and the one with kernel values as features.
  std::map<const PartialMap*, std::vector<const PartialMap*>> kernels, exact;
  const PartialMap* linear = nullptr;  // once it is tried
  Setting start;                       // by the given options
  std::vector<Setting> walked;
  std::vector<KnownTrial> known;
  std::vector<std::vector<int64_t>> repeated;  // the rows of each search that repeats this one
  std::optional<Learning> learning;            // of what was kept
  FitReport report;
  int64_t stage = 0;  // of trials of one lengthscale
  std::chrono::steady_clock::time_point recorded_at = std::chrono::steady_clock::now();
  Phases phases;
};

// Trials (search_run.cpp).

/// Ridge, by which candidates are judged whatever the estimator (search.cpp).
EstimatorOptions trial_estimator(const EstimatorOptions& asked);
/// The value of SearchCandidate::lengthscale.
double reported(std::span<const double> lengthscales);
/// Whether a choice begins in time; if not, `what` is left out. Repeats make the choices of the
/// first.
bool has_time(const SearchRun& run, const char* what);
/// Its name, with nu: searches try several.
std::string name_in_report(const kernel::Kernel& kernel);
/// Adds a trial to the report. Its seconds are those since the last one, so that nothing of the
/// search is left out.
void record(SearchRun& run, int64_t stage, const TrialSize& size, const Setting& setting,
            std::span<const double> lengthscales, const feature::FeatureMap& map,
            const TrialPoint& point);
/// The preparation with these transforms, fitted on first use.
const FittedPreparation& prepared_with(SearchRun& run, Transform of_inputs, Transform of_targets);
/// The ranges of all rows except the unseen ones.
Ranges seen_ranges(const SearchRun& run);
/// Sets the coupling: of the map's roots, or the setting's.
void couple(SearchRun& run, const feature::FeatureMap& map, const Setting& setting);
/// Sets the unit of lambda for rows under this map.
void take_unit(SearchRun& run, const feature::FeatureMap& map, const solver::BlockSource& rows,
               const std::vector<int64_t>& train);
/// All rows under the setting's map, which is made for `train`; sets coupling and unit for it.
const solver::BlockSource& map_rows(SearchRun& run, const Setting& setting,
                                    std::span<const double> lengthscales, int64_t features,
                                    const std::vector<int64_t>& train);
/// A grid; for many rows in folds a few lambdas about the current choice, if any.
std::vector<double> lambdas(const SearchRun& run, const Candidate& near);
/// Leave-one-out, or folds for grouped or ordered rows. kept: as of left_out_trial.
Trial leave_out(SearchRun& run, const solver::BlockSource& rows, const Setting& setting,
                const std::vector<int64_t>& train, const std::vector<double>& lambdas,
                std::unique_ptr<solver::RidgeSystem>* kept = nullptr);
/// fit.judge, with rows combined into clusters if grouped or ordered.
Trial judged(SearchRun& run, const HeldOutFit& fit, const WalkPlan& plan, const Setting& setting,
             const std::vector<int64_t>& held_out);
/// A trial on part of the rows and features, reported with `stage`. near: a trial from whose
/// lambda a walk may start, or null. about: the best lambda of about as many rows, about which a
/// few are tried by leaving out, or 0.
Trial try_out(SearchRun& run, int64_t stage, const Setting& setting,
              std::span<const double> lengthscales, const TrialSize& size, const Trial* near,
              double about = 0);
/// Whether a fit may take the kernel's own values at the rows in place of features.
bool has_values_at_rows(const SearchRun& run, const Setting& setting);
/// Whether the last fit is by the kernel itself, whose values at few rows cost about as much as
/// features, which are estimates of them: where the map is left open or exact.
bool ends_in_kernel(const SearchRun& run, const Setting& setting);
/// Other kernels for a setting.
const std::vector<const PartialMap*>& kernels_beside(SearchRun& run, const PartialMap& partial);
/// The map of lengthscale 1.
const feature::FeatureMap& unit_of(SearchRun& run, const Setting& setting, int64_t features);
/// The lengthscale at which the kernel between rows is neither near 0 nor near 1.
double usual_lengthscale(SearchRun& run, const Setting& setting);
/// Where a walk starts, and the longest lengthscale that is tried.
double central(SearchRun& run, const Setting& setting);
double longest(SearchRun& run, const Setting& setting);
LengthscaleWalk::HasCandidate has_candidate(SearchRun& run, const Setting& setting);
/// A walk of a common factor of lengthscales, from 1; near: the trial before. References are kept.
LengthscaleWalk factor_walk(SearchRun& run, int64_t stage, const Setting& setting,
                            const std::vector<double>& lengthscales, const TrialSize& size,
                            const Trial& near);

// Stages.

/// Prepares rows by the given options and completes the first setting, before all other stages
/// (search_run.cpp).
void begin(SearchRun& run);
/// UNSUPPORTED if gradients are asked for but impossible (per_input.cpp).
void check_gradients(SearchRun& run);
/// All but the last fit (search.cpp).
Candidate choose_all(SearchRun& run);
/// The lengthscale, if it is searched, and a first lambda (lengthscale_walk.cpp).
Candidate choose_lengthscale(SearchRun& run);
/// With thousands of rows, which tell lengthscales apart, the paired rule is for lambda alone
/// (lengthscale_walk.cpp).
LengthscaleWalk::Choice choice_of(const SearchRun& run, const LengthscaleWalk& walk);
/// A choice made on few of the rows, far from the start, is compared with the start on all
/// (lengthscale_walk.cpp).
void check_on_all(SearchRun& run, Candidate& chosen);

struct SettingWalk {
  Setting setting;
  LengthscaleWalk walk;
};
/// The coarse walk of the best setting: transforms, kernels, grids of frequencies (settings.cpp).
SettingWalk walk_settings(SearchRun& run);
/// Of few rows of a regression takes the linear kernel unless losses tell that the choice is better
/// (settings.cpp).
void choose_linear(SearchRun& run, Candidate& chosen);
/// Settings for which lengthscales per input are learnt: the kept one, and those of the first
/// kernel near its best.
std::vector<Setting> rivals_of(const SearchRun& run, const Setting& kept);
/// The setting with every way of learning outputs together, the first a default.
std::vector<Setting> shapes_of(SearchRun& run, const Setting& setting);
/// Chooses among shapes_of at the chosen lengthscale by the paired rule.
void choose_shape(SearchRun& run, Candidate& chosen);
/// Runs the search of independent outputs, too; none if outputs learnt together win by more than a
/// standard error.
std::optional<Model> run_independent(SearchRun& run, const Candidate& joined, Ranges& ranges);

/// Switches to a lengthscale per input where that is better by two standard errors, one if it was
/// asked for (per_input.cpp).
void choose_per_input(SearchRun& run, Candidate& chosen);
/// Of lengthscales for each input, if it has them.
void tell_relevance(SearchRun& run, const Candidate& chosen);
/// The reason why a lengthscale, or one per input, cannot be learnt by gradients; null: it can.
const char* bar_to_gradients(const SearchRun& run, const Setting& setting);
const char* bar_to_per_input(const SearchRun& run, const Setting& setting);
/// Rows as gradients of the evidence need them.
struct LearningRows {
  Matrix<double> X, Y;
};
LearningRows learning_rows(SearchRun& run, const Setting& setting,
                           const std::vector<int64_t>& rows);
/// Learns from `most` rows, in units of earlier lengthscales; empty without room.
Ard learn_from(SearchRun& run, const Setting& setting, const TrialSize& most,
               const std::vector<double>& units, const ArdOptions& options);

/// The Gram matrix sum_i exp(theta_i) K_i of the parts of a sum; memory n^2 numbers for each part.
class WeightedGram final : public AdjustableFeatures {
 public:
  /// `sum`: a kernel of one output whose composition is a sum. Errors: those of kernel::gram.
  WeightedGram(const kernel::Kernel& sum, MatrixView<const double> X, Context& context);
  int64_t features() const override { return 0; }
  int64_t parts() const noexcept { return std::ssize(grams_); }
  /// The mean of k(x, x) over the rows, of one part.
  double mean_diagonal(int64_t part) const;
  void apply(std::span<const double> theta, Context& context, MatrixView<double> K) override;
  void pull_back(MatrixView<const double> G, Context& context, std::span<double> slope) override;

 private:
  std::vector<Matrix<double>> grams_;
  std::vector<double> weights_;
};

/// The factors of the parts' variances of the largest marginal likelihood, from 1, none below 1e-8
/// of the largest; the mean of k(x, x) stays as it was. lambda: of the start, in units of k(x, x).
/// X: rows as the kernel sees them; Y: n x outputs; weights: of the rows, or none. Without a target
/// that varies they stay 1. Cost: n^3/3 + n^2 parts for each of some 60 evaluations. Errors:
/// OUT_OF_MEMORY, CANCELLED.
std::vector<double> learn_part_weights(const kernel::Kernel& sum, MatrixView<const double> X,
                                       MatrixView<const double> Y, double lambda, double noise,
                                       Context& context, std::span<const double> weights = {});
/// UNSUPPORTED if weights of parts are asked for but there are none to learn (part_weights.cpp).
void check_part_weights(const SearchRun& run);
/// Of a sum's parts, where asked for, and the lengthscale about the one before.
void choose_part_weights(SearchRun& run, Candidate& chosen);

/// Maximises the evidence (evidence.cpp). one: the choice with one lengthscale for all, which is
/// kept where one for each is not likelier by more than its number is worth.
void climb_evidence(SearchRun& run, Candidate& chosen, const Candidate& one);
/// Whether outputs are joined or miss targets; their evidence is maximised without gradients.
bool joins(const SearchRun& run, const Setting& setting);
void check_joint_evidence(const SearchRun& run);      // UNSUPPORTED for what it does not serve
double known_noise(const SearchRun& run);             // 0: unknown
inline constexpr TrialSize kEvidenceEnd{8000, 2048};  // rows and features that give its end
/// Learns frequencies and weights, if asked for, and keeps them if they are better
/// (learnt_spectrum.cpp).
void learn_frequencies(SearchRun& run, Candidate& chosen);

/// Estimated work of the last fit.
int64_t last_units(const SearchRun& run);
/// The model of the choice with its report, assessed on the unseen rows, if any; with D features, or
/// twice as many while that pays (final_fit.cpp). ranges: of all rows.
Model finish(SearchRun& run, Candidate chosen, Ranges ranges);

// Ridge or logistic regression (estimator_choice.cpp).

/// The ridge fit when the choice begins. References are kept.
struct RidgeResult {
  double lambda = 0;
  /// Coefficients at lambda of a fit to the split's training rows.
  std::function<solver::Weights(const Split& split)> part;
  /// Statistics of similar rows, for a preconditioner; null: to be summed.
  const solver::RowStatistics* statistics = nullptr;
  bool given = false;                      // lambda is given, for logistic regression too
  double unit = 1;                         // of lambda (lambda_unit)
  std::vector<double> class_factors = {};  // of the row weights in logistic regression
};

struct EstimatorChoice {
  EstimatorOptions estimating;  // the options, with the estimator that is kept
  bool keeps_logistic = false;
  double lambda = 0;
  Calibration calibration;
  std::vector<PathPoint> path;  // logistic regression: log loss of held-out rows
  double ridge_loss = 0;        // log loss of held-out rows; NaN: ridge was not asked for
  double logistic_loss = 0;     // NaN: not tried, or given up after the first split
  double error_rate = 0;        // of the kept estimator on held-out rows
  std::vector<double> start;    // logistic regression: x of a fit to a part, if it is of features
  std::vector<double> class_factors;
};

/// Whether choose_estimator tries logistic regression with so many splits.
bool tries_logistic(const solver::BlockSource& rows, Estimator asked, size_t splits,
                    const Context& context);

/// For classification. splits: one, or folds, whose held-out rows are pooled. Logistic regression
/// is tried at lambdas from ridge.lambda down, as long as the loss of the first split falls.
/// `automatic` leaves it out if it would cost more than the row statistics of ridge, or if features
/// do not fit the cache, and gives it up if on the first of several splits its log loss is not below
/// ridge's.
EstimatorChoice choose_estimator(const solver::BlockSource& rows,
                                 const EstimatorOptions& ridge_asked, Estimator asked,
                                 std::span<const Split> splits, const RidgeResult& ridge,
                                 Context& context);

/// Logistic regression at the choice's lambda, from its start, which is replaced by the solution.
solver::Weights fit_logistic(const solver::BlockSource& rows,
                             const solver::RowStatistics* statistics, EstimatorChoice& choice,
                             Context& context);

}  // namespace mercer::model
