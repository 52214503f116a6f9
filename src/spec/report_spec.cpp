// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reports use JSON values directly: Parameters cannot hold lists of texts.
#include "spec/report_spec.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "model/predict.h"

namespace mercer::spec {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTransform = "transform";
constexpr const char* kTargetTransform = "target_transform";
constexpr const char* kCriteria[] = {"none", "leave_one_out", "held_out", "folds"};
constexpr const char* kRowsAre[] = {"exchangeable", "grouped", "ordered"};
constexpr const char* kMeasures[] = {"r_squared", "accuracy", "explained_pinball",
                                     "explained_absolute_error", "explained_deviance"};
constexpr const char* kKinds[] = {"none", "nested", "unseen"};
constexpr const char* kStages[] = {"coarse", "fine",     "per_input", "features",
                                   "final",  "logistic", "score"};

/// NaN becomes null. (Times are left out, so that the same seed gives the same bytes.)
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// Classification: the recalls and their mean.
void add_classes(const model::Assessment& score, Json& object) {
  const model::BalancedScore& balanced = score.balanced;
  if (balanced.classes.empty()) return;
  object["balanced"] = {{"value", number(balanced.value)},
                        {"standard_error", number(balanced.standard_error)},
                        {"linear", number(score.balanced_linear)}};
  Json classes = Json::array();
  for (const model::ClassScore& one : balanced.classes) {
    classes.push_back({{"rows", one.rows}, {"recall", number(one.recall)}});
    if (!one.predicted.empty()) classes.back()["predicted"] = one.predicted;
  }
  object["classes"] = classes;
}

Json object_of(const model::Assessment& score, model::Task task) {
  Json object = {
      {"kind", kKinds[static_cast<size_t>(score.kind)]},
      {"measure",
       kMeasures[static_cast<size_t>(task == model::Task::classification ? model::Measure::accuracy
                                                                         : score.measure)]},
      {"rows", score.rows},
      {"groups", score.groups},
      {"value", number(score.score)},
      {"standard_error", number(score.standard_error)},
      {"constant", number(score.constant)},
      {"linear", number(score.linear)}};
  if (!std::isnan(score.coverage)) object["coverage"] = score.coverage;
  if (!std::isnan(score.nll)) object["nll"] = score.nll;
  add_classes(score, object);
  return object;
}

Json object_of(const model::SearchCandidate& trial) {
  return {{"stage", kStages[trial.stage]},
          {kTransform, model::word_of(trial.transform)},
          {"kernel", trial.kernel},
          {kTargetTransform, model::word_of(trial.target_transform)},
          {"features", trial.features},
          {"rows", trial.rows},
          {"lengthscale", number(trial.lengthscale)},
          {"lambda", number(trial.lambda)},
          {"score", number(1 - trial.score)},
          {"loss", number(trial.loss)},
          {"shape", number(trial.shape)}};
}

[[noreturn]] void refuse(const char* key, const char* expected) {
  fail(MERCER_INVALID_ARGUMENT, "report: key \"%s\", expected %s", key, expected);
}

const Json& member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(key, "it to be there");
  return *found;
}

double read_number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (value.is_null()) return kNaN;
  if (!value.is_number()) refuse(key, "a number or null");
  return value.get<double>();
}

/// Files of earlier versions have none.
double read_later(const Json& object, const char* key) {
  return object.contains(key) ? read_number(object, key) : kNaN;
}

int64_t count_of(const Json& value, const char* key) {
  if (!value.is_number_unsigned() ||
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    refuse(key, "a whole number >= 0");
  return value.get<int64_t>();
}

int64_t read_count(const Json& object, const char* key) {
  return count_of(member(object, key), key);
}

int64_t read_choice(const Json& object, const char* key, std::span<const char* const> choices) {
  const Json& value = member(object, key);
  const auto found =
      value.is_string() ? std::ranges::find(choices, value.get<std::string>()) : choices.end();
  if (found == choices.end()) refuse(key, "one of its names");
  return found - choices.begin();
}

/// Files of earlier versions have none.
model::Transform read_target_transform(const Json& object) {
  if (!object.contains(kTargetTransform)) return model::Transform::none;
  return static_cast<model::Transform>(read_choice(object, kTargetTransform, model::kTransforms));
}

model::Transform read_transform(const Json& object) {
  return static_cast<model::Transform>(read_choice(object, kTransform, model::kTransforms));
}

/// Files of earlier versions have none.
std::string read_kernel(const Json& object) {
  if (!object.contains("kernel")) return "";
  const Json& value = member(object, "kernel");
  if (!value.is_string()) refuse("kernel", "a name");
  return value.get<std::string>();
}

const Json& read_list(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_array()) refuse(key, "a list");
  return value;
}

