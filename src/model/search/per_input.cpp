// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A lengthscale per input, starting from the common one. Learnt by gradients through few features
// on some rows, then once more with every input brought back (in one of ten splits of pumadyn32nm
// two relevant inputs had been lost, R^2 .92 for .957). A common factor, which few features and
// rows misjudge, is searched. The result is kept only if it beats the common lengthscale
// by more than chance; on many rows every transform of the inputs near the best is tried. Classes
// of many rows keep the common one: gains with half the features were losses with all (letter).
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "model/search/ard.h"
#include "model/search/learnt_spectrum.h"
#include "model/search/search_run.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr TrialSize kLearning{8000, 512};
constexpr int64_t kFirstRows = 2000;
constexpr int64_t kFirstIterations = 40;
constexpr int64_t kLastIterations = 25;
constexpr int64_t kMostLearntInputs = 100;
// Fewer rows do not show which inputs matter: with 5, linear data of 20 inputs lost .05 of R^2.
constexpr int64_t kRowsPerInput = 8;
// With fewer rows leave-one-out is optimistic about lengthscales learnt from the same rows: on 300
// rows of spambase accuracy fell from .914 to .873, on 600 from .927 to .913.
constexpr int64_t kRowsPerInputOfClasses = 12;
constexpr int64_t kFactorSteps = 6;
// A common lengthscale that found nothing is no starting point: lambda of a nearly constant fit,
// and 1 - R^2 of one no better than a constant.
constexpr double kNoSignal = 0.1;
constexpr double kUnexplained = 0.95;
// From the common lengthscale nothing was found in 4 of 24 fits of pumadyn32nm (1,000 and 2,000
// rows), from half of it in none of these: another start where the first leaves half unexplained.
constexpr double kStarts[] = {1, 0.5};
constexpr double kMostlyExplained = 0.5;  // 1 - R^2
constexpr double kFactor = 1.4142135623730951;
constexpr const char* kOneForAll =
    "a map that takes one lengthscale for all inputs, or is given one for each";

/// The likelihood needs real features of x/l that are not made from rows.
bool is_learnable(const feature::FeatureMap& map) {
  return map.derivatives() != nullptr && !map.is_complex() && map.is_of_scaled_inputs();
}

/// An input's relevance is at least that of its flag.
std::vector<double> of_inputs(std::vector<double> prepared, int64_t d,
                              const std::vector<int64_t>& flagged) {
  for (size_t k = 0; k < flagged.size(); ++k) {
    double& own = prepared[flagged[k]];
    own = std::max(own, prepared[static_cast<size_t>(d) + k]);
  }
  prepared.resize(d);
  return prepared;
}

}  // namespace

LearningRows learning_rows(SearchRun& run, const Setting& setting,
                           const std::vector<int64_t>& rows) {
  const int64_t n = std::ssize(rows);
  LearningRows made{Matrix<double>(n, setting.prepared->fitted.prepared(run.X.cols()), run.context,
                                   "rows to learn the map from"),
                    Matrix<double>(n, coded_outputs(run.fit.coding, run.Y.cols), run.context,
                                   "targets to learn the map from")};
  run.X.visit([&](const auto& all) {
    for (int64_t i = 0; i < n; ++i)
      standardize_row(setting.prepared->fitted, all, rows[i], made.X.view().row(i));
  });
  for (int64_t i = 0; i < n; ++i)
    code_target(run.fit.coding, setting.prepared->fitted, run.Y.cols, run.Y.row(rows[i]),
                made.Y.view().row(i));
  return made;
}

Ard learn_from(SearchRun& run, const Setting& setting, const TrialSize& most,
               const std::vector<double>& units, const ArdOptions& options) {
  const std::vector<int64_t> sample = sample_rows(run.split.train, most.rows, run.fit.select.seed);
  const int64_t d = std::ssize(units), n = std::ssize(sample),
                outputs = coded_outputs(run.fit.coding, run.Y.cols);
  const feature::FeatureMap& unit =
      unit_of(run, setting,
              std::min({run.options.features, most.features,
                        run.by_evidence() ? run.options.features : 2 * n}));
  if (!is_learnable(unit)) return {};
  // Without room for this a search leaves it out, unless it was asked for. The evidence of a
  // regression takes few rows; that of classes' codes is as optimistic as leave-one-out.
  const int64_t least = d * (run.judge.classifies() ? kRowsPerInputOfClasses : kRowsPerInput);
  const bool of_evidence = run.by_evidence() && (options.common || !run.judge.classifies());
  if (run.options.per_input != PerInput::on && !of_evidence &&
      (std::max(std::ssize(run.chosen_by), run.options.part_of) < least ||
       !run.context.has_room(ard_bytes(n, d, unit.features(), outputs))))
    return {};
  const auto [X, Y] = learning_rows(run, setting, sample);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j) X.view()(i, j) /= units[j];
  Ard ard = learn_lengthscales(unit, X.view(), Y.view(), options, run.context,
                               solver::numbers_of(run.learnt_weights, sample));
  for (size_t j = 0; j < units.size(); ++j)
    if (ard.lengthscale[j] < kDroppedLengthscale) ard.lengthscale[j] *= units[j];
  return ard;
}

