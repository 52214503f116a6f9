// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One search: lengthscale and lambda by some rows, then a fit on these and the rows kept apart.
#pragma once

#include <chrono>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "model/assess/assessment.h"
#include "model/outputs/output_coupling.h"
#include "model/phases.h"
#include "model/rows/row_sets.h"
#include "model/search/ard.h"
#include "model/search/candidate_rows.h"
#include "model/search/held_out_fit.h"
#include "model/search/lengthscale_walk.h"
#include "model/search/search.h"
#include "model/search/search_setting.h"
#include "model/search/trial_sizes.h"

namespace mercer::model {

/// As SearchCandidate::lengthscale has it.
double reported(std::span<const double> lengthscales);

/// Either way from the median heuristic: a factor of 256.
inline constexpr int64_t kCoarseSteps = 8;
inline constexpr double kLeastTried = 1e-12;  // lambda
inline constexpr double kLeastSingle = 1e-8;  // that sums of products in f32 allow

class SearchRun {
 public:
  /// weights: n numbers > 0, or none. chosen_by: the rows that
  /// choices see, ascending; unseen: all others, maybe none. References are kept; rows and options
  /// were checked.
  SearchRun(const MapMaker& maker, const SearchOptions& options, const Found& found,
            const TargetedRows& rows, std::vector<int64_t> chosen_by, std::vector<int64_t> unseen,
            Context& context);

  /// The model, its report filled in; assessed on the unseen rows if there are any. ranges: what the
  /// model keeps of all rows.
  Model run(Ranges ranges);
  /// Of all rows but the unseen.
  Ranges ranges() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Chosen {
    Setting setting;
    std::vector<double> lengthscales;  // none, one, or one for each input
    Trial trial;                       // at these; no points where nothing was tried
    size_t at = 0;                     // of its points
    TrialPoint point;                  // this one
    std::vector<PathPoint> path;       // all of them
    bool whole = false;                // by leave-one-out of all rows and features: lambda is final
    void take(Trial tried, size_t place) {
      trial = std::move(tried);
      at = place;
      point = trial.points[at];
      path = path_of(trial);
    }
  };

  /// Fits all rows that choose with so many features: map_, whole_ and last_ are of it.
  void take_whole(Chosen& chosen, int64_t features);
  /// map_ and whole_ alone, at what was chosen so far.
  void map_whole(const Chosen& chosen, int64_t features);
  /// take_whole with all features, of which there may become more (search_features.cpp).
  /// The time at which the last fit began.
  Time choose_features(Chosen& chosen);
  bool has_twice(int64_t features, const Chosen& chosen) const;
  /// Squares alone are fitted, and there may be other D.
  bool has_curve(const Chosen& chosen);
  bool may_double(int64_t features, const Chosen& chosen) const;
  void begin_whole(int64_t features);
  int64_t last_units() const;
  /// The lengthscale with so many features.
  void walk_again(int64_t features, Chosen& chosen);
  void warn_of_few_features(int64_t features, const Trial& fewer, const Chosen& chosen);
  void keep(int64_t stage, int64_t rows, const Chosen& chosen, Time since);

