// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian process regression on the features of a map: the mean is ridge's, with
// n lambda the variance of the noise over that of a weight, and the posterior is kept.
#include "base/error.h"
#include "base/fields.h"
#include "model/estimator/estimator_options.h"
#include "model/estimator/grid_evidence.h"
#include "model/estimator/model_entry.h"
#include "model/rows/direct_sums.h"
#include "model/select/selection.h"

namespace mercer::model {
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
  check_local(asked);
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
       .keeps_posterior = true,
       .most_features = 2048});
  return entry;
}

}  // namespace mercer::model