/// Files of earlier versions, and regressions, have none.
void read_classes(const Json& object, model::Assessment& score) {
  if (!object.contains("classes")) return;
  const Json& balanced = member(object, "balanced");
  if (!balanced.is_object()) refuse("balanced", "an object");
  score.balanced.value = read_number(balanced, "value");
  score.balanced.standard_error = read_number(balanced, "standard_error");
  score.balanced_linear = read_number(balanced, "linear");
  for (const Json& one : read_list(object, "classes")) {
    if (!one.is_object()) refuse("classes", "objects");
    model::ClassScore known{read_count(one, "rows"), read_number(one, "recall")};
    if (one.contains("predicted"))
      for (const Json& count : read_list(one, "predicted"))
        known.predicted.push_back(count_of(count, "predicted"));
    score.balanced.classes.push_back(std::move(known));
  }
}

model::Assessment read_score(const Json& object) {
  if (!object.is_object()) refuse("score", "an object");
  model::Assessment score = {
      .kind = static_cast<model::AssessmentRows>(read_choice(object, "kind", kKinds)),
      .measure = static_cast<model::Measure>(read_choice(object, "measure", kMeasures)),
      .rows = read_count(object, "rows"),
      .groups = object.contains("groups") ? read_count(object, "groups") : 0,
      .score = read_number(object, "value"),
      .standard_error = read_number(object, "standard_error"),
      .constant = read_number(object, "constant"),
      .linear = read_number(object, "linear")};
  read_classes(object, score);
  if (object.contains("coverage")) score.coverage = read_number(object, "coverage");
  if (object.contains("nll")) score.nll = read_number(object, "nll");
  return score;
}

model::SearchCandidate read_trial(const Json& object) {
  if (!object.is_object()) refuse("trials", "objects");
  return {.stage = read_choice(object, "stage", kStages),
          .features = read_count(object, "features"),
          .rows = read_count(object, "rows"),
          .lengthscale = read_number(object, "lengthscale"),
          .lambda = read_number(object, "lambda"),
          .score = 1 - read_number(object, "score"),
          .seconds = 0,
          .transform = read_transform(object),
          .loss = read_later(object, "loss"),
          .shape = read_later(object, "shape"),
          .kernel = read_kernel(object),
          .target_transform = read_target_transform(object)};
}

/// The report of a model with components and without a search.
std::string print_components(const model::Components& components) {
  Json ratios = Json::array();
  for (const double variance : components.variances)
    ratios.push_back(number(variance / components.total));
  return Json{{"variances", components.variances},
              {"total_variance", number(components.total)},
              {"explained", ratios}}
      .dump();
}

model::Components read_components(const Json& object) {
  model::Components components{{}, read_number(object, "total_variance")};
  for (const Json& value : read_list(object, "variances")) {
    if (!value.is_number()) refuse("variances", "numbers");
    components.variances.push_back(value.get<double>());
  }
  if (components.variances.empty()) refuse("variances", "some");
  return components;
}

/// The report of a density; what was not asked for is left out.
Json object_of(const model::DensityReport& density) {
  Json object = Json::object();
  if (!std::isnan(density.loss)) {
    object["loss"] = density.loss;
    object["standard_error"] = number(density.standard_error);
    object["base_loss"] = density.base_loss;
    object["error_of_gain"] = number(density.error_of_gain);
  }
  if (!std::isnan(density.log_normaliser)) {
    object["log_normaliser"] = density.log_normaliser;
    object["normaliser_error"] = number(density.normaliser_error);
    object["effective_draws"] = density.effective_draws;
  }
  return object;
}

model::DensityReport read_density(const Json& object) {
  if (!object.is_object()) refuse("density", "an object");
  return {read_later(object, "loss"),           read_later(object, "standard_error"),
          read_later(object, "base_loss"),      read_later(object, "error_of_gain"),
          read_later(object, "log_normaliser"), read_later(object, "normaliser_error"),
          read_later(object, "effective_draws")};
}

Json object_of(const model::InputsReport& inputs) {
  Json object = {{"tau", inputs.tau},
                 {"gap", inputs.gap},
                 {"norms", inputs.norms},
                 {"selected", inputs.selected}};
  for (const model::PenaltyPoint& point : inputs.path)
    object["path"].push_back({{"tau", point.tau}, {"loss", number(point.loss)}});
  return object;
}