  bool leaves_out() const {
    return std::ssize(chosen_by_) <= (rule_.groups.empty() ? kMostLeftOut : kMostFolded);
  }
  bool searches_lengthscale() const {
    return start_.maker->has_lengthscale() && options_.lengthscale == 0;
  }
  const MapMaker& kept(std::unique_ptr<MapMaker> maker) {
    makers_.push_back(std::move(maker));
    return *makers_.back();
  }
  /// The coupling of a map's roots, or of the setting.
  void couple(const feature::FeatureMap& map, const Setting& setting);
  /// With every way of learning outputs together, the first a fair one.
  std::vector<Setting> shapes_of(const Setting& setting);
  /// Those at the lengthscale that was chosen; of those that cannot be told from the best the
  /// simplest, and where outputs may as well be apart these, unless joined ones win by an error.
  void choose_shape(Chosen& chosen);
  std::vector<Tried> tried_with_shape(const Setting& setting, const Chosen& chosen);
  Picked best_of(const std::vector<Tried>& tried) const;
  Chosen choose();
  Chosen choose_lengthscale();
  struct Walked {
    Setting setting;
    LengthscaleWalk walk;
  };
  /// The coarse walk of the setting that is kept.
  Walked walk_settings();
  Walked walk_coarsely(const Setting& setting, double start);
  bool tries_settings() const;
  /// Settings that differ from one in a single choice.
  std::vector<Setting> other_target_transforms(const Setting& setting);
  std::vector<Setting> other_transforms(const Setting& setting);
  std::vector<Setting> other_kernels(const Setting& setting);
  /// Of lengthscale 1.
  const feature::FeatureMap& unit_of(const Setting& setting, int64_t features);
  /// The kernel's, at which rows are neither alike nor far from each other.
  double usual_lengthscale(const Setting& setting);
  /// With these transforms; fitted when they are first asked for.
  const Prepared& prepared_with(Transform of_inputs, Transform of_targets);
  /// Under which lengthscales for each input are learnt: the one that is kept, and of the first
  /// kernel those near its best (up to kMostLeftOut rows only that of the same transforms).
  std::vector<Setting> rivals_of(const Setting& kept) const;
  /// Null, or why no lengthscale, or none for each input, can be learnt by gradients, whatever is
  /// asked for.
  const char* bar_to_gradients(const Setting& setting) const;
  const char* bar_to_per_input(const Setting& setting) const;
  void check_gradients() const;  // UNSUPPORTED where they are asked for, and cannot be
  bool tries_per_input(const Setting& setting) const;
  /// Goes over to a lengthscale for each input where that is better by more than its error, or
  /// asked for.
  void try_per_input(Chosen& chosen);
  /// What was learnt of all that was tried, with the common factor and lambda of least loss.
  struct PerInputFit {
    Ard learnt;
    Chosen chosen;
    bool found() const { return !learnt.lengthscale.empty(); }
  };
  static PerInputFit of_one(const Chosen& chosen, int64_t d);
  PerInputFit fit_per_input(const Chosen& chosen);
  /// Keeps it where it is better than what was tried before.
  void consider(const Setting& setting, Ard learnt, const Chosen& chosen, PerInputFit& best);
  Ard learn_from_few(const Setting& setting, const Chosen& chosen);
  Ard learn_again(const Setting& setting, const Ard& few);
  Ard learn_from(const Setting& setting, const TrialSize& most, const std::vector<double>& units,
                 const ArdOptions& options);
  /// Whether lengthscales and lambda of what is fitted last are of the largest evidence.
  bool by_evidence() const { return fit_.select.selection == Selection::evidence; }
  /// Goes over to these (search_evidence.cpp).
  void climb_evidence(Chosen& chosen);
  Ard most_likely(const Chosen& chosen, const TrialSize& size, double factor, double lambda);
  /// Thousands of rows tell lengthscales apart: there the paired rule is for lambda alone.
  LengthscaleWalk::Choice choice_of(const LengthscaleWalk& walk) const {
    return leaves_out() ? walk.choice() : walk.best_choice();
  }
  Chosen chosen_of(const Setting& setting, const LengthscaleWalk& walk, const TrialSize& size);
  double central(const Setting& setting) const;

  /// On a part of the rows and features, reported as a trial of `stage`. near: a trial of which
  /// lambda can be walked from, or null.
  Trial try_out(int64_t stage, const Setting& setting, std::span<const double> lengthscales,
                const TrialSize& size, const Trial* near);
  Judge judge_of(const Setting& setting) const { return judge_.of(setting.prepared->by, Y_); }
  /// Each row left out by itself; of rows that know of each other in folds.
  Trial leave_out(const solver::BlockSource& rows, const Setting& setting,
                  const std::vector<int64_t>& train, const std::vector<double>& lambdas);
  Trial hold_out(const solver::BlockSource& rows, const Setting& setting,
                 const std::vector<int64_t>& train, const std::vector<int64_t>& held_out,
                 const Trial* near);
  /// With the errors of clusters of rows, where these know of each other.
  Trial judged(const HeldOutFit& fit, const LambdaPlan& plan, const Setting& setting,
               const std::vector<int64_t>& held_out);
  /// A grid, or of many rows in folds a few about what was chosen so far, where anything was.
  std::vector<double> lambdas(const Chosen& near) const;

