// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One search: what it knows of its rows, its settings, and its stages, whose bodies are in
// search.cpp (the walks and the choice), search_setting.cpp (transforms, kernels, outputs),
// search_per_input.cpp, search_evidence.cpp and search_fit.cpp (the final fit).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/context.h"
#include "base/numbers.h"
#include "model/assess/assessment.h"
#include "model/outputs/output_coupling.h"
#include "model/prepare/preparation.h"
#include "model/rows/row_sets.h"
#include "model/search/ard.h"
#include "model/search/lengthscale_walk.h"
#include "model/search/map_maker.h"
#include "model/search/search.h"
#include "model/search/trial.h"

namespace mercer::model {

// Progress over phases of estimated work.

/// A phase never runs past its end, and beginning the next one jumps there.
class Phases {
 public:
  Phases(Context& context, int64_t total) : stage_(context, total), total_(total) {}
  void begin(int64_t units) {
    stage_.advance(end_ - done_);
    done_ = end_;
    end_ += units;
  }
  /// Sets aside all that is left for the next inner stage.
  void share_rest() { stage_.share(total_ - end_); }
  void advance(int64_t units) {
    const int64_t step = std::min(units, end_ - done_);
    done_ += step;
    stage_.advance(step);
  }

 private:
  Stage stage_;
  int64_t total_ = 0;
  int64_t done_ = 0;
  int64_t end_ = 0;
};

/// Work of one row, in units >= 1 that do not overflow when multiplied by any number of rows.
inline int64_t row_units(int64_t features) {
  const int64_t blocks = std::min<int64_t>(features / 64, int64_t{1} << 14);
  return 1 + blocks * blocks;
}

// Settings of a search: all choices beside lengthscale and lambda.

/// Options of preparation, and the preparation fitted to all rows except the unseen ones.
struct Prepared {
  Preparing asked;
  Preparation by;
};

/// A search moves between settings that differ in one choice and keeps the better one.
struct Setting {
  const Prepared* prepared = nullptr;
  const MapMaker* maker = nullptr;  // for one kernel
  /// How outputs are learnt together: by the kernel's mixture, a weight of Gamma, or not at all.
  CouplingPointer coupling = nullptr;
  double shape = kNaN;  // that mixture or weight
  bool joined = true;   // false: not at all
  double loss = kNaN;   // the least of its coarse walk
};

// One search: chooses lengthscale and lambda on some rows, then fits these and the unseen rows.

/// Ridge, by which candidates are judged whatever the estimator.
Estimating judging(const Estimating& asked);

/// The value of SearchCandidate::lengthscale.
double reported(std::span<const double> lengthscales);

/// Steps up and down from the median heuristic: a factor of 256, but at most kLongest upwards.
inline constexpr int64_t kCoarseSteps = 8;
// Lambdas in units of k(x, x).
inline constexpr double kLeastTried = 1e-12;
inline constexpr double kLeastSingle = 1e-8;  // the least for products in f32

class SearchRun {
 public:
  /// Row weights: n numbers > 0, or none. chosen_by: the rows that choices see, ascending; unseen:
  /// all others. References are kept; rows and options have been checked.
  SearchRun(const MapMaker& maker, const SearchOptions& options, const Found& found,
            const TargetedRows& rows, std::vector<int64_t> chosen_by, std::vector<int64_t> unseen,
            Context& context);

  /// The model with its report, assessed on the unseen rows, if any. ranges: of all rows.
  Model run(Ranges ranges);
  /// The ranges of all rows except the unseen ones.
  Ranges ranges() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Chosen {
    Setting setting;
    std::vector<double> lengthscales;  // none, one, or one for each input
    Trial trial;                       // at these; without points if nothing was tried
    size_t at = 0;                     // the chosen point of trial
    TrialPoint point;                  // that point
    std::vector<PathPoint> path;       // all points of trial
    std::shared_ptr<const feature::FeatureMap> learnt;  // of a learnt spectrum, if that is kept
    bool whole = false;  // trial is leave-one-out of all rows: lambda is final
    void take(Trial tried, size_t place) {
      trial = std::move(tried);
      at = place;
      point = trial.points[at];
      path = path_of(trial);
    }
  };