namespace {

/// Few rows first: with few features the likelihood has a wider basin, at a quarter of the cost.
Ard learn_from_few(SearchRun& run, const Setting& setting, const Candidate& chosen, double start) {
  const int64_t d = setting.prepared->fitted.prepared(run.X.cols());
  ArdOptions options;
  options.lengthscale = usual_lengthscale(run, setting);
  options.most_iterations = kFirstIterations;
  options.unit = run.unit;
  const double lambda = chosen.point.lambda / run.unit;
  const bool explains = run.judge.classifies() || chosen.point.score < kUnexplained;
  if (lambda < kNoSignal && lambda >= kLeastSignal && explains) {
    options.lengthscale =
        chosen.lengthscales[0] * options.lengthscale / usual_lengthscale(run, chosen.setting);
    options.lambda = lambda;
  }
  options.lengthscale *= start;
  return learn_from(run, setting, {kFirstRows, kLearning.features}, std::vector<double>(d, 1.0),
                    options);
}

/// Learns again, from more rows if there are, with every input brought back to a visible
/// lengthscale: two inputs that matter only by their product are lost together and neither returns
/// alone. With few features more rows may favour too long lengthscales; the criterion decides.
Ard learn_again(SearchRun& run, const Setting& setting, const Ard& few) {
  ArdOptions options;
  options.unit = run.unit;
  options.lambda = std::max(few.lambda / run.unit, kLeastSignal);
  options.most_iterations = kLastIterations;
  std::vector<double> units = few.lengthscale;
  const double usual = usual_lengthscale(run, setting);
  for (double& l : units) l = std::min(l, usual);
  return learn_from(run, setting, kLearning, units, options);
}

}  // namespace

const char* bar_to_gradients(const SearchRun& run, const Setting& setting) {
  if (!setting.maker->has_lengthscale()) return "a kernel without a lengthscale";
  if (run.options.lengthscale != 0) return "a lengthscale that is given";
  if (!setting.maker->learns_lengthscale()) return kOneForAll;
  if (run.X.sparse()) return "sparse rows";
  if (setting.coupling != nullptr) return "outputs that are learnt together";
  if (!is_complete(run.Y, run.chosen_by)) return "targets that are missing";
  if (setting.prepared->fitted.row_norm > 0) return "unit rows";
  return nullptr;
}

const char* bar_to_per_input(const SearchRun& run, const Setting& setting) {
  const char* bar = bar_to_gradients(run, setting);
  if (bar != nullptr) return bar;
  if (!setting.maker->has_input_lengthscales()) return kOneForAll;
  return setting.prepared->fitted.prepared(run.X.cols()) < 2 ? "one input" : nullptr;
}

void check_gradients(SearchRun& run) {
  const bool each = run.options.per_input == PerInput::on;
  if (!each && (!run.by_evidence() || run.judge.classifies())) return;
  if (!each && joins(run, run.start)) return check_joint_evidence(run);
  const char* bar = each ? bar_to_per_input(run, run.start) : bar_to_gradients(run, run.start);
  if (bar == nullptr && !is_learnable(*run.start.maker->make(1.0, run.options.features)))
    bar =
        "a map whose features have no gradient, are complex, learnt from rows or not those of x/l";
  require(bar == nullptr, MERCER_UNSUPPORTED,
          each
              ? "a lengthscale for each input asked for (ard = on) with %s, expected ard = auto or "
                "off"
              : "select.by = evidence with %s, expected it left out, or \"search\": false",
          bar);
  require(!run.options.learns_spectrum ||
              has_spectrum(*run.start.maker->make(1.0, run.options.features)),
          MERCER_UNSUPPORTED,
          "spectrum = learnt of a map that is not made of cosines and sines of frequencies, "
          "expected map fourier of form pair");
}