model::InputsReport read_inputs(const Json& object) {
  if (!object.is_object()) refuse("inputs", "an object");
  model::InputsReport inputs = {.tau = read_number(object, "tau"),
                                .gap = read_number(object, "gap")};
  for (const Json& norm : read_list(object, "norms")) {
    if (!norm.is_number()) refuse("norms", "numbers");
    inputs.norms.push_back(norm.get<double>());
  }
  for (const Json& one : read_list(object, "selected"))
    inputs.selected.push_back(count_of(one, "selected"));
  if (!object.contains("path")) return inputs;
  for (const Json& point : read_list(object, "path")) {
    if (!point.is_object()) refuse("path", "objects");
    inputs.path.push_back({read_number(point, "tau"), read_number(point, "loss")});
  }
  return inputs;
}

/// The report of passes over the rows.
Json object_of(const solver::SolverRun& run) {
  return {{"iterations", run.iterations},
          {"residual", number(run.residual)},
          {"seconds", number(run.seconds)}};
}

solver::SolverRun read_solver(const Json& object) {
  if (!object.is_object()) refuse("solver", "an object");
  return {read_count(object, "iterations"), read_number(object, "residual"),
          read_number(object, "seconds")};
}

/// The report of a fit that has searched for nothing.
std::string print_plain(const model::FitReport& report) {
  Json object = Json::object();
  if (report.run.known()) object["solver"] = object_of(report.run);
  if (report.density.known()) object["density"] = object_of(report.density);
  if (report.inputs.known()) object["inputs"] = object_of(report.inputs);
  if (!std::isnan(report.elbo)) object["elbo"] = report.elbo;
  if (!std::isnan(report.log_evidence)) object["log_evidence"] = report.log_evidence;
  if (!std::isnan(report.log_evidence_error)) {
    object["log_evidence_error"] = report.log_evidence_error;
    object["variance_error"] = number(report.variance_error);
  }
  if (!report.warnings.empty()) object["warnings"] = report.warnings;
  return object.dump();
}

std::vector<std::string> read_warnings(const Json& object) {
  std::vector<std::string> found;
  for (const Json& text : read_list(object, "warnings")) {
    if (!text.is_string()) refuse("warnings", "texts");
    found.push_back(text.get<std::string>());
  }
  return found;
}

}  // namespace

std::string print_trial(const model::SearchCandidate& trial) {
  Json object = object_of(trial);
  object["seconds"] = trial.seconds;
  return object.dump();
}

std::string print_report(const model::FitReport& report, model::Task task) {
  if (!report.components.variances.empty()) return print_components(report.components);
  if (!report.known()) return "{}";
  if (report.trials.empty()) return print_plain(report);
  Json trials = Json::array(), relevance = Json::array();
  for (const model::SearchCandidate& trial : report.trials) trials.push_back(object_of(trial));
  for (const double value : report.relevance) relevance.push_back(number(value));
  Json object = {{"rows_are", kRowsAre[static_cast<size_t>(report.rows_are)]},
                 {"criterion", kCriteria[static_cast<size_t>(report.criterion)]},
                 {"criterion_rows", report.criterion_rows},
                 {"criterion_score", number(1 - report.criterion_score)},
                 {"lengthscale", number(report.lengthscale)},
                 {"lambda", number(report.lambda)},
                 {"shape", number(report.shape)},
                 {kTransform, model::word_of(report.transform)},
                 {"kernel", report.kernel},
                 {kTargetTransform, model::word_of(report.target_transform)},
                 {"effective_dimension", number(report.dimension)},
                 {"score", object_of(report.assessment, task)},
                 {"trials", trials},
                 {"relevance", relevance},
                 {"warnings", report.warnings}};
  if (report.inputs.known()) object["inputs"] = object_of(report.inputs);
  if (!std::isnan(report.elbo)) object["elbo"] = report.elbo;
  if (!std::isnan(report.log_evidence)) object["log_evidence"] = report.log_evidence;
  return object.dump();
}