  /// Ridge's lambda is chosen; which estimator of a classification is kept, and its calibration.
  Estimator estimator() const { return options_.estimator; }
  void choose_between(std::span<const Split> splits, const RidgeResult& ridge, Chosen& chosen);
  bool keeps_logistic() const { return choice_ && choice_->keeps_logistic; }
  /// On all rows, by ridge's sums for their scale where there are any.
  solver::Weights fit_logistic_last(const Chosen& chosen, const solver::RowStatistics* statistics);
  /// All rows by their own weights alone: what scores are of, and logistic regression's, which
  /// weighs classes itself.
  FeatureRows plain_rows(const Chosen& chosen) const { return rows_of(chosen, weights_); }
  FeatureRows rows_of(const Chosen& chosen, std::span<const double> weights) const {
    return {*map_,
            chosen.setting.prepared->by,
            fit_.coding,
            estimate_.precision,
            {X_, Y_, weights},
            made_of(*chosen.setting.maker)};
  }
  /// The rows that the last map is made from, where it is made from any.
  std::vector<int64_t> made_of(const MapMaker& maker) const {
    return maker.keeps_all_rows() ? all_rows(X_.rows()) : chosen_by_;
  }
  /// On all rows, at the lambda of take_whole.
  solver::Weights fit_left_out(Chosen& chosen);
  solver::Weights fit_held_out(Chosen& chosen);
  /// On some of the rows that the weights were fitted to; NaN where it is not asked for.
  double training_loss(const Chosen& chosen, const Model& model);
  /// Scores the unseen rows as a model of these weights and of what chose them would be.
  void assess_by(const Chosen& chosen, std::shared_ptr<const Predictor> predictor,
                 std::shared_ptr<const solver::Posterior> posterior = nullptr);
  void assess_by(const Chosen& chosen, solver::Weights weights) {
    if (!unseen_.empty()) assess_by(chosen, make_linear(std::move(weights)));
  }
  /// How the lambda of what is fitted last is chosen, where that is not ridge.
  Selection final_selection() const;
  /// What is fitted last, where that is not ridge: lambda in its own way, then all rows.
  void fit_final(Chosen& chosen, Model& model);
  /// As it was asked for, with what was chosen.
  Fitting fitted_as(const Chosen& chosen) const;
  /// Where the last rows are predicted worse than rows among the others (search_drift.cpp).
  void warn_of_drift(const Chosen& chosen);
  void fill_report(const Chosen& chosen, double training_loss);
  void keep(const SearchCandidate& candidate);
  int64_t phase_units(const TrialSize& size, int64_t trials) const {
    return trials * size.rows * row_units(size.features);
  }
  solver::RowsDone counting(int64_t features);

  const SearchOptions& options_;
  const Fitting& fit_;
  Estimating estimate_;  // as asked, with the coupling of the last candidate
  const Found& found_;
  Rows X_;
  MatrixView<const double> Y_;
  std::vector<int64_t> chosen_by_, unseen_;
  Context& context_;
  std::span<const double> weights_;
  SplitRule rule_;
  std::vector<double> seen_;                       // the same, 0 of unseen rows; empty: 1 each
  std::vector<double> factors_;                    // of classes; empty: 1 each
  std::vector<double> learnt_;                     // weights_ times these: of fits; empty: 1 each
  std::list<Prepared> prepared_;                   // the first as it is asked for
  std::vector<std::unique_ptr<MapMaker>> makers_;  // of settings
  Setting start_;                                  // as it is asked for
  std::vector<Setting> walked_;
  std::shared_ptr<const feature::FeatureMap> map_;  // of the fit
  std::optional<FeatureRows> whole_;                // under it
  std::optional<HeldOutFit> last_;                  // to those that choose
  Judge judge_;
  Split split_;  // of chosen_by_, on held-out rows
  CandidateRows candidates_;
  TrialSizes sizes_;
  FitReport report_;
  std::optional<EstimatorChoice> choice_;  // of a classification
  bool lengthscale_at_edge_ = false;
  int64_t stage_ = 0;  // of trials of one lengthscale
  double pace_ = 1;    // of progress, by the work done
  Phases phases_;
};

}  // namespace mercer::model
