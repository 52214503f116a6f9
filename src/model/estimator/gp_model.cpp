// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian process regression on the features of a map: the mean is ridge's, with
// n lambda the variance of the noise over that of a weight, and the posterior is kept.
#include "model/estimator/gp_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "feature/frequency_grid.h"
#include "feature/map_entry.h"
#include "linalg/lbfgs.h"
#include "model/estimator/model_entry.h"
#include "model/rows/direct_sums.h"
#include "model/rows/feature_rows.h"
#include "model/select/selection.h"
#include "solver/iterative_system.h"

namespace mercer::model {

// Fits about several centres.

namespace {

constexpr const char* kWays[] = {"off", "clusters", "test_point"};

const std::string& way_of(const Parameters& own) { return own.text("local"); }

}  // namespace

bool asks_clusters(const Parameters& own) { return way_of(own) == kWays[1]; }

bool asks_local(const Parameters& own) {
  return own.find("local") != nullptr && way_of(own) != kWays[0];
}

std::vector<Field> local_fields() {
  return {choice_field("local", kWays[0], {std::begin(kWays), std::end(kWays)},
                       "centres that features count from, for power series, which vanish far from "
                       "theirs; clusters: a fit about each, rows by the nearest; test_point: a fit "
                       "about each predicted row. Both need lambda and noise, of classes alpha"),
          number_above_field("theta", kOptional, 0, kUnbounded,
                             "of clusters: no row is so many lengthscales from all centres; "
                             "absent: 2")};
}

void check_local(const FitOptions& asked, const char* beside) {
  const Parameters& own = asked.estimate.parameters;
  const bool has_theta = own.find("theta") != nullptr;
  require(!has_theta || asks_clusters(own), MERCER_INVALID_ARGUMENT,
          "theta = %g with local = \"%s\", expected local = \"clusters\"",
          has_theta ? own.number("theta") : 0.0, way_of(own).c_str());
  if (!asks_local(own)) return;
  const std::string& way = way_of(own);
  require(asked.select.selection == Selection::fixed && own.find(beside) != nullptr,
          MERCER_INVALID_ARGUMENT,
          "local = \"%s\" without lambda and %s, expected both: features about one centre "
          "misjudge them; a fit with map fourier finds them",
          way.c_str(), beside);
  require(!asked.prepare.unit_rows && asked.prepare.buckets == 0, MERCER_UNSUPPORTED,
          "local = \"%s\" of rows that are scaled to a norm or hashed, expected neither",
          way.c_str());
  require(asked.outputs.structure == OutputStructure::independent, MERCER_UNSUPPORTED,
          "local = \"%s\" of outputs that are learnt together, expected independent ones",
          way.c_str());
}

// Lengthscales of a process on a grid.

namespace {

constexpr double kLogDifference = 1e-4;  // of a logarithm, for slopes of those of weights
constexpr int64_t kEvidenceProbes = 8, kEvidenceSteps = 30, kRounds = 4;
constexpr double kLargestMove = 1.4;  // of a round, in a logarithm: its grid serves others near by
constexpr double kSettled = 0.1;      // a move after which the grid is left
constexpr double kFlatEvidence = 0.05;  // nats in a logarithm, or the error of the value

/// The map's kernel with its lengthscales moved.
std::shared_ptr<const Parameters> moved_kernel(const feature::FeatureMap& map,
                                               std::span<const double> moves) {
  std::vector<double> lengthscale(map.kernel().lengthscale().begin(),
                                  map.kernel().lengthscale().end());
  for (size_t k = 0; k < lengthscale.size(); ++k) lengthscale[k] *= std::exp(moves[k]);
  Parameters kernel = map.parameters().object("kernel");
  kernel.set("lengthscale", lengthscale.size() > 1 ? Value(lengthscale) : Value(lengthscale[0]));
  return std::make_shared<const Parameters>(std::move(kernel));
}

/// The map of that kernel, its step by the diameter anew where that is known.
std::shared_ptr<const feature::FeatureMap> moved_map(const feature::FeatureMap& map,
                                                     std::span<const double> moves) {
  const Parameters from = map.parameters();
  Parameters to;
  const bool anew = from.find("diameter") != nullptr;
  for (const auto& [key, value] : from.entries())
    if (!anew || (key != "step" && key != "extent" && key != "error_bound")) to.set(key, value);
  to.set("kernel", moved_kernel(map, moves));
  return feature::make_map(to);
}

}  // namespace

GridEvidence::GridEvidence(const FeatureRows& rows, const feature::FeatureMap& map, bool center,
                           double noise, const solver::Probing& by, Context& context)
    : map_(map),
      sums_(rows.under(map).normal_sums(context, {})),
      center_(center),
      noise_(noise),
      by_(by),
      context_(context) {}

std::vector<double> GridEvidence::weights(std::span<const double> moves) const {
  return map_.grid()->weights_of(*kernel::make_kernel(*moved_kernel(map_, moves)));
}

std::unique_ptr<solver::RidgeSystem> GridEvidence::system() const {
  const std::vector<double> ones(sums_->diagonal.size(), 1.0);
  return solver::make_iterative_system(solver::scaled(*sums_, ones, context_), center_, context_);
}

double GridEvidence::operator()(std::span<const double> moves, std::span<double> gradient) {
  const int64_t F = map_.grid()->count(), count = lengthscales();
  const std::span<const double> own = map_.grid()->weights();
  const std::vector<double> here = weights(moves);
  std::vector<double> factors(static_cast<size_t>(2 * F));
  // Frequencies so high that their weight is 0 in double precision have no part in the sums.
  const auto ratio = [](double a, double b) { return a > 0 && b > 0 ? a / b : 0.0; };
  for (int64_t j = 0; j < 2 * F; ++j) factors[j] = std::sqrt(ratio(here[j % F], own[j % F]));
  const Matrix<double> directions(count, 2 * F, context_, "slopes of weights");
  directions.fill(0);
  std::vector<double> near(moves.begin(), moves.end());
  for (int64_t k = 0; k < count; ++k) {
    near[k] = moves[k] + kLogDifference;
    const std::vector<double> above = weights(near);
    near[k] = moves[k] - kLogDifference;
    const std::vector<double> below = weights(near);
    near[k] = moves[k];
    for (int64_t j = 0; j < 2 * F; ++j)
      if (const double moved = ratio(above[j % F], below[j % F]); moved > 0)
        directions(k, j) = std::log(moved) / (4 * kLogDifference);
  }
  const auto system =
      solver::make_iterative_system(solver::scaled(*sums_, factors, context_), center_, context_);
  const solver::EvidencePoint point =
      system->sampled_evidence(std::exp(moves.back()), noise_, by_, directions.view(), context_);
  const double degrees = sums_->weight - (center_ ? 1 : 0);
  for (int64_t k = 0; k < count; ++k) gradient[k] = degrees * point.slopes[1 + k];
  gradient.back() = degrees * point.slopes[0];
  error_ = degrees * point.error;
  return degrees * point.value;
}

namespace {

struct Climb {
  double start, end;  // values
};

/// Moves become those of the least value near by.
Climb descend(GridEvidence& evidence, bool given_lambda, Context& context,
              std::span<double> moves) {
  const double from = moves.back();
  double start = kNaN;
  const auto value = [&](std::span<const double> x, std::span<double> gradient) {
    if (std::ranges::any_of(x.first(x.size() - 1),
                            [](double move) { return !(std::abs(move) <= kLargestMove); }))
      return kInfinity;
    std::vector<double> at(x.begin(), x.end());
    if (given_lambda) at.back() = from;
    const double found = evidence(at, gradient);
    if (given_lambda) gradient.back() = 0;
    if (std::isnan(start)) start = found;
    return found;
  };
  std::vector<double> gradient(moves.size());
  value(moves, gradient);
  const double error = evidence.error();
  const auto end =
      linalg::minimize_lbfgs(value, moves,
                             {.most_iterations = kEvidenceSteps,
                              .gradient_tolerance = std::max(kFlatEvidence, error),
                              .decrease_tolerance = kFlatEvidence / 10,
                              .absolute = true,
                              .noise = std::max(1e-12, error / std::max(1.0, std::abs(start)))},
                             context);
  return {start, end.value};
}

}  // namespace

/// The map with the lengthscales of the largest evidence, and its grid made for them; null: the given
/// ones are no worse.
static std::shared_ptr<const feature::FeatureMap> learn_grid_lengthscales(
    const FeatureRows& rows, const EstimatorOptions& estimating, const SelectionOptions& selecting,
    Context& context) {
  const solver::Probing by{kEvidenceProbes, selecting.seed};
  const bool given = selecting.selection == Selection::fixed;
  double log_lambda = std::log(selecting.lambda);
  std::shared_ptr<const feature::FeatureMap> learnt;
  Stage stage(context, kRounds);
  for (int64_t round = 0; round < kRounds; ++round) {
    stage.share(1);
    const feature::FeatureMap& map = learnt ? *learnt : *estimating.map;
    GridEvidence evidence(rows, map, estimating.center, selecting.noise, by, context);
    if (round == 0 && !given) {
      std::vector<PathPoint> path;
      log_lambda =
          std::log(likeliest_by_slope(*evidence.system(), selecting, context, path).lambda);
    }
    std::vector<double> moves(static_cast<size_t>(evidence.lengthscales()) + 1, 0.0);
    moves.back() = log_lambda;
    const Climb values = descend(evidence, given, context, moves);
    stage.advance(1);
    if (!(values.end < values.start)) break;
    if (!given) log_lambda = moves.back();
    moves.pop_back();
    learnt = moved_map(map, moves);
    if (std::ranges::all_of(moves, [](double move) { return std::abs(move) < kSettled; })) break;
  }
  return learnt;
}

// The entry.

namespace {

constexpr double kMostRaised = 1e-3;  // lambda, in units of k(x, x)
constexpr int64_t kGpUnits = 100;     // of progress, half of them the posterior's
constexpr const char* kDirect = "direct";
constexpr int64_t kPosteriorDraws =
    32;  // of weights, by which variances are known to a fourth at worst

void check_gp(const FitOptions& asked) {
  require(asked.coding.task == Task::regression, MERCER_UNSUPPORTED,
          "model = gp of a classification, expected ridge, logistic, dirichlet or svgp");
  require(asked.prepare.target_transform == Transform::none, MERCER_UNSUPPORTED,
          "prepare.target_transform with model = gp, expected none: its variances are those of the "
          "targets");
  check_local(asked, "noise");
  const bool direct = asked.estimate.problem().iterative == solver::Iterative::no;
  require(
      !direct || !learns_kernel(asked.estimate), MERCER_UNSUPPORTED,
      "hyperparameters = learnt of model gp with solver = direct, expected cg, or a search with "
      "select.by = evidence");
  if (direct) return;
  const Selection by = asked.select.selection;
  require(!asks_local(asked.estimate.parameters) &&
              asked.outputs.structure == OutputStructure::independent,
          MERCER_UNSUPPORTED,
          "model = gp with solver = cg of local fits or outputs that are learnt together, expected "
          "neither");
  require(by == Selection::fixed || by == Selection::folds || by == Selection::held_out ||
              (by == Selection::evidence &&
               asked.select.lambda_count == SelectionOptions().lambda_count),
          MERCER_UNSUPPORTED,
          "model = gp with solver = cg and select.by = leave_one_out or gcv, or evidence with "
          "lambda_count, expected lambda, folds, held_out, or evidence alone");
}

std::vector<Field> gp_fields() {
  std::vector<Field> fields = {
      number_above_field("lambda", kOptional, 0, kUnbounded,
                         "n lambda is the noise's variance over a weight's; absent: chosen"),
      number_above_field("noise", kOptional, 0, kUnbounded,
                         "variance of a row of the mean weight; absent: from the residuals"),
      choice_field("solver", kDirect, {kDirect, "cg"},
                   "cg: on a grid of one to three inputs, by Fourier transforms without Z'Z; "
                   "variances and the evidence are estimates, whose errors the report tells"),
      choice_field(kHyperparameters, "given", {"given", kLearnt},
                   "of cg: the kernel's lengthscales; learnt by the evidence of all rows")};
  for (Field& field : local_fields()) fields.push_back(std::move(field));
  return fields;
}

using GivenSums = std::optional<solver::RowStatistics>;

/// Null where lambda was chosen and is lost in the rounding of the features' sums.
std::shared_ptr<const solver::Posterior> posterior_at(const solver::BlockSource& rows,
                                                      const EstimatorOptions& estimating,
                                                      const RidgeFit& selected,
                                                      const SelectionOptions& selecting,
                                                      GivenSums sums, Context& context) {
  try {
    return std::make_shared<const solver::Posterior>(
        rows, estimating.problem(), selected.lambda, selected.weights, selecting.noise, context,
        std::move(sums), selecting.selection == Selection::evidence);
  } catch (const Error& error) {
    const bool lost = error.status() == MERCER_NOT_POSITIVE_DEFINITE;
    if (!lost || selecting.selection == Selection::fixed ||
        selected.lambda > kMostRaised * selecting.unit)
      throw;
    return nullptr;
  }
}

/// By conjugate gradients, of frequencies on a grid.
std::shared_ptr<const solver::Posterior> sampled_posterior(const solver::BlockSource& rows,
                                                           const EstimatorOptions& estimating,
                                                           const RidgeFit& selected,
                                                           const SelectionOptions& selecting,
                                                           Context& context) {
  return std::make_shared<const solver::Posterior>(
      rows, estimating.problem(), selected.lambda, selected.weights, selecting.noise, context,
      selected.system->sampled_sums(selected.lambda, selected.weights,
                                    {kPosteriorDraws, selecting.seed}, context),
      selecting.selection == Selection::evidence);
}

void check_solver(const EstimatorOptions& estimating) {
  require(estimating.problem().iterative == solver::Iterative::no || estimating.map == nullptr ||
              NormalGrid::serves(*estimating.map),
          MERCER_UNSUPPORTED,
          "model = gp with solver = cg of this map, expected projection = grid of one to three "
          "inputs, in a build with FFTW, or solver = direct");
}

SelectionOptions with_noise(SelectionOptions selecting, const EstimatorOptions& estimating) {
  const Value* const noise = estimating.parameters.find("noise");
  if (noise != nullptr) selecting.noise = std::get<double>(*noise);
  return selecting;
}

LearntKernel learn_gp_kernel(const FeatureRows& rows, const EstimatorOptions& estimating,
                             const SelectionOptions& asked, Context& context) {
  check_solver(estimating);
  return {learn_grid_lengthscales(rows, estimating, with_noise(asked, estimating), context)};
}

EstimatorFit fit_gp(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                    const TargetOptions& coding, const SelectionOptions& asked, Context& context) {
  check_solver(estimating);
  const SelectionOptions selecting = with_noise(asked, estimating);
  Stage stage(context, kGpUnits);
  stage.share(kGpUnits / 2);
  GivenSums sums;
  RidgeFit selected =
      select(rows, selecting, coding.task, estimating.problem(), context, nullptr, &sums);
  stage.advance(kGpUnits / 2);
  stage.share(kGpUnits / 2);
  std::shared_ptr<const solver::Posterior> posterior =
      selected.system
          ? sampled_posterior(rows, estimating, selected, selecting, context)
          : posterior_at(rows, estimating, selected, selecting, std::move(sums), context);
  // A lambda that was chosen may be lost in rounding: the least that is not.
  SelectionOptions larger = selecting;
  larger.selection = Selection::fixed;
  while (posterior == nullptr) {
    larger.lambda = 10 * selected.lambda;
    RidgeFit again = select(rows, larger, coding.task, estimating.problem(), context);
    selected.weights = std::move(again.weights);
    selected.lambda = larger.lambda;
    posterior = posterior_at(rows, estimating, selected, selecting, {}, context);
  }
  stage.advance(kGpUnits / 2);
  return {.predictor = make_linear(std::move(selected.weights)),
          .lambda = selected.lambda,
          .path = std::move(selected.path),
          .calibration = {},
          .posterior = std::move(posterior),
          .run = selected.run};
}

}  // namespace

const ModelEntry& gp_model() {
  static const ModelEntry entry = linear_entry(
      {.name = "gp",
       .help = "Gaussian process regression on the features of a map: ridge that keeps its "
               "posterior, 4 r^2 bytes",
       .fields = gp_fields(),
       .selection = Selection::leave_one_out,
       .fit = fit_gp,
       .learn_kernel = learn_gp_kernel,
       .check = check_gp,
       .least_squares = true,
       .sums_over_outputs = true,
       .keeps_posterior = true,
       .most_features = 2048});
  return entry;
}

}  // namespace mercer::model
