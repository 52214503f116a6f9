// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The search for lengthscale and lambda. A coarse walk by factors of 2 from the median heuristic,
// then by 2^(1/3), with few features on a subsample, every decade of lambda tried at once; then
// by 1.25 at the full D, from a shorter lengthscale, since the best of few features is too long for
// many; then one fit on all training rows, lambda walked in half decades, and the held-out rows
// added for the model that is returned. Classification compares the soft error of held_out_score.h.
#include "model/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/aligned.h"
#include "base/error.h"
#include "base/finite.h"
#include "base/size.h"
#include "model/central_lengthscale.h"
#include "model/feature_rows.h"
#include "model/fit_checks.h"
#include "model/map_from_rows.h"
#include "model/model_entry.h"
#include "model/row_sets.h"
#include "model/search_trial.h"

namespace mercer::model {
namespace {

using Long = long long;

constexpr int64_t kMostHeldOut = 20000;  // more rows would not make the comparison sharper
constexpr int64_t kCoarseSteps = 8;      // either way from the median heuristic: a factor of 256
constexpr int64_t kFineSteps = 2;
constexpr double kFineFactor = 1.2599210498948732;  // 2^(1/3)
constexpr double kFullFactor = 1.25;
constexpr int64_t kFullSteps = 5;
constexpr int64_t kFullLambdas = 4;
// Rows of a trial at the full D: enough to tell lengthscales apart, and more where they cost
// little.
constexpr double kFullFlops = 1.5e11;
constexpr double kRowsPerFeature = 2.5;

struct Trial {
  double lengthscale = 0;
  double lambda = 0;
  Merit merit;
};

/// (x - mean) / (scale lengthscale): standardised rows in units of the lengthscale.
Standardizer divided_by(const Standardizer& standardizer, int64_t d, double lengthscale) {
  Standardizer result = standardizer;
  if (result.mean.empty()) {
    const auto inputs = static_cast<size_t>(d);
    result = {std::vector<double>(inputs, 0.0), std::vector<double>(inputs, 1.0)};
  }
  for (double& scale : result.scale) scale *= lengthscale;
  return result;
}

/// Progress over phases whose work is only estimated: a phase never runs past its end, and
/// finishing it jumps there.
class Phases {
 public:
  Phases(Context& context, int64_t total) : stage_(context, total) {}
  void begin(int64_t units) {
    stage_.advance(end_ - done_);
    done_ = end_;
    end_ += units;
  }
  void advance(int64_t units) {
    const int64_t step = std::min(units, end_ - done_);
    done_ += step;
    stage_.advance(step);
  }

 private:
  Stage stage_;
  int64_t done_ = 0;
  int64_t end_ = 0;
};

/// Work of one row, in units that do not vanish for small D and, times the rows of any data set,
/// do not overflow for a D that memory will refuse.
int64_t row_units(int64_t features) {
  const int64_t blocks = std::min<int64_t>(features / 64, int64_t{1} << 14);
  return 1 + blocks * blocks;
}

int64_t full_trial_rows(int64_t features) {
  const auto D = static_cast<double>(features);
  return static_cast<int64_t>(std::max(kRowsPerFeature * D, std::min(1e9, kFullFlops / (D * D))));
}

class Search {
 public:
  Search(const MapMaker& maker, const SearchOptions& options, const Rows& X,
         MatrixView<const double> Y, Context& context)
      : maker_(maker),
        options_(options),
        X_(X),
        Y_(Y),
        context_(context),
        standardizer_(options.fit.standardize ? fit_standardizer(X) : Standardizer{}),
        split_(split_rows(X.rows(), options.held_out_fraction, kMostHeldOut, options.fit.seed)),
        coarse_rows_(sample_rows(split_.train, options.coarse_rows, options.fit.seed)),
        full_rows_(sample_rows(split_.train, full_trial_rows(options.features), options.fit.seed)),
        coarse_features_(std::min(options.features, options.coarse_features)),
        phases_(context, coarse_units() + full_units() + final_units()) {}

  Model run() {
    check_features();
    const bool free = maker_.has_lengthscale() && options_.lengthscale == 0;
    Trial best;
    phases_.begin(coarse_units());
    if (free) {
      best = coarse_search();
    } else {
      best.lengthscale = maker_.has_lengthscale() ? options_.lengthscale : 0.0;
      if (options_.lambda < 0) best = coarse_trial(0, best.lengthscale);
    }
    phases_.begin(full_units());
    const bool full = free && options_.features > coarse_features_;
    if (full) best = full_search(best);
    phases_.begin(final_units());
    return final_fit(best, full);
  }

