// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits a model by its spec. A search chooses what the spec leaves open; without a search the map is
// the spec's or the caller's, and only lambda is chosen.
#include <string>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"
#include "kernel/kernel.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/local_choice.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/map_from_rows.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_summary.h"
#include "model/rows/central_lengthscale.h"
#include "model/rows/row_sets.h"
#include "spec/fit_plan.h"
#include "spec/specs.h"
#include "spec/words.h"

namespace mercer::spec {
namespace {

constexpr const char* kLogisticLoss = "logistic";

/// Refuses options that conflict with a search, which begins with ridge and chooses lambda itself.
void check_searchable(const FitPlan& plan) {
  constexpr const char* kPlain = "it left out, or \"search\": false";
  refuse_keys(plan, {"solver"}, "a search", kPlain);
  if (!plan.search.final_estimate)
    refuse_keys(plan, {"delta", "tau", "iterations", "tolerance"},
                "a search of logistic regression", kPlain);
  const auto& last = plan.search.final_estimate;
  const bool evidence = last && last->entry->keeps_posterior &&
                        plan.search.fit.select.selection == model::Selection::evidence;
  require(!plan.search.learns_spectrum || evidence, MERCER_UNSUPPORTED,
          "spectrum = learnt, expected model = gp with select.by = evidence for it");
  require(!last || !model::asks_local(last->parameters), MERCER_UNSUPPORTED,
          "local fits of a search, which would choose by the fit about one centre, expected "
          "\"search\": false");
  if (!plan.asks("select")) return;
  for (const auto& [key, value] : plan.given.object("select").entries())
    require(key == "fraction" || (key == "by" && evidence), MERCER_UNSUPPORTED,
            "select.%s of a search, which goes by leave-one-out or, above 3,000 rows, by rows held "
            "out: expected fraction alone, or \"search\": false",
            key.c_str());
}

/// A model other than ridge and logistic regression is fitted at the end, with its own lambda.
void end_with_estimate(FitPlan& plan) {
  const model::Estimating& asked = plan.search.fit.estimate;
  const Value* const loss = asked.parameters.find("loss");
  const bool posterior = asked.entry->keeps_posterior;
  if ((asked.entry->least_squares && !posterior) ||
      (loss != nullptr && *loss == Value(std::string(kLogisticLoss))))
    return;
  // Variances are those of untransformed targets.
  if (posterior) plan.search.choose_target_transform = false;
  plan.search.final_estimate = asked;
  plan.search.final_lambda = std::exchange(plan.search.lambda, -1);
  plan.search.estimator = model::Estimator::ridge;
}

/// Which is logistic regression's part of it, too.
void begin_with_ridge(model::Estimating& estimate) {
  Parameters own = model::default_parameters(model::ridge_model());
  if (estimate.parameters.find(model::kClassWeight.key) != nullptr)
    model::kClassWeight.write(own, model::kClassWeight.read(estimate.parameters));
  estimate.entry = &model::ridge_model();
  estimate.parameters = std::move(own);
}

/// A single lengthscale in the spec is kept; lengthscales per input, and of parts, are multiplied
/// by a factor, which is searched.
double fixed_lengthscale(const FitPlan& plan, const model::PartialMap& maker) {
  require(plan.search.lengthscale == 0 || maker.has_lengthscale(), MERCER_UNSUPPORTED,
          "lengthscale = %g, expected it left out for a kernel without a lengthscale",
          plan.search.lengthscale);
  const double asked = plan.search.lengthscale;
  if (plan.map.find("kernel") == nullptr) return asked;
  const Parameters* kernel = &plan.map.object("kernel");
  if (kernel->find("scalar") != nullptr) kernel = &kernel->object("scalar");
  const bool given = kernel->find("lengthscale") != nullptr && maker.start() == 0;
  const double own = given ? maker.lengthscale().value_or(0) : 0;
  require(asked == 0 || own == 0 || asked == own, MERCER_INVALID_ARGUMENT,
          "lengthscale = %g beside map.kernel.lengthscale = %g, expected one of the two", asked,
          own);
  return asked > 0 ? asked : own;
}

/// A vector field needs one scale for all inputs and no transforms; a kernel of several outputs
/// excludes other couplings.
void follow_kernel(const kernel::Kernel& kernel, FitPlan& plan) {
  plan.search.independent = {plan.search.fit.prepare.scale, plan.search.choose_transform,
                             plan.search.choose_target_transform};
  const kernel::MatrixKernel* const matrix = kernel.matrix();
  if (matrix == nullptr) return;
  model::Fitting& fit = plan.search.fit;
  plan.search.choose_target_transform = false;
  if (fit.outputs.or_independent) fit.outputs.structure = model::OutputStructure::independent;
  const bool asked = plan.asks("prepare") && plan.given.object("prepare").find("scale") != nullptr;
  if (matrix->field_parts() != nullptr) {
    plan.search.choose_transform = false;
    if (!asked && fit.prepare.standardize) fit.prepare.scale = model::Scale::common;
  }
  model::check_outputs(kernel, fit);
}

/// The candidate maps for this many prepared inputs.
std::unique_ptr<model::PartialMap> maker_for(FitPlan& plan, int64_t inputs) {
  auto maker = model::partial_map(plan.map, inputs, plan.search.fit.select.seed);
  follow_kernel(*maker->kernel(), plan);
  plan.search.lengthscale = fixed_lengthscale(plan, *maker);
  require(!maker->keeps_all_rows() || !plan.search.given_features, MERCER_INVALID_ARGUMENT,
          "map.features of map exact, expected it left out: there is one for each row");
  return maker;
}

bool has_targets(const FitPlan& plan) {
  return plan.search.fit.coding.targets == model::Targets::given;
}
/// Whether the spec leaves the lengthscale to the median heuristic. With targets the lengthscales
/// of parts are what they are.
bool leaves_lengthscale(const FitPlan& plan, const model::PartialMap& maker) {
  return plan.search.lengthscale == 0 && maker.has_lengthscale() && maker.start() == 0 &&
         (maker.lengthscale() || !has_targets(plan));
}
double median_distance(const Rows& prepared, const std::vector<int64_t>& rows, uint64_t seed,
                       Context& context) {
  return prepared.visit(
      [&](const auto& X) { return model::central_lengthscale({}, X, rows, seed, context); });
}

/// The lengthscale of a map without a search.
double plain_lengthscale(const FitPlan& plan, const model::PartialMap& maker) {
  if (plan.search.lengthscale > 0) return plan.search.lengthscale;
  return maker.start() > 0 ? 1 : maker.lengthscale().value_or(1);
}

model::Model fit_plainly(FitPlan plan, const Rows& X, MatrixView<const double> Y,
                         std::span<const double> weights, std::span<const double> groups,
                         Context& context) {
  model::Preparing& prepare = plan.search.fit.prepare;
  if (X.sparse()) prepare.buckets = model::hash_buckets(plan.map, X.cols());
  const int64_t inputs = model::prepared_inputs(prepare, {}, X, weights);
  const auto maker = maker_for(plan, inputs);
  const bool open = leaves_lengthscale(plan, *maker);
  double lengthscale = plain_lengthscale(plan, *maker);
  const int64_t wanted = plan.search.features;
  const int64_t features = maker->keeps_all_rows() ? maker->features_of(wanted, X.rows()) : wanted;
  if (!maker->needs_rows() && !open)
    return model::fit(maker->make(lengthscale, features), plan.search.fit, X, Y, context, weights,
                      groups);
  const model::MapFromRows from_rows{
      inputs,
      features,
      [&](const Rows& rows, const MatrixView<const double>& targets, Context& running) {
        // Rows of weight 0 are among these only where a map keeps all rows.
        const std::span<const double> own =
            maker->keeps_all_rows() ? weights : std::span<const double>();
        if (open)
          lengthscale = median_distance(rows, model::rows_that_count(own, rows.rows()),
                                        plan.search.fit.select.seed, running);
        if (!maker->needs_rows()) return maker->make(lengthscale, features);
        return maker->make_from(lengthscale, features, rows, targets, running);
      },
      maker->domain(),
      maker->reads_all_rows(),
      maker->keeps_all_rows()};
  return model::fit(from_rows, plan.search.fit, X, Y, context, weights, groups);
}

}  // namespace

model::Model fit(FitPlan plan, const GivenMap& map, const Rows& X, MatrixView<const double> Y,
                 std::span<const double> weights, Context& context,
                 std::span<const double> groups) {
  settle_selection(plan, groups.empty() && !plan.search.fit.select.ordered);
  require(groups.empty() || plan.search.fit.coding.targets == model::Targets::given,
          MERCER_UNSUPPORTED, "groups of rows without targets, expected none: no row is held out");
  if (map != nullptr) {
    follow_kernel(map->kernel(), plan);
    refuse_keys(plan, {"map", "lengthscale"}, "a fit with a map of the caller's", "one of the two");
    refuse_search_keys(plan, "a fit with a map of the caller's");
    return model::fit(map, plan.search.fit, X, Y, context, weights, groups);
  }
  if (!plan.searches) {
    refuse_search_keys(plan, "a fit with \"search\": false");
    return fit_plainly(std::move(plan), X, Y, weights, groups, context);
  }
  if (plan.search.given_features)
    refuse_keys(plan, {"most_features"}, "a search with map.features", "one of the two");
  end_with_estimate(plan);
  check_searchable(plan);
  begin_with_ridge(plan.search.fit.estimate);
  model::Preparing& prepare = plan.search.fit.prepare;
  if (X.sparse()) prepare.buckets = model::hash_buckets(plan.map, X.cols());
  plan.search.few_missing = model::leave_out_rare_flags(prepare, plan.search.flagged, X, weights);
  const int64_t inputs = model::prepared_inputs(prepare, plan.search.flagged, X, weights);
  const auto maker = maker_for(plan, inputs);
  maker->take_unit_diagonal();
  maker->take_ratio();
  return model::search(*maker, plan.search, X, Y, context, weights, groups);
}

void settle_selection(FitPlan& plan, bool exchangeable) {
  model::Selecting& select = plan.search.fit.select;
  const bool open = !plan.asks("select") || plan.given.object("select").find("by") == nullptr ||
                    plan.given.object("select").text("by") == kSelectWays[0];
  if (!exchangeable && open && select.selection == model::Selection::loo)
    select.selection = model::Selection::kfold;
}

GivenMap map_of_stream(FitPlan& plan, const GivenMap& map, int64_t inputs) {
  constexpr const char* kWhat = "rows that are not in memory";
  settle_selection(plan, !plan.search.fit.select.ordered);
  refuse_search_keys(plan, kWhat);
  if (map != nullptr) {
    follow_kernel(map->kernel(), plan);
    refuse_keys(plan, {"map", "lengthscale"}, "a fit with a map of the caller's", "one of the two");
    require(inputs == map->inputs(), MERCER_DIMENSION_MISMATCH,
            "data->source->d = %ld, expected the map's inputs, %ld", inputs, map->inputs());
    return map;
  }
  const auto maker = maker_for(plan, inputs);
  require(!maker->requires_rows(), MERCER_UNSUPPORTED,
          "map of %s is made from rows, expected another, or data->map made of a sample before",
          kWhat);
  require(has_targets(plan) || !leaves_lengthscale(plan, *maker), MERCER_INVALID_ARGUMENT,
          "key \"lengthscale\" is missing, expected a number: of %s there is no median distance",
          kWhat);
  return maker->make(plain_lengthscale(plan, *maker), plan.search.features);
}

model::HermiteOptions hermite_options(const FitPlan& plan) {
  for (const auto& [key, value] : plan.given.entries())
    require(key == "model" || key == "lambda" || key == "center", MERCER_UNSUPPORTED,
            "key \"%s\" of sets of observations, expected model, lambda and center alone: X is "
            "what the map is given",
            key.c_str());
  const auto& [estimate, prepare, coding, outputs, select, extrapolation] = plan.search.fit;
  require(estimate.entry->least_squares && !estimate.entry->keeps_posterior, MERCER_UNSUPPORTED,
          "model = \"%s\" of sets of observations, expected ridge", estimate.entry->name);
  require(select.selection == model::Selection::fixed, MERCER_INVALID_ARGUMENT,
          "key \"lambda\" is missing, expected a number >= 0: of sets of observations it is not "
          "chosen");
  return {select.lambda, estimate.center};
}

}  // namespace mercer::spec
