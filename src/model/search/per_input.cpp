// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A lengthscale per input, starting from the common one, and from there a metric of all inputs.
// Learnt by the gradient of the evidence on some rows, by the kernel's own values or, without its
// slopes, through few features; where inputs were dropped, learnt again with all of them restored (in
// one of ten splits of pumadyn32nm two relevant inputs had been lost, R^2 .92 for .957). Of more
// rows than that a common factor is searched. The result is kept only if it beats the common
// lengthscale by more than chance; every transform of the inputs near the best is tried. Classes of
// many rows keep the common one: gains with half the features were losses with all (letter).
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/numbers.h"
#include "model/search/ard.h"
#include "model/search/learnt_spectrum.h"
#include "model/search/search_run.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr TrialSize kLearning{8000, 512};
// By the kernel itself an evaluation takes n^3 products: of 500 rows as long as 512 features of 500.
constexpr int64_t kExactRows = 500;
constexpr int64_t kExactEvidenceRows = 2000;  // of a process of the kernel itself
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
constexpr double kSameOptimum = 0.5;      // nats apart: one of the two is tried
constexpr double kFactor = 1.4142135623730951;
constexpr const char* kOneForAll =
    "a map that takes one lengthscale for all inputs, or is given one for each";

/// The likelihood needs real features of x/l that are not made from rows.
const char* bar_of(const feature::FeatureMap& map) {
  if (map.is_complex()) return "a complex map";
  const bool follows = map.derivatives() != nullptr && map.is_of_scaled_inputs();
  return follows ? nullptr : "a map that has no derivatives in its lengthscale";
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
      prepare_row(setting.prepared->fitted, all, rows[i], made.X.view().row(i));
  });
  for (int64_t i = 0; i < n; ++i)
    code_target(run.fit.coding, setting.prepared->fitted, run.Y.cols, run.Y.row(rows[i]),
                made.Y.view().row(i));
  return made;
}

namespace {

/// The kernel by whose values lengthscales are learnt; null: by features, whose evidence is asked
/// for unless the kernel itself is fitted in the end, or for lack of derivatives.
std::unique_ptr<const kernel::Kernel> learning_kernel(const SearchRun& run,
                                                      const Setting& setting) {
  if (run.by_evidence() && !run.options.takes_kernel) return nullptr;
  auto kernel = setting.partial->unit_kernel();
  double square = 1, slope = 0;
  return kernel->take_slopes({&square, 1}, {&slope, 1}) ? std::move(kernel) : nullptr;
}

std::vector<int64_t> learning_sample(const SearchRun& run, int64_t most) {
  return sample_rows(run.split.train, most, run.fit.select.seed);
}

/// Rows in units of lengthscales.
LearningRows learning_rows(SearchRun& run, const Setting& setting,
                           const std::vector<int64_t>& sample, const std::vector<double>& units) {
  LearningRows made = learning_rows(run, setting, sample);
  for (int64_t i = 0; i < made.X.rows(); ++i)
    for (int64_t j = 0; j < made.X.cols(); ++j) made.X.view()(i, j) /= units[j];
  return made;
}

/// Too few rows, unless gradients are asked for: the evidence of a regression takes few rows; that
/// of classes' codes is as optimistic as leave-one-out.
bool has_few_rows(const SearchRun& run, int64_t d, bool common) {
  const int64_t least = d * (run.judge.classifies() ? kRowsPerInputOfClasses : kRowsPerInput);
  const bool of_evidence = run.by_evidence() && (common || !run.judge.classifies());
  return run.options.per_input != PerInput::on && !of_evidence &&
         std::max(std::ssize(run.chosen_by), run.options.all_rows) < least;
}

}  // namespace