namespace {

bool tries_per_input(const SearchRun& run, const Setting& setting) {
  if (run.options.per_input == PerInput::off || bar_to_per_input(run, setting) != nullptr ||
      !run.judge.varies())
    return false;
  return run.options.per_input == PerInput::on ||
         (setting.prepared->fitted.prepared(run.X.cols()) <= kMostLearntInputs &&
          (!run.judge.classifies() || run.leaves_out()));
}

/// Lengthscales per input, with the common factor and lambda of least loss.
struct PerInputFit {
  Ard learnt;
  double start = 1;    // of learn_from_few
  double factor = 1;   // of the learnt lengthscales
  bool again = false;  // by learn_again
  Candidate chosen;
  bool found() const { return !learnt.lengthscale.empty(); }
};

/// Keeps `learnt` if it is better than `best`.
void consider(SearchRun& run, const Setting& setting, Ard learnt, double start, bool again,
              const Candidate& chosen, PerInputFit& best) {
  if (learnt.lengthscale.empty()) return;
  const double most = longest(run, setting) / *std::ranges::min_element(learnt.lengthscale);
  LengthscaleWalk walk(
      1.0,
      [&](double factor, const Trial* near) {
        return try_out(run, 2, setting, scaled(learnt.lengthscale, factor), run.sizes.fine,
                       near == nullptr ? &chosen.trial : near);
      },
      [&](double factor) { return factor <= most; });
  walk.climb(kFactor, kFactorSteps);
  const LengthscaleWalk::Choice choice = choice_of(run, walk);
  const TrialPoint& point = choice.tried->trial.points[choice.point];
  if (best.found() && !is_less(point.loss, best.chosen.point.loss)) return;
  best.chosen.setting = setting;
  best.chosen.lengthscales = scaled(learnt.lengthscale, choice.tried->lengthscale);
  best.chosen.take(choice.tried->trial, choice.point);
  best.learnt = std::move(learnt);
  best.factor = choice.tried->lengthscale;
  best.start = start;
  best.again = again;
}

/// The common lengthscale for each input, as the one to beat.
PerInputFit of_one(const Candidate& chosen, int64_t d) {
  PerInputFit one;
  one.chosen = chosen;
  one.chosen.lengthscales.assign(d, chosen.lengthscales[0]);
  one.learnt.lengthscale = one.chosen.lengthscales;
  return one;
}

PerInputFit fit_per_input(SearchRun& run, const Candidate& chosen) {
  PerInputFit best;
  if (run.options.per_input == PerInput::on)
    best = of_one(chosen, chosen.setting.prepared->fitted.prepared(run.X.cols()));
  for (const Setting& setting : rivals_of(run, chosen.setting)) {
    if (bar_to_per_input(run, setting) != nullptr) continue;
    for (const double start : kStarts) {
      Ard few = learn_from_few(run, setting, chosen, start);
      if (few.lengthscale.empty()) break;
      consider(run, setting, learn_again(run, setting, few), start, true, chosen, best);
      consider(run, setting, std::move(few), start, false, chosen, best);
      if (run.judge.classifies() || best.chosen.point.score < kMostlyExplained) break;
    }
  }
  return best;
}

}  // namespace

// Whether lengthscales per input are better than one for all by more than chance.