  /// Fits chosen_by_ with so many features: sets map_, whole_ and last_.
  void take_whole(Chosen& chosen, int64_t features);
  /// Sets map_ and whole_ for the current choice.
  void map_whole(const Chosen& chosen, int64_t features);
  /// take_whole with all features, possibly doubled.
  void choose_features(Chosen& chosen);
  /// Whether a fit with so many features, of which it is open whether they pay, may be tried.
  bool may_look(int64_t features) const;
  bool has_twice(int64_t features, const Chosen& chosen) const;
  /// Whether D has a learning curve: fits are by least squares, and D may vary.
  bool has_curve(const Chosen& chosen);
  bool may_double(int64_t features, const Chosen& chosen) const;
  void begin_whole(int64_t features);
  int64_t last_units() const;
  /// Searches the lengthscale again with so many features.
  void walk_again(int64_t features, Chosen& chosen);
  void warn_of_few_features(int64_t features, const Trial& fewer, const Chosen& chosen);
  void keep(int64_t stage, int64_t rows, const Chosen& chosen);

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
  /// Sets the coupling: of the map's roots, or the setting's.
  void couple(const feature::FeatureMap& map, const Setting& setting);
  /// The setting with every way of learning outputs together, the first a default.
  std::vector<Setting> shapes_of(const Setting& setting);
  /// Chooses among shapes_of at the chosen lengthscale by the paired rule.
  void choose_shape(Chosen& chosen);
  Picked best_of(const std::vector<Trial>& tried) const;
  /// The options and the map of the search of independent outputs, which is what it is by itself.
  SearchOptions of_independent() const;
  /// A trial of the choice by which it compares with one of another search of the same rows.
  Trial compared(const Chosen& chosen);
  /// Runs that search, too; null unless outputs learnt together win by more than a standard error.
  std::optional<Model> run_independent(const Chosen& joined, Ranges& ranges);
  Chosen choose_all();
  /// Fits what was chosen.
  Model finish(Chosen chosen, Ranges ranges);
  Chosen choose();
  Chosen choose_lengthscale();
  struct Walked {
    Setting setting;
    LengthscaleWalk walk;
  };
  /// The coarse walk of the best setting.
  Walked walk_settings();
  Walked walk_coarsely(const Setting& setting, double start);
  bool tries_settings() const;
  /// Settings that differ from `setting` in a single choice.
  std::vector<Setting> other_target_transforms(const Setting& setting);
  std::vector<Setting> other_transforms(const Setting& setting);
  std::vector<Setting> other_kernels(const Setting& setting);
  std::vector<Setting> on_grid(const Setting& setting);
  /// The map of lengthscale 1.
  const feature::FeatureMap& unit_of(const Setting& setting, int64_t features);
  /// The lengthscale at which the kernel between rows is neither near 0 nor near 1.
  double usual_lengthscale(const Setting& setting);
  /// The preparation with these transforms, fitted on first use.
  const Prepared& prepared_with(Transform of_inputs, Transform of_targets);
  /// Settings for which lengthscales per input are learnt: the kept one, and those of the first
  /// kernel near its best (up to kMostLeftOut rows only the one with the same transforms).
  std::vector<Setting> rivals_of(const Setting& kept) const;
  /// The reason why a lengthscale, or one per input, cannot be learnt by gradients; null: it can.
  const char* bar_to_gradients(const Setting& setting) const;
  const char* bar_to_per_input(const Setting& setting) const;
  void check_gradients() const;  // UNSUPPORTED if gradients are asked for but impossible
  bool tries_per_input(const Setting& setting) const;
  /// Switches to a lengthscale per input if it is better by more than its standard error, or asked
  /// for.
  void try_per_input(Chosen& chosen);
  void tell_relevance(const Chosen& chosen);  // of lengthscales for each input, if it has them
  /// Lengthscales per input, with the common factor and lambda of least loss.
  struct PerInputFit {
    Ard learnt;
    double start = 1;    // of learn_from_few
    double factor = 1;   // of the learnt lengthscales
    bool again = false;  // by learn_again
    Chosen chosen;
    bool found() const { return !learnt.lengthscale.empty(); }
  };
  static PerInputFit of_one(const Chosen& chosen, int64_t d);
  PerInputFit fit_per_input(const Chosen& chosen);
  /// Keeps `learnt` if it is better than `best`.
  void consider(const Setting& setting, Ard learnt, double start, bool again, const Chosen& chosen,
                PerInputFit& best);