namespace {

/// What a search has found.
void read_search(const Json& object, model::FitReport& report) {
  if (object.contains("rows_are"))  // files of earlier versions say nothing of it
    report.rows_are = static_cast<model::RowDependence>(read_choice(object, "rows_are", kRowsAre));
  report.criterion =
      static_cast<model::ComparisonMethod>(read_choice(object, "criterion", kCriteria));
  report.criterion_rows = read_count(object, "criterion_rows");
  report.criterion_score = 1 - read_number(object, "criterion_score");
  report.lengthscale = read_number(object, "lengthscale");
  report.lambda = read_number(object, "lambda");
  report.shape = read_later(object, "shape");
  report.transform = read_transform(object);
  report.kernel = read_kernel(object);
  report.target_transform = read_target_transform(object);
  report.dimension = read_number(object, "effective_dimension");
  report.assessment = read_score(member(object, "score"));
  for (const Json& trial : read_list(object, "trials")) report.trials.push_back(read_trial(trial));
  for (const Json& value : read_list(object, "relevance")) {
    if (!value.is_number()) refuse("relevance", "numbers");
    report.relevance.push_back(value.get<double>());
  }
  report.warnings = read_warnings(object);
}

}  // namespace

model::FitReport parse_report(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
  require(object.is_object(), MERCER_INVALID_ARGUMENT, "report, expected a JSON object");
  model::FitReport report;
  if (object.empty()) return report;
  if (object.contains("variances")) {
    report.components = read_components(object);
    return report;
  }
  report.elbo = read_later(object, "elbo");
  report.log_evidence = read_later(object, "log_evidence");
  report.log_evidence_error = read_later(object, "log_evidence_error");
  report.variance_error = read_later(object, "variance_error");
  const size_t warns = object.count("warnings"), iterates = object.count("solver"),
               dense = object.count("density"), selects = object.count("inputs");
  if (selects > 0) report.inputs = read_inputs(object["inputs"]);
  if (object.size() == warns + iterates + dense + selects + object.count("elbo") +
                           object.count("log_evidence") + object.count("log_evidence_error") +
                           object.count("variance_error")) {
    if (iterates > 0) report.run = read_solver(object["solver"]);
    if (dense > 0) report.density = read_density(object["density"]);
    if (warns > 0) report.warnings = read_warnings(object);
    return report;
  }
  read_search(object, report);
  return report;
}

// What a model has of its rows.

namespace {

template <class Numbers>
std::vector<double> doubles(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Of ranks also what the curve makes of each knot: knots that are equal are a step.
std::shared_ptr<const Parameters> curve_of(const model::Curve& curve) {
  auto out = std::make_shared<Parameters>();
  out->set("transform", std::string(model::word_of(curve.kind)));
  out->set("knots", curve.knots);
  if (curve.kind != model::Transform::rank) return out;
  model::Curve places{curve.kind, {}};
  for (size_t k = 0; k < curve.knots.size(); ++k) places.knots.push_back(static_cast<double>(k));
  std::vector<double> at;
  for (const double place : places.knots) at.push_back(places(place));
  out->set("values", std::move(at));
  return out;
}

ObjectList curves_of(const std::vector<model::Curve>& curves) {
  ObjectList list;
  for (const model::Curve& curve : curves) list.push_back(curve_of(curve));
  return list;
}

}  // namespace

std::string print_preparation(const model::Model& model) {
  const model::Preparation& steps = model.preparation;
  Parameters out;
  std::vector<double> lowest, highest;
  for (const model::Range& range : model::clip_ranges(model)) {
    lowest.push_back(range.lowest);
    highest.push_back(range.highest);
  }
  NumberLists limits;
  for (const model::Limits& one : model::score_limits(model))
    limits.push_back({one.lowest, one.highest});
  out.set("lowest", std::move(lowest));
  out.set("highest", std::move(highest));
  out.set("fill", steps.fill);
  out.set("curves", curves_of(steps.curves));
  out.set("mean", steps.mean);
  out.set("scale", steps.scale);
  out.set("flagged", doubles(steps.flagged));
  out.set("norm", steps.row_norm);
  out.set("buckets", steps.hashing.buckets);
  out.set("target_curves", curves_of(steps.targets));
  out.set("limits", std::move(limits));
  out.set("slope", model.calibration.slope);
  out.set("offsets", model.calibration.offset);
  return print_object(out);
}

std::string print_numbers(const model::Model& model) {
  Parameters out;
  for (const NumberArray& array : model.map->numbers()) {
    auto one = std::make_shared<Parameters>();
    one->set("shape", doubles(array.shape));
    one->set("values",
             std::visit([](const auto& values) { return doubles(values); }, array.values));
    out.set(array.name, std::shared_ptr<const Parameters>(std::move(one)));
  }
  return print_object(out);
}

}  // namespace mercer::spec