 private:
  /// Before the first trial, which has fewer features.
  void check_features() const {
    const auto train = static_cast<int64_t>(split_.train.size());
    const int64_t most = maker_.most_features(train);
    require(
        options_.features <= most, MERCER_INVALID_ARGUMENT,
        "features = %lld, expected at most %lld: the map takes one row for each feature, and of "
        "%lld rows the search holds %lld out",
        static_cast<Long>(options_.features), static_cast<Long>(most), static_cast<Long>(X_.rows()),
        static_cast<Long>(X_.rows() - train));
  }
  int64_t coarse_units() const {
    return 8 * static_cast<int64_t>(coarse_rows_.size()) * row_units(coarse_features_);
  }
  int64_t full_units() const {
    if (options_.features <= coarse_features_) return 0;
    return 4 * static_cast<int64_t>(full_rows_.size()) * row_units(options_.features);
  }
  int64_t final_units() const {
    return static_cast<int64_t>(split_.train.size()) * row_units(options_.features);
  }

  /// Made of the training rows where the map needs rows.
  std::shared_ptr<const feature::FeatureMap> make_map(double lengthscale, int64_t features,
                                                      const std::vector<int64_t>& train) const {
    auto map = maker_.needs_rows() ? make_map_from(lengthscale, features, train)
                                   : maker_.make(lengthscale, features);
    check_map(*map, X_.cols());
    return map;
  }
  std::shared_ptr<const feature::FeatureMap> make_map_from(
      double lengthscale, int64_t features, const std::vector<int64_t>& train) const {
    const Matrix<double> rows =
        rows_for_map(X_, standardizer_, train, features, options_.fit.seed, context_);
    return maker_.make_from(lengthscale, features, rows.view(), context_);
  }
  solver::RowsDone counting(int64_t features) {
    return [this, units = row_units(features)](int64_t rows) { phases_.advance(rows * units); };
  }

  /// The map of lengthscale 1, whose draws every trial of as many features uses.
  const feature::FeatureMap& unit_map(int64_t features) {
    if (unit_map_ == nullptr || unit_features_ != features) {
      unit_map_.reset();
      unit_map_ = make_map(1.0, features, {});
      unit_features_ = features;
    }
    return *unit_map_;
  }

  Trial try_out(int64_t stage, double lengthscale, int64_t features,
                const std::vector<int64_t>& train, LambdaPlan plan) {
    const auto started = std::chrono::steady_clock::now();
    // A map of its rows has its own lengthscale; others share the draws of one of lengthscale 1.
    const bool of_rows = maker_.needs_rows();
    const auto own = of_rows ? make_map(lengthscale, features, train) : nullptr;
    const Standardizer inputs = maker_.has_lengthscale() && !of_rows
                                    ? divided_by(standardizer_, X_.cols(), lengthscale)
                                    : standardizer_;
    const FeatureRows rows(of_rows ? *own : unit_map(features), inputs, options_.fit, X_, Y_);
    plan.fixed = options_.lambda;
    const SearchTrial trial(rows, options_.fit, train, context_, counting(features));
    const std::vector<LambdaPoint> points = trial.run(plan, split_.held_out, context_);
    const LambdaPoint best = plan.whole_grid ? largest_near_best(points) : best_of(points);
    const Trial result{lengthscale, best.lambda, best.merit};
    report(stage, features, static_cast<int64_t>(train.size()), result, started);
    return result;
  }

  Trial coarse_trial(int64_t stage, double lengthscale) {
    LambdaPlan plan;
    plan.whole_grid = true;
    return try_out(stage, lengthscale, coarse_features_, coarse_rows_, plan);
  }

  /// Steps from best by 1/factor while that is better, then, if the first step was not, by factor.
  template <class TryOut>
  Trial climb(Trial best, double factor, int64_t most, const TryOut& trial) {
    const double start = best.lengthscale;
    for (const double step : {1.0 / factor, factor}) {
      for (int64_t k = 0; k < most; ++k) {
        const Trial next = trial(best.lengthscale * step, best);
        if (!is_better(next.merit, best.merit)) break;
        best = next;
      }
      if (best.lengthscale != start) break;
    }
    return best;
  }

  Trial coarse_search() {
    const double center = X_.visit([&](const auto& X) {
      return central_lengthscale(standardizer_, X, split_.train, options_.fit.seed, context_);
    });
    const auto coarse = [&](double l, const Trial&) { return coarse_trial(0, l); };
    const auto fine = [&](double l, const Trial&) { return coarse_trial(1, l); };
    const Trial best = climb(coarse_trial(0, center), 2.0, kCoarseSteps, coarse);
    return climb(best, kFineFactor, kFineSteps, fine);
  }

  /// lambda is walked from that of the neighbour.
  Trial full_trial(double lengthscale, const Trial& near) {
    LambdaPlan plan;
    plan.start = near.lambda;
    plan.most = kFullLambdas;
    return try_out(2, lengthscale, options_.features, full_rows_, plan);
  }

  Trial full_search(const Trial& coarse) {
    const Trial first = full_trial(coarse.lengthscale / kFullFactor, coarse);
    return climb(first, kFullFactor, kFullSteps,
                 [&](double l, const Trial& near) { return full_trial(l, near); });
  }