Ard learn_from(SearchRun& run, const Setting& setting, const TrialSize& most,
               const std::vector<double>& units, const ArdOptions& options) {
  const int64_t d = std::ssize(units), outputs = coded_outputs(run.fit.coding, run.Y.cols);
  if (has_few_rows(run, d, options.common)) return {};
  const auto in_units = [&](Ard ard) {
    for (size_t j = 0; j < units.size(); ++j) {
      if (ard.lengthscale[j] < kDroppedLengthscale) ard.lengthscale[j] *= units[j];
      if (!options.common) ard.climbed[j] *= units[j];
    }
    return ard;
  };
  if (const auto kernel = learning_kernel(run, setting)) {
    const int64_t rows = run.by_evidence() ? std::min(most.rows, kExactEvidenceRows) : kExactRows;
    const std::vector<int64_t> sample = learning_sample(run, rows);
    const auto [X, Y] = learning_rows(run, setting, sample, units);
    return in_units(learn_lengthscales(*kernel, X.view(), Y.view(), options, run.context,
                                       solver::numbers_of(run.learnt_weights, sample)));
  }
  const std::vector<int64_t> sample = learning_sample(run, most.rows);
  const int64_t n = std::ssize(sample);
  const feature::FeatureMap& unit =
      unit_of(run, setting,
              std::min({run.options.features, most.features,
                        run.by_evidence() ? run.options.features : 2 * n}));
  if (bar_of(unit) != nullptr) return {};
  // Without room for this a search leaves it out, unless it was asked for.
  if (run.options.per_input != PerInput::on && !run.by_evidence() &&
      !run.context.has_room(ard_bytes(n, d, unit.features(), outputs)))
    return {};
  const auto [X, Y] = learning_rows(run, setting, sample, units);
  return in_units(learn_lengthscales(unit, X.view(), Y.view(), options, run.context,
                                     solver::numbers_of(run.learnt_weights, sample)));
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

Ard learn_from_known(SearchRun& run, const Setting& setting, const Ard& known,
                     const std::vector<double>& units,
                     const std::vector<linalg::CurvaturePair>& pairs) {
  ArdOptions options;
  options.unit = run.unit;
  options.lambda = std::max(known.lambda / run.unit, kLeastSignal);
  options.most_iterations = kLastIterations;
  options.pairs = pairs;
  return learn_from(run, setting, kLearning, units, options);
}

/// Learns by another kernel or transform, from where a descent ended, with what it knows of
/// curvature.
Ard learn_near(SearchRun& run, const Setting& setting, const Ard& known) {
  return learn_from_known(run, setting, known, known.climbed, known.pairs);
}

/// Learns again, from more rows if there are, with every input brought back to a visible
/// lengthscale: two inputs that matter only by their product are lost together and neither returns
/// alone. With few features more rows may favour too long lengthscales; the criterion decides.
Ard learn_again(SearchRun& run, const Setting& setting, const Ard& few) {
  std::vector<double> units = few.lengthscale;
  const double usual = usual_lengthscale(run, setting);
  for (double& l : units) l = std::min(l, usual);
  return learn_from_known(run, setting, few, units, {});
}

}  // namespace

const char* bar_to_gradients(const SearchRun& run, const Setting& setting) {
  if (!setting.partial->has_lengthscale()) return "a kernel without a lengthscale";
  if (run.options.lengthscale != 0) return "a lengthscale that is given";
  if (!setting.partial->learns_lengthscale()) return kOneForAll;
  if (run.X.sparse()) return "sparse rows";
  if (setting.coupling != nullptr) return "outputs that are learnt together";
  if (!is_complete(run.Y, run.chosen_by)) return "targets that are missing";
  if (setting.prepared->fitted.row_norm > 0) return "unit rows";
  return nullptr;
}

const char* bar_to_per_input(const SearchRun& run, const Setting& setting) {
  const char* bar = bar_to_gradients(run, setting);
  if (bar != nullptr) return bar;
  if (!setting.partial->has_input_lengthscales()) return kOneForAll;
  return setting.prepared->fitted.prepared(run.X.cols()) < 2 ? "one input" : nullptr;
}