  Trial judge_others(const Setting& setting, const std::vector<double>& lengthscales);
  Gain gain_on_others(const PerInputFit& best, const Chosen& common);
  bool gains(const PerInputFit& best, const Chosen& common);
  /// Rows as gradients of the evidence need them.
  struct LearningRows {
    Matrix<double> X, Y;
  };
  LearningRows learning_rows(const Setting& setting, const std::vector<int64_t>& rows);
  Ard learn_from_few(const Setting& setting, const Chosen& chosen, double start);
  Ard learn_again(const Setting& setting, const Ard& few);
  Ard learn_from(const Setting& setting, const TrialSize& most, const std::vector<double>& units,
                 const ArdOptions& options);
  /// Whether the final lengthscales and lambda maximise the evidence.
  bool by_evidence() const { return fit_.select.selection == Selection::evidence; }
  /// Maximises the evidence (search_evidence.cpp). one: the choice with one lengthscale for all,
  /// which is kept where one for each is not likelier by more than its number is worth.
  void climb_evidence(Chosen& chosen, const Chosen& one);
  /// Without lengthscales where they cannot be learnt.
  Ard likeliest_from(const Chosen& chosen);
  /// Whether outputs are joined or miss targets; their evidence is maximised without gradients.
  bool joins(const Setting& setting) const;
  void check_joint_evidence() const;  // UNSUPPORTED for what it does not serve
  void climb_joint_evidence(Chosen& chosen);
  void climb_lengthscale(Chosen& chosen);
  /// The lambda of largest evidence, and its negative logarithm.
  PathPoint likeliest(const Setting& setting, std::span<const double> lengthscales);
  /// Learns frequencies and weights, if asked for, and keeps them if they are better
  /// (learnt_spectrum.h).
  void learn_frequencies(Chosen& chosen);
  int64_t spectrum_features();  // warns if they are too many
  double known_noise() const;   // 0: unknown
  Ard most_likely(const Chosen& chosen, const TrialSize& size, double factor, double lambda);
  /// With thousands of rows, which tell lengthscales apart, the paired rule is for lambda alone.
  LengthscaleWalk::Choice choice_of(const LengthscaleWalk& walk) const {
    return leaves_out() ? walk.choice() : walk.best_choice();
  }
  Chosen chosen_of(const Setting& setting, const LengthscaleWalk& walk, const TrialSize& size);
  /// Where a walk starts.
  double central(const Setting& setting);
  /// The longest lengthscale that is tried.
  double longest(const Setting& setting);
  LengthscaleWalk::HasCandidate candidates(const Setting& setting);
  /// A choice made on few of the rows, far from the start, is compared with the start on all.
  void check_on_all(Chosen& chosen);

  /// A trial on part of the rows and features, reported with `stage`. near: a trial from whose
  /// lambda a walk may start, or null.
  Trial try_out(int64_t stage, const Setting& setting, std::span<const double> lengthscales,
                const TrialSize& size, const Trial* near);
  Judge judge_of(const Setting& setting) const { return judge_.of(setting.prepared->by, Y_); }
  /// Leave-one-out, or folds for grouped or ordered rows.
  Trial leave_out(const solver::BlockSource& rows, const Setting& setting,
                  const std::vector<int64_t>& train, const std::vector<double>& lambdas);
  Trial hold_out(const solver::BlockSource& rows, const Setting& setting,
                 const std::vector<int64_t>& train, const std::vector<int64_t>& held_out,
                 const Trial* near);
  /// fit.judge, with rows combined into clusters if grouped or ordered.
  Trial judged(const HeldOutFit& fit, const LambdaPlan& plan, const Setting& setting,
               const std::vector<int64_t>& held_out);
  /// A grid; for many rows in folds a few lambdas about the current choice, if any.
  std::vector<double> lambdas(const Chosen& near) const;
  std::vector<double> in_unit(std::vector<double> lambdas) const;
  /// Sets unit_ for rows under this map.
  void take_unit(const feature::FeatureMap& map, const solver::BlockSource& rows,
                 const std::vector<int64_t>& train);