namespace {

// d numbers were learnt from these rows and several factors tried: one error may be chance.
constexpr double kErrors = 2;
constexpr double kErrorsOfMany = 1;  // regression on many rows: less chance
// Leave-one-out does not see what lengthscales have learnt from the row left out: where a few rows
// of a rare category have the largest errors it promised R^2 of .98 for .73, and of 300 rows of ten
// inputs .54 for .47. With few rows for each input the gain has to be one on rows, too, that
// lengthscales were not learnt from, and by more than its error there where a small share of the
// rows makes it. (With an error everywhere gains of .01 to .04 are lost: airfoil, elevators.)
constexpr int64_t kParts = 4;
constexpr double kFewRows = 0.1;
constexpr int64_t kTrustedRowsPerInput = 40;

/// The rows held out, judged by ridge on the others, which chooses lambda by leaving out: one point, or
/// none without a solution there.
Trial judge_others(SearchRun& run, const Setting& setting,
                   const std::vector<double>& lengthscales) {
  const solver::BlockSource& rows =
      map_rows(run, setting, lengthscales, run.sizes.fine.features, run.split.train);
  const std::vector<double> grid = lambdas(run, {});
  const Trial left_out = leave_out(run, rows, setting, run.split.train, grid);
  const double lambda = left_out.points[paired_pick(left_out)].lambda;
  Trial all = judge_splits(rows, run.estimate.problem(), {run.split}, grid, run.judge_of(setting),
                           run.context, run.phases.counting(row_units(rows.features())));
  cluster(all, clusters_of(run.split.held_out, run.rule));
  Trial chosen;
  for (size_t k = 0; k < all.points.size(); ++k) {
    if (all.points[k].lambda != lambda) continue;
    chosen.points = {all.points[k]};
    chosen.losses = {std::move(all.losses[k])};
    chosen.weights = std::move(all.weights);
    return chosen;
  }
  return chosen;
}

void append(const Trial& part, Trial& all) {
  all.losses.resize(1);
  all.losses[0].insert(all.losses[0].end(), part.losses[0].begin(), part.losses[0].end());
  all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
}

/// The gain on rows that lengthscales were not learnt from: they are learnt again, in the same way,
/// without each part of the rows.
Gain gain_on_others(SearchRun& run, const PerInputFit& best, const Candidate& common) {
  Trial each, one;
  const Split all = run.split;
  for (Split& part : fold_splits(run.chosen_by, kParts, run.fit.select.seed, run.rule)) {
    run.split = std::move(part);
    Ard learnt = learn_from_few(run, best.chosen.setting, common, best.start);
    if (best.again && !learnt.lengthscale.empty())
      learnt = learn_again(run, best.chosen.setting, learnt);
    if (learnt.lengthscale.empty()) continue;
    const Trial with =
        judge_others(run, best.chosen.setting, scaled(learnt.lengthscale, best.factor));
    const Trial without = judge_others(run, common.setting, common.lengthscales);
    if (with.points.empty() || without.points.empty()) continue;
    append(with, each);
    append(without, one);
  }
  run.split = all;
  return each.losses.empty() ? Gain{} : gain(each, 0, one, 0);
}

/// Whether lengthscales per input are better than the common one by more than chance.
bool gains(SearchRun& run, const PerInputFit& best, const Candidate& common) {
  const Gain found = gain(best.chosen.trial, best.chosen.at, common.trial, common.at);
  const bool asked = run.options.per_input == PerInput::on;  // then one error does
  const double errors = run.leaves_out() && !asked ? kErrors : kErrorsOfMany;
  if (!(found.mean > errors * found.error)) return false;
  const int64_t d = std::ssize(best.chosen.lengthscales);
  const bool of_few = found.share < kFewRows;
  if (!run.leaves_out() || (!of_few && std::ssize(run.chosen_by) >= kTrustedRowsPerInput * d))
    return true;
  const Gain others = gain_on_others(run, best, common);
  return others.mean > (of_few ? others.error : 0);
}

}  // namespace

void choose_per_input(SearchRun& run, Candidate& chosen) {
  const std::vector<Setting> rivals = rivals_of(run, chosen.setting);  // a grid has drawn ones
  if (std::ranges::none_of(rivals,
                           [&run](const Setting& one) { return tries_per_input(run, one); }))
    return;
  PerInputFit best = fit_per_input(run, chosen);
  if (!best.found()) return;
  // The evidence decides by itself, from there.
  const bool asked = run.options.per_input == PerInput::on;
  if (best.learnt.evaluations > 0 && !(asked && run.by_evidence()) && !gains(run, best, chosen)) {
    if (!asked) return;
    best = of_one(chosen, std::ssize(best.chosen.lengthscales));
  }
  best.chosen.whole = chosen.whole;
  best.chosen.at_edge = chosen.at_edge;
  chosen = std::move(best.chosen);
}

void tell_relevance(SearchRun& run, const Candidate& chosen) {
  if (chosen.lengthscales.size() < 2) return;
  run.report.relevance = of_inputs(relevance(chosen.lengthscales), run.X.cols(),
                                   chosen.setting.prepared->fitted.flagged);
  if (std::ranges::adjacent_find(chosen.lengthscales, std::not_equal_to()) ==
      chosen.lengthscales.end())
    run.report.warnings.emplace_back(
        "no lengthscale for each input was found that is better than one for all, which is kept: "
        "relevances are equal");
}

}  // namespace mercer::model