void check_gradients(SearchRun& run) {
  const bool each = run.options.per_input == PerInput::on;
  if (!each && (!run.by_evidence() || run.judge.classifies())) return;
  if (!each && joins(run, run.start)) return check_joint_evidence(run);
  const char* bar = each ? bar_to_per_input(run, run.start) : bar_to_gradients(run, run.start);
  if (bar == nullptr) bar = bar_of(*run.start.partial->make(1.0, run.options.features));
  if (bar == nullptr && run.by_evidence() && run.options.takes_kernel &&
      learning_kernel(run, run.start) == nullptr)
    bar = "map exact of a kernel whose slope in the distance is not known";
  require(bar == nullptr, MERCER_UNSUPPORTED,
          each
              ? "a lengthscale for each input asked for (ard = on) with %s, expected ard = auto or "
                "off"
              : "select.by = evidence with %s, expected it left out, or \"search\": false",
          bar);
  require(!run.options.learns_spectrum ||
              (!run.options.takes_kernel &&
               has_spectrum(*run.start.partial->make(1.0, run.options.features))),
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
  double factor = 1;  // of the learnt lengthscales
  Candidate chosen;
  bool found() const { return !learnt.lengthscale.empty(); }
};

/// Keeps `learnt` if it is better than `best`.
void consider(SearchRun& run, const Setting& setting, Ard learnt, const Candidate& chosen,
              PerInputFit& best) {
  if (learnt.lengthscale.empty()) return;
  LengthscaleWalk walk =
      factor_walk(run, kInputStage, setting, learnt.lengthscale, run.sizes.fine, chosen.trial);
  // On the rows that it was learnt from the factor is 1 already.
  const bool more =
      std::ssize(run.split.train) > kExactRows || learning_kernel(run, setting) == nullptr;
  if (more) walk.climb(kFactor, kFactorSteps);
  const LengthscaleWalk::Choice choice = choice_of(run, walk);
  const TrialPoint& point = choice.tried->trial.points[choice.point];
  if (best.found() && !is_less(point.loss, best.chosen.point.loss)) return;
  best.chosen.setting = setting;
  best.chosen.lengthscales = scaled(learnt.lengthscale, choice.tried->lengthscale);
  best.chosen.take(choice.tried->trial, choice.point);
  best.learnt = std::move(learnt);
  best.factor = choice.tried->lengthscale;
}

/// The common lengthscale for each input, as the one to beat.
PerInputFit of_one(const Candidate& chosen, int64_t d) {
  PerInputFit one;
  one.chosen = chosen;
  one.chosen.lengthscales.assign(d, chosen.lengthscales[0]);
  one.learnt.lengthscale = one.chosen.lengthscales;
  return one;
}

/// The settings of rivals_of with the kernels whose lengthscales may be learnt.
std::vector<std::vector<Setting>> learnable(SearchRun& run, const Setting& kept) {
  std::vector<std::vector<Setting>> all;
  for (const Setting& rival : rivals_of(run, kept)) {
    const bool met = std::ranges::any_of(all, [&](const std::vector<Setting>& one) {
      return one.front().prepared == rival.prepared;
    });
    if (met) continue;
    Setting first = rival;
    if (learning_kernel(run, run.start) != nullptr) first.partial = run.start.partial;
    if (bar_to_per_input(run, first) != nullptr) continue;
    all.push_back({first});
    for (const PartialMap* const partial : kernels_beside(run, *first.partial)) {
      Setting other = first;
      other.partial = partial;
      // After matern 1/2 laplacian won nothing on 20 sets and lost .009 of R^2 on one of 200 rows.
      if (partial->kernel()->traits().falls_with_magnitudes) continue;
      if (learning_kernel(run, other) != nullptr && bar_to_per_input(run, other) == nullptr)
        all.back().push_back(other);
    }
  }
  return all;
}

/// Learns under each kernel in turn while they become likelier: from smooth to rough, each from the
/// lengthscales of the one before. None where the first is no likelier than `smoothest`, what it was
/// from another start: the others would follow to the same optima.
Ard learn_likeliest(SearchRun& run, std::span<const Setting> kernels, const Candidate& chosen,
                    double start, const Ard& known, double& smoothest, Setting& likeliest) {
  Ard best;
  for (const Setting& setting : kernels) {
    const Ard& from = best.lengthscale.empty() ? known : best;
    Ard learnt = from.lengthscale.empty() ? learn_from_few(run, setting, chosen, start)
                                          : learn_near(run, setting, from);
    if (learnt.lengthscale.empty()) continue;
    if (!best.lengthscale.empty() && !(learnt.value < best.value)) break;
    if (best.lengthscale.empty()) {
      if (!(learnt.value < smoothest - kSameOptimum / learnt.nats)) break;
      smoothest = learnt.value;
    }
    best = std::move(learnt);
    likeliest = setting;
  }
  return best;
}

PerInputFit fit_per_input(SearchRun& run, const Candidate& chosen) {
  PerInputFit best;
  if (run.options.per_input == PerInput::on)
    best = of_one(chosen, chosen.setting.prepared->fitted.prepared(run.X.cols()));
  for (const std::vector<Setting>& kernels : learnable(run, chosen.setting)) {
    const Ard known = best.learnt.evaluations > 0 ? best.learnt : Ard{};
    double smoothest = kInfinity;
    for (const double start : kStarts) {
      Setting setting;
      Ard few = learn_likeliest(run, kernels, chosen, start, known, smoothest, setting);
      if (few.lengthscale.empty()) break;
      const bool exact = learning_kernel(run, setting) != nullptr;
      Ard again = few.dropped > 0 || !exact ? learn_again(run, setting, few) : Ard{};
      const bool same = exact && !again.lengthscale.empty() &&
                        std::abs(again.value - few.value) * few.nats < kSameOptimum;
      consider(run, setting, std::move(again), chosen, best);
      if (!same) consider(run, setting, std::move(few), chosen, best);
      if (!known.lengthscale.empty() || run.judge.classifies() ||
          best.chosen.point.score < kMostlyExplained)
        break;
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
// rows makes it. (With an error everywhere gains of .01 to .04 are lost: airfoil, elevators.) What
// is learnt without a fold serves all questions: this one, that of a metric, and the honest score.
constexpr double kFewRows = 0.1;
constexpr int64_t kTrustedRowsPerInput = 40;

/// The rows held out, judged by ridge on the others, which chooses lambda by leaving out: one point,
/// or none without a solution there.
Trial judge_others(SearchRun& run, const Setting& setting,
                   const std::vector<double>& lengthscales) {
  const auto [most, features] = run.sizes.fine;
  const Split part{sample_rows(run.split.train, most, run.fit.select.seed),
                   sample_rows(run.split.held_out, most, run.fit.select.seed)};
  const solver::BlockSource& rows = map_rows(run, setting, lengthscales, features, part.train);
  const Trial left_out = leave_out(run, rows, setting, part.train, lambdas(run, {}));
  const double lambda = left_out.points[paired_pick(left_out)].lambda;
  try {
    Trial all =
        judge_splits(rows, run.estimate.problem(), {part}, {&lambda, 1}, run.judge_of(setting),
                     run.context, run.phases.counting(row_units(rows.features())));
    cluster(all, clusters_of(part.held_out, run.rule));
    return all;
  } catch (const Error& error) {
    if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
    return {};
  }
}

void append(const Trial& part, Trial& all) {
  all.losses.resize(1);
  all.losses[0].insert(all.losses[0].end(), part.losses[0].begin(), part.losses[0].end());
  all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
}

/// The rows of a fold in place of the run's split.
class OnFold {
 public:
  OnFold(SearchRun& run, const Split& split) : run_(run), all_(std::exchange(run.split, split)) {}
  ~OnFold() { run_.split = std::move(all_); }
  OnFold(const OnFold&) = delete;

 private:
  SearchRun& run_;
  Split all_;
};

/// What was learnt, learnt again without a fold's rows; empty without a result. It starts where all
/// rows ended, every input brought back: from their very optimum it would stay at one that the fold's
/// rows have helped to find.
const std::vector<double>& lengthscales_without(SearchRun& run, LearntFold& fold) {
  if (fold.lengthscales) return *fold.lengthscales;
  const OnFold rows(run, fold.split);
  const Learning& how = *run.learning;
  Ard learnt = learn_again(run, how.setting, how.learnt);
  return fold.lengthscales.emplace(scaled(std::move(learnt.lengthscale), how.factor));
}

/// The gain of what `with` makes of a fold over what `without` makes of it, on the rows of the folds;
/// both give a setting with lengthscales, none where there is no result.
template <class With, class Without>
Gain gain_on_others(SearchRun& run, const With& with, const Without& without) {
  Trial one, other;
  for (LearntFold& fold : run.learning->folds) {
    const auto tried = with(fold), against = without(fold);
    if (!tried || !against) continue;
    const OnFold rows(run, fold.split);
    const Trial a = judge_others(run, tried->setting, tried->lengthscales);
    const Trial b = judge_others(run, against->setting, against->lengthscales);
    if (a.points.empty() || b.points.empty()) continue;
    append(a, one);
    append(b, other);
  }
  return one.losses.empty() ? Gain{} : gain(one, 0, other, 0);
}

/// lambda: about the best.
struct LearntCandidate {
  Setting setting;
  std::vector<double> lengthscales;
  double lambda;
};
using Learnt = std::optional<LearntCandidate>;

Learnt per_input_without(SearchRun& run, LearntFold& fold) {
  const std::vector<double>& lengthscales = lengthscales_without(run, fold);
  if (lengthscales.empty()) return {};
  return {{run.learning->setting, lengthscales, run.learning->lambda}};
}

/// Whether lengthscales per input are better than the common one by more than chance.
bool gains(SearchRun& run, const PerInputFit& best, const Candidate& common) {
  const Gain found = gain(best.chosen.trial, best.chosen.at, common.trial, common.at);
  const bool asked = run.options.per_input == PerInput::on;  // then one error does
  const bool in_part = run.leaves_out() && run.sizes.fine.rows < std::ssize(run.chosen_by);
  const double errors = run.leaves_out() && !asked && !in_part ? kErrors : kErrorsOfMany;
  if (!(found.mean > errors * found.error)) return false;
  const int64_t d = std::ssize(best.chosen.lengthscales);
  const bool of_few = found.share < kFewRows;
  const bool trusted = std::ssize(run.chosen_by) >= kTrustedRowsPerInput * d;
  if (!run.leaves_out() || (!of_few && trusted && (asked || found.mean > kErrors * found.error)))
    return true;
  const Gain others = gain_on_others(
      run, [&](LearntFold& fold) { return per_input_without(run, fold); },
      [&](const LearntFold&) {
        return Learnt{{common.setting, common.lengthscales, common.point.lambda}};
      });
  return others.mean > (of_few ? others.error : 0);
}

// A metric of all inputs, k(A x, A y), learnt from lengthscales for each as the prior's mean: what
// turns and mixes inputs, as the joints of a robot arm do (kin8nm). A has so many numbers that its
// gain counts on rows alone that it was not learnt from.

constexpr int64_t kMetricIterations = 20;
constexpr double kMetricErrors = 1;

/// Where A holds no more numbers than there are rows.
bool tries_metric(const SearchRun& run, const Setting& setting, int64_t relevant) {
  return run.options.per_input == PerInput::automatic && !run.by_evidence() && relevant > 1 &&
         relevant * relevant <= std::min(std::ssize(run.split.train), kExactRows) &&
         !run.judge.classifies() && run.rule.exchangeable() &&
         learning_kernel(run, setting) != nullptr;
}

std::vector<int64_t> relevant_inputs(const std::vector<double>& lengthscales) {
  std::vector<int64_t> inputs;
  for (size_t j = 0; j < lengthscales.size(); ++j)
    if (lengthscales[j] < kDroppedLengthscale) inputs.push_back(static_cast<int64_t>(j));
  return inputs;
}

/// The setting with a metric about these lengthscales; without a partial map where there is none,
/// or where it is not likelier than `nats` by as much as its further numbers are worth (Akaike 1974).
Setting with_metric(SearchRun& run, const Setting& setting, const std::vector<double>& lengthscales,
                    double lambda, double nats = kInfinity) {
  const auto kernel = learning_kernel(run, setting);
  const std::vector<int64_t> inputs = relevant_inputs(lengthscales);
  const std::vector<int64_t> sample = learning_sample(run, kExactRows);
  const auto [X, Y] = learning_rows(run, setting, sample, lengthscales);
  const int64_t r = std::ssize(inputs), n = std::ssize(sample);
  const Matrix<double> relevant(n, r, run.context, "rows to learn a metric from");
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < r; ++k) relevant.view()(i, k) = X(i, inputs[k]);
  ArdOptions options;
  options.unit = run.unit;
  options.lambda = std::max(lambda / run.unit, kLeastSignal);
  options.most_iterations = kMetricIterations;
  std::vector<linalg::CurvaturePair>& turns = run.learning->turns;
  const auto size = static_cast<size_t>(r * r) + 1;
  if (!turns.empty() && turns[0].step.size() == size) options.pairs = turns;
  const LearntMetric learnt = learn_metric(*kernel, relevant.view(), Y.view(), options, run.context,
                                           solver::numbers_of(run.learnt_weights, sample));
  if (turns.empty()) turns = learnt.pairs;
  Setting made = setting;
  made.partial = nullptr;
  if (!(learnt.value < nats - static_cast<double>(r * (r - 1)))) return made;
  const Matrix<double> A(r, X.cols(), run.context, "a metric");
  A.fill(0);
  for (int64_t i = 0; i < r; ++i)
    for (int64_t k = 0; k < r; ++k)
      A.view()(i, inputs[k]) = learnt.A(i, k) / lengthscales[inputs[k]];
  if (auto partial = setting.partial->in_metric(A.view()))
    made.partial = &run.keep(std::move(partial));
  return made;
}

/// The best factor of a metric.
Candidate factor_chosen(SearchRun& run, const Candidate& chosen, const Setting& setting) {
  LengthscaleWalk walk(1.0, [&](double factor, const Trial* near) {
    return try_out(run, kInputStage, setting, {&factor, 1}, run.sizes.fine,
                   near == nullptr ? &chosen.trial : near);
  });
  if (std::ssize(run.split.train) > kExactRows) walk.climb(kFactor, kFactorSteps);
  const LengthscaleWalk::Choice choice = choice_of(run, walk);
  Candidate made = chosen;
  made.setting = setting;
  made.lengthscales = {choice.tried->lengthscale};
  made.take(choice.tried->trial, choice.point);
  return made;
}

/// The metric learnt without a fold's rows.
Learnt metric_without(SearchRun& run, LearntFold& fold) {
  const std::vector<double>& lengthscales = lengthscales_without(run, fold);
  if (lengthscales.empty()) return {};
  const Learning& how = *run.learning;
  if (!fold.metric) {
    const OnFold rows(run, fold.split);
    fold.metric = with_metric(run, how.setting, lengthscales, how.common.point.lambda);
  }
  if (fold.metric->partial == nullptr) return {};
  return {{*fold.metric, {1.0}, how.lambda}};
}

void choose_metric(SearchRun& run, Candidate& chosen) {
  if (!tries_metric(run, chosen.setting, std::ssize(relevant_inputs(chosen.lengthscales))) ||
      !has_time(run, "a metric"))
    return;
  const Ard& learnt = run.learning->learnt;
  const Setting setting = with_metric(run, chosen.setting, chosen.lengthscales, chosen.point.lambda,
                                      learnt.value * learnt.nats);
  if (setting.partial == nullptr) return;
  const Candidate made = factor_chosen(run, chosen, setting);
  if (!beats(made.trial, made.at, chosen.trial, chosen.at, kErrors)) return;
  const Gain others = gain_on_others(
      run, [&](LearntFold& fold) { return metric_without(run, fold); },
      [&](LearntFold& fold) { return per_input_without(run, fold); });
  if (!(others.mean > kMetricErrors * others.error)) return;
  run.learning->metric = true;
  run.learning->lambda = made.point.lambda;
  chosen = made;
}

/// What the search that is repeated has learnt, learnt without the rows that this one leaves out.
void repeat_learning(SearchRun& run, Candidate& chosen) {
  SearchRun& first = run.repeat->first;
  if (!first.learning) return;
  std::vector<LearntFold>& folds = first.learning->folds;
  const auto fold = std::ranges::find_if(
      folds, [&](const LearntFold& one) { return one.split.train == run.repeat->rows; });
  require(fold != folds.end(), MERCER_INTERNAL, "a search is repeated on rows of no fold");
  Learnt learnt = per_input_without(first, *fold);
  if (!learnt) return;
  if (first.learning->metric)
    if (Learnt turned = metric_without(first, *fold)) learnt = std::move(turned);
  Trial trial = try_out(run, kInputStage, learnt->setting, learnt->lengthscales, run.sizes.fine,
                        &chosen.trial, learnt->lambda);
  const size_t at = run.leaves_out() ? paired_pick(trial) : trial.best_place();
  chosen.setting = learnt->setting;
  chosen.lengthscales = learnt->lengthscales;
  chosen.take(std::move(trial), at);
}

}  // namespace

void choose_per_input(SearchRun& run, Candidate& chosen) {
  if (!tries_per_input(run, chosen.setting) &&
      !tries_per_input(run, run.start))  // whose frequencies are drawn, where a grid is kept
    return;
  if (run.repeat != nullptr && !run.by_evidence()) return repeat_learning(run, chosen);
  if (run.options.per_input != PerInput::on && !has_time(run, "lengthscales for each input"))
    return;
  PerInputFit best = fit_per_input(run, chosen);
  if (!best.found()) return;
  // The evidence decides by itself, from there.
  const bool asked = run.options.per_input == PerInput::on;
  if (best.learnt.evaluations > 0) {
    run.learning = {.setting = best.chosen.setting,
                    .learnt = best.learnt,
                    .factor = best.factor,
                    .lambda = best.chosen.point.lambda,
                    .common = chosen};
    for (Split& split : fold_splits(run.chosen_by, kFolds, run.fit.select.seed, run.rule))
      run.learning->folds.push_back({std::move(split), {}, {}});
    if (!(asked && run.by_evidence()) && !gains(run, best, chosen)) {
      run.learning.reset();
      if (!asked) return;
      best = of_one(chosen, std::ssize(best.chosen.lengthscales));
    }
  }
  best.chosen.whole = chosen.whole;
  best.chosen.at_edge = chosen.at_edge;
  chosen = std::move(best.chosen);
  if (run.learning) choose_metric(run, chosen);
}

void tell_relevance(SearchRun& run, const Candidate& chosen) {
  const auto kernel = chosen.setting.partial->kernel();
  if (const kernel::Metric* const metric = kernel->traits().metric; metric && run.learning) {
    std::vector<double> norms(metric->A.cols(), 0.0);
    for (int64_t i = 0; i < metric->A.rows(); ++i)
      for (size_t j = 0; j < norms.size(); ++j)
        norms[j] = std::hypot(norms[j], metric->A(i, static_cast<int64_t>(j)));
    const double most = std::ranges::max(norms);
    for (double& norm : norms) norm /= most;
    run.report.relevance =
        of_inputs(std::move(norms), run.X.cols(), chosen.setting.prepared->fitted.flagged);
    return;
  }
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