  Model final_fit(const Trial& best, bool near) {
    const auto started = std::chrono::steady_clock::now();
    unit_map_.reset();
    Model model;
    model.map = make_map(best.lengthscale, options_.features, split_.train);
    model.options = options_.fit;
    model.options.selection = options_.lambda >= 0 ? Selection::fixed : Selection::held_out;
    const FeatureRows rows(*model.map, standardizer_, options_.fit, X_, Y_);
    SearchTrial trial(rows, options_.fit, split_.train, context_, counting(options_.features));
    LambdaPlan plan{.fixed = options_.lambda, .start = best.lambda, .factor = std::sqrt(10.0)};
    plan.most = near ? 5 : 7;  // after a coarse trial alone lambda may have further to go
    std::vector<LambdaPoint> points = trial.run(plan, split_.held_out, context_);
    const LambdaPoint chosen = best_of(points);
    std::sort(points.begin(), points.end(),
              [](const LambdaPoint& a, const LambdaPoint& b) { return a.lambda > b.lambda; });
    for (const LambdaPoint& point : points) {
      const Merit& merit = point.merit;
      model.path.push_back({point.lambda, std::isnan(merit.score) ? merit.compared : merit.score});
    }
    model.options.lambda = chosen.lambda;
    model.predictor = make_linear(trial.solve_with(split_.held_out, chosen.lambda, context_));
    model.standardizer = std::move(standardizer_);
    model.ranges = ranges_of(X_, ranged_targets(options_.fit, Y_), options_.fit.seed);
    model.rows = X_.rows();
    report(3, options_.features, static_cast<int64_t>(split_.train.size()),
           {best.lengthscale, chosen.lambda, chosen.merit}, started);
    return model;
  }

  void report(int64_t stage, int64_t features, int64_t rows, const Trial& trial,
              std::chrono::steady_clock::time_point started) const {
    if (options_.report == nullptr) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    options_.report(options_.user, {stage, features, rows, trial.lengthscale, trial.lambda,
                                    trial.merit.score, seconds.count()});
  }

  const MapMaker& maker_;
  const SearchOptions& options_;
  Rows X_;
  MatrixView<const double> Y_;
  Context& context_;
  Standardizer standardizer_;
  Split split_;
  std::vector<int64_t> coarse_rows_;
  std::vector<int64_t> full_rows_;
  int64_t coarse_features_;
  std::shared_ptr<const feature::FeatureMap> unit_map_;
  int64_t unit_features_ = 0;
  Phases phases_;
};

void check_search(const SearchOptions& options) {
  require(options.fit.model == &ridge_model(), MERCER_UNSUPPORTED,
          "search of a model of kind %s, expected ridge", options.fit.model->name);
  require(options.features >= 1, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected a positive number", static_cast<Long>(options.features));
  require(options.lengthscale >= 0 && std::isfinite(options.lengthscale), MERCER_INVALID_ARGUMENT,
          "lengthscale = %g, expected a positive number, or 0 to search", options.lengthscale);
  require(!std::isnan(options.lambda) && !std::isinf(options.lambda), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a number >= 0, or a negative one to search", options.lambda);
  require(options.held_out_fraction > 0 && options.held_out_fraction < 1, MERCER_INVALID_ARGUMENT,
          "held_out_fraction = %g, expected a number between 0 and 1", options.held_out_fraction);
  require(options.coarse_rows >= 1 && options.coarse_features >= 1, MERCER_INVALID_ARGUMENT,
          "coarse_rows = %lld, coarse_features = %lld, expected positive numbers",
          static_cast<Long>(options.coarse_rows), static_cast<Long>(options.coarse_features));
}

/// Statistics and the copy that is factored, or the dual system; a block of rows.
int64_t search_bytes(const SearchOptions& options, int64_t n, int64_t d, int64_t outputs) {
  const int64_t D = options.features;
  const int64_t solving = n < D ? solver::dual_bytes(n, D)
                                : checked_multiply(16, checked_multiply(D, D, "search"), "search");
  return checked_add(solving, block_bytes(d, D, outputs), "search");
}

}  // namespace

Model search(const MapMaker& maker, const SearchOptions& options, const Rows& X,
             MatrixView<const double> Y, Context& context) {
  check_search(options);
  FitOptions fit = options.fit;
  fit.selection =
      Selection::gcv;  // the selection is the search's own; the rest is checked as for fit
  check_options(fit);
  check_shapes(fit, X.rows(), X.cols(), Y);
  context.require_memory(
      search_bytes(options, X.rows(), X.sparse() ? 0 : X.cols(), coded_outputs(fit, Y.cols)),
      "the search");
  require_summable("X", X);
  check_targets(fit, Y);
  return Search(maker, options, X, Y, context).run();
}

}  // namespace mercer::model