  /// Once ridge's lambda is chosen: chooses the estimator of a classification and calibrates it.
  Estimator estimator() const { return options_.estimator; }
  void choose_between(std::span<const Split> splits, const RidgeResult& ridge, Chosen& chosen);
  bool keeps_logistic() const { return choice_ && choice_->keeps_logistic; }
  /// Logistic regression on all rows, preconditioned by ridge's statistics if there are any.
  solver::Weights fit_logistic_last(const Chosen& chosen, const solver::RowStatistics* statistics);
  /// All rows without class factors: for scores, and for logistic regression, which weighs classes
  /// itself.
  FeatureRows plain_rows(const Chosen& chosen) const { return rows_of(chosen, weights_); }
  FeatureRows rows_of(const Chosen& chosen, std::span<const double> weights) const {
    return {*map_,
            chosen.setting.prepared->by,
            fit_.coding,
            estimate_.precision,
            {X_, Y_, weights},
            made_of(*chosen.setting.maker)};
  }
  /// The rows that the final map is made from, if any.
  std::vector<int64_t> made_of(const MapMaker& maker) const {
    return maker.keeps_all_rows() ? all_rows(X_.rows()) : chosen_by_;
  }
  /// Fits to all rows, at the lambda of take_whole.
  solver::Weights fit_left_out(Chosen& chosen);
  solver::Weights fit_held_out(Chosen& chosen);
  /// The loss of some training rows; NaN if not needed.
  double training_loss(const Chosen& chosen, const Model& model);
  /// Scores the unseen rows by a model of this choice and predictor.
  void assess_by(const Chosen& chosen, std::shared_ptr<const Predictor> predictor,
                 std::shared_ptr<const solver::Posterior> posterior = nullptr);
  void assess_by(const Chosen& chosen, solver::Weights weights) {
    if (!unseen_.empty()) assess_by(chosen, make_linear(std::move(weights)));
  }
  /// How the final estimator's lambda is chosen, if it is not ridge.
  Selection final_selection() const;
  /// Fits the final estimator, if it is not ridge: chooses its lambda, then fits all rows.
  void fit_final(Chosen& chosen, Model& model);
  /// The options of the fit, with the choices filled in.
  Fitting fitted_as(const Chosen& chosen) const;
  /// Warns if the last rows are predicted worse than rows among the others.
  void warn_of_drift(const Chosen& chosen);
  void warn_of_ends(const Chosen& chosen, double training_loss);
  void fill_report(const Chosen& chosen, double training_loss);
  /// Its seconds are those since the last one, so that nothing of the search is left out.
  void keep(SearchCandidate candidate);
  int64_t phase_units(const TrialSize& size, int64_t trials) const {
    return trials * size.rows * row_units(size.features);
  }
  solver::RowsDone counting(int64_t features);

  const SearchOptions& options_;
  const Fitting& fit_;
  const Estimating* final_;  // fitted at the end; null: ridge or logistic regression
  double lambda_;            // of ridge, given; negative: chosen
  Estimating estimate_;      // ridge, with the coupling of the last candidate
  const Found& found_;
  Rows X_;
  MatrixView<const double> Y_;
  std::vector<int64_t> chosen_by_, unseen_;
  Context& context_;
  std::span<const double> weights_;
  SplitRule rule_;
  std::vector<double> seen_;                       // weights, 0 for unseen rows; empty: 1 each
  std::vector<double> factors_;                    // of classes; empty: 1 each
  std::vector<double> learnt_;                     // weights_ times factors_; empty: 1 each
  std::list<Prepared> prepared_;                   // the first by the given options
  std::map<const Prepared*, double> central_;      // median distances
  std::vector<std::unique_ptr<MapMaker>> makers_;  // of settings
  Setting start_;                                  // by the given options
  std::vector<Setting> walked_;
  std::shared_ptr<const feature::FeatureMap> map_;  // of the fit
  std::optional<FeatureRows> whole_;                // all rows under map_
  std::optional<HeldOutFit> last_;                  // to chosen_by_
  Judge judge_;
  Split split_;  // of chosen_by_
  CandidateRows candidates_;
  TrialSizes sizes_;
  FitReport report_;
  std::optional<EstimatorChoice> choice_;  // classification
  double unit_ = 1;                        // lambda_unit of the rows that are fitted next
  bool lengthscale_at_edge_ = false;
  int64_t stage_ = 0;                                // of trials of one lengthscale
  Time kept_at_ = std::chrono::steady_clock::now();  // of the last candidate
  double pace_ = 1;                                  // correction of estimated progress
  Phases phases_;
};

}  // namespace mercer::model
