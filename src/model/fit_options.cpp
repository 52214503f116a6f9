// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The options of a fit, each declared once: key, range and help for a member of its struct. Specs,
// files, lists of what exists and builders in other languages follow from these tables.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "base/parameters.h"
#include "kernel/kernel.h"
#include "model/estimator/estimator_options.h"
#include "model/estimator/model_entry.h"
#include "model/fit.h"
#include "model/fit_checks.h"
#include "model/update.h"

namespace mercer::model {
namespace {

// Fields whose default is the member's.

Field boolean(const char* key, const char* help) {
  return {.key = key, .type = FieldType::boolean, .fallback = {}, .help = help};
}
Field word(const char* key, std::span<const char* const> words, const char* help) {
  return name_field(key, {words.begin(), words.end()}, help);
}
/// Left to the search by default.
Field open_word(const char* key, std::span<const char* const> words, const char* help) {
  return choice_field(key, words.back(), {words.begin(), words.end()}, help);
}
Field integer(const char* key, double least, double most, const char* help) {
  return integer_field(key, {}, least, most, help);
}
Field number_above_0(const char* key, const char* help) {
  Field field = number_above_field(key, 0, 0, kUnbounded, help);
  field.fallback = {};
  return field;
}

constexpr const char* kPrecisions[] = {"f32", "f64"};
constexpr const char* kPerInputWords[] = {"auto", "off", "on"};
constexpr const char* kSpectrumWords[] = {"drawn", "learnt"};
constexpr const char* kPartWords[] = {"given", "learnt"};
constexpr const char* kEffortWords[] = {"full", "quick"};
constexpr const char* kKeepWords[] = {"nothing", "sums"};

/// The names of a table, one for each enumerator; specs name all but the last `hidden`.
template <class Entry, size_t count>
std::vector<const char*> names_of(const Entry (&table)[count], size_t hidden = 0) {
  std::vector<const char*> names;
  for (size_t i = 0; i + hidden < count; ++i) names.push_back(table[i].name);
  return names;
}

using PreparationList = std::vector<Option<PreparationOptions>>;
PreparationList make_preparation_options() {
  return {
      option<&PreparationOptions::standardize>(
          boolean("standardize", "centre and scale every input inside the model")),
      option<&PreparationOptions::scale>(
          word("scale", kScales,
               "how inputs are standardised: mean and deviation; median and quartiles; mean alone; "
               "mean and one unit for all (the default of fields). Inputs of 0 and 1 stay as they "
               "are, except by common")),
      option<&PreparationOptions::missing>(
          word("missing", kMissingWords,
               "NaN inputs are refused, filled with the median, or filled and flagged by a further "
               "input of 0 and 1 for each input that was missing in training")),
      option<&PreparationOptions::transform>(open_word(
          "transform", kTransforms,
          "of each input: logarithm if skewed, or normal ranks; auto: the best in a search, "
          "else none")),
      option<&PreparationOptions::target_transform>(open_word(
          "target_transform", kTransforms,
          "of regression targets, undone in predictions; auto: the best in a search for skewed "
          "targets, else none")),
      option<&PreparationOptions::unit_rows>(boolean("unit_rows", "scale prepared rows to norm 1")),
      option<&PreparationOptions::extrapolation>(
          word("extrapolation", kExtrapolations,
               "how inputs outside their training range are treated"))};
}

std::vector<Option<Outputs>> make_outputs_options() {
  return {option<&Outputs::structure>(name_field(
              "structure", names_of(kStructureTraits),
              "Gamma in K = k Gamma, from the targets' correlations C, a graph's "
              "Laplacian L, the targets' mean squared distances S, or a matrix; auto: "
              "covariance (for a field its kernel), or independent if that is no worse")),
          option<&Outputs::weight>(
              number_field("weight", kOptional, 0, kUnbounded,
                           "w in (1 - w) I + w C, (I + w L)^-1, exp(-w S); absent: searched, or "
                           "0.5 with C, else 1")),
          option<&Outputs::matrix>({.key = "matrix",
                                    .type = FieldType::numbers_or_lists,
                                    .fallback = kOptional,
                                    .help = "p x p: weights of the graph, or Gamma"})};
}

std::vector<Option<SelectionOptions>> make_selection_options() {
  return {option<&SelectionOptions::selection>(choice_field(
              "by", "auto", names_of(kSelectionWays, 1),
              "the criterion minimised over the lambdas of the path; auto: leave_one_out, "
              "for grouped or ordered rows folds, for other losses than squares held_out")),
          option<&SelectionOptions::folds>(integer("folds", 2, 1e6, "the number of folds")),
          option<&SelectionOptions::held_out_fraction>({.key = "fraction",
                                                        .type = FieldType::number,
                                                        .fallback = {},
                                                        .least = 0,
                                                        .most = 1,
                                                        .least_open = true,
                                                        .most_open = true,
                                                        .help = "the share of rows held out"}),
          option<&SelectionOptions::lambda_largest>(number_above_0(
              "largest", "the largest lambda of the path, over the mean of k(x, x)")),
          option<&SelectionOptions::lambda_smallest>(number_above_0(
              "smallest", "the smallest lambda of the path, over the mean of k(x, x)")),
          option<&SelectionOptions::lambda_count>(
              integer("count", 1, 1000, "the number of lambdas, spaced geometrically"))};
}

std::vector<Option<FitOptions>> make_fit_options() {
  return {
      object_option<outputs_options, &FitOptions::outputs>(
          "outputs", "how several outputs are learnt together, or the structure's name alone"),
      object_option<preparation_options, &FitOptions::prepare>(
          "prepare", "how inputs and targets are prepared"),
      option<&FitOptions::estimate, &EstimatorOptions::center>(
          boolean("center", "fit an intercept")),
      option<&FitOptions::coding, &TargetOptions::task>(
          word("task", kTasks, "what the outputs are: numbers or classes")),
      option<&FitOptions::coding, &TargetOptions::classes>(integer(
          "classes", 0, 1e6, "the number of classes; 0: one more than the largest class number")),
      option<&FitOptions::estimate, &EstimatorOptions::precision>(word(
          "precision", kPrecisions, "of the features; sums and coefficients are always double")),
      option<&FitOptions::select, &SelectionOptions::seed>(
          {.key = "seed",
           .type = FieldType::seed,
           .fallback = {},
           .help = "of splits and samples, and of the map unless that has its own"}),
      option<&FitOptions::select, &SelectionOptions::ordered>(
          boolean("ordered",
                  "rows are in the order of time: held-out rows are later than the rows that "
                  "predict them")),
      option<&FitOptions::keep>(
          word("keep", kKeepWords,
               "of the rows in models ridge and gp: sums, 4 D^2 bytes, let mercer_model_update add "
               "rows and take rows away"))};
}

std::vector<Option<UpdateOptions>> make_update_options() {
  return {option<&UpdateOptions::decay>({.key = "decay",
                                         .type = FieldType::number,
                                         .fallback = {},
                                         .least = 0,
                                         .most = 1,
                                         .least_open = true,
                                         .help = "the factor of all earlier rows' weights"}),
          option<&UpdateOptions::remove>(
              boolean("remove", "take the rows away, with the weights that they have by now"))};
}

std::vector<Option<FitPlan>> make_choice_options() {
  return {
      option<&FitPlan::search, &SearchOptions::lengthscale>(
          number_above_field("lengthscale", kOptional, 0, kUnbounded,
                             "the kernel's, in units of prepared inputs; of several given with the "
                             "kernel, a factor of them; absent: searched, or without a search the "
                             "kernel's own or the rows' median distance")),
      option<&FitPlan::search, &SearchOptions::per_input>(
          word("ard", kPerInputWords,
               "whether a search learns a lengthscale for each input; auto: if there are enough "
               "rows, and kept if better")),
      option<&FitPlan::search, &SearchOptions::learns_spectrum>(
          word("spectrum", kSpectrumWords,
               "of Fourier features in a search of model gp by the evidence: drawn from the "
               "kernel's spectral distribution; learnt: frequencies and weights follow the "
               "evidence, and are kept if rows held out are likelier")),
      option<&FitPlan::search, &SearchOptions::learns_part_weights>(word(
          "part_weights", kPartWords,
          "the variances of the parts of a kernel sum in a search: given; learnt: those of the "
          "largest evidence of up to 1000 rows")),
      option<&FitPlan::search, &SearchOptions::most_features>(
          integer("most_features", 0, 2147483647.0,
                  "the limit to which a search doubles the features, if not given, while scores "
                  "improve; 0: 4096, while their square times the rows is at most 2^38")),
      option<&FitPlan::searches>(
          boolean("search",
                  "choose all that the spec leaves open, of streamed rows by a sample; false: "
                  "lambda alone (the default with a caller's map)")),
      option<&FitPlan::search, &SearchOptions::quick>(
          word("effort", kEffortWords,
               "of a search: full; quick: one lengthscale, inputs and targets as they are, 2048 "
               "features, least squares, and a score of rows left out once, wherever the spec does "
               "not say otherwise")),
      option<&FitPlan::search, &SearchOptions::budget>(number_above_field(
          "budget", kOptional, 0, kUnbounded,
          "the seconds within which a search ends, about, by leaving out what it "
          "has no time for, which warnings name; then results depend on the "
          "machine's speed, too; absent: none")),
      option<&FitPlan::search, &SearchOptions::assess>(
          boolean("assess", "score the search on rows that no choice has seen")),
      object_option<selection_options, &FitPlan::search, &SearchOptions::fit, &FitOptions::select>(
          "select", "how lambda is chosen without a search")};
}

}  // namespace

OptionTable<PreparationOptions> preparation_options() {
  return made_once<make_preparation_options>();
}
OptionTable<Outputs> outputs_options() { return made_once<make_outputs_options>(); }
OptionTable<SelectionOptions> selection_options() { return made_once<make_selection_options>(); }
OptionTable<FitOptions> fit_options() { return made_once<make_fit_options>(); }
OptionTable<UpdateOptions> update_options() { return made_once<make_update_options>(); }
OptionTable<FitPlan> choice_options() { return made_once<make_choice_options>(); }

std::vector<Field> structure_fields(OutputStructure structure) {
  const StructureTraits& traits = traits_of(structure);
  std::vector<Field> fields;
  for (Field& field : fields_of(outputs_options())) {
    const std::string_view key = field.key;
    if (key == "weight" && traits.most_weight < 0) continue;
    if (key == "matrix" && !traits.reads_matrix) continue;
    if (key == "weight") field.most = traits.most_weight;
    if (key == "matrix") field.fallback = {};
    fields.push_back(std::move(field));
  }
  return fields;
}

bool selection_reads(Selection by, std::string_view key) {
  if (key == "folds") return by == Selection::folds;
  if (key == "fraction") return by == Selection::held_out;
  return true;
}

std::vector<Field> selection_fields(Selection by) {
  std::vector<Field> fields = fields_of(selection_options());
  if (by != Selection::automatic)
    std::erase_if(fields, [&](const Field& field) { return !selection_reads(by, field.key); });
  return fields;
}

// What a plan comes to before its data are read, what the data decide of it, and which keys exclude each other.

namespace {

constexpr const char* kOfMap = "a fit with a map of the caller's";

bool gives(const FitPlan& plan, std::string_view key) {
  return std::ranges::find(plan.keys, key) != plan.keys.end();
}
/// UNSUPPORTED if the plan gives one of these keys: "key of `of`".
void refuse_keys(const FitPlan& plan, std::initializer_list<const char*> keys, const char* of,
                 const char* expected) {
  for (const char* key : keys)
    require(!gives(plan, key), MERCER_UNSUPPORTED, "key \"%s\" of %s, expected %s", key, of,
            expected);
}

/// Refuses keys of a search, unless they ask for nothing.
void refuse_search(const FitPlan& plan, const char* of) {
  const SearchOptions& search = plan.search;
  const auto refuse_choice = [&](const char* key, bool chosen) {
    require(!chosen || !gives(plan, std::string("prepare.") + key), MERCER_UNSUPPORTED,
            "prepare.%s = auto of %s, expected none, log or rank: a search chooses", key, of);
  };
  refuse_choice("transform", search.choose_transform);
  refuse_choice("target_transform", search.choose_target_transform);
  const auto refuse = [&](const char* key, bool asks) {
    if (asks) refuse_keys(plan, {key}, of, "it left out: it is of a search");
  };
  refuse("ard", search.per_input != PerInput::off);
  refuse("assess", search.assess);
  refuse("effort", search.quick);
  refuse("spectrum", search.learns_spectrum);
  refuse("part_weights", search.learns_part_weights);
  refuse("most_features", true);
  refuse("budget", true);
  require(!gives(plan, "search") || !plan.searches || plan.walks, MERCER_UNSUPPORTED,
          "search = true of %s, expected false, the default there", of);
}

/// The kind of fit, in refusals, that has no search; null: it has one.
const char* unsearched(const FitPlan& plan, const FitData& data) {
  if (!has_targets(plan)) return "a model without targets";
  if (data.source != nullptr && (data.map != nullptr || !plan.searches)) return kOfSource;
  if (data.map != nullptr) return kOfMap;
  return plan.searches ? nullptr : "a fit with \"search\": false";
}

/// Refuses options that conflict with a search, which begins with ridge and chooses lambda itself.
void check_searchable(const FitPlan& plan) {
  constexpr const char* kPlain = "it left out, or \"search\": false";
  const EstimatorOptions& asked = plan.search.fit.estimate;
  const bool last = is_fitted_last(asked);
  if (plan.search.given_features)
    refuse_keys(plan, {"most_features"}, "a search with map.features", "one of the two");
  refuse_keys(plan, {"solver"}, "a search", kPlain);
  if (!last)
    refuse_keys(plan, {"delta", "tau", "iterations", "tolerance"},
                "a search of logistic regression", kPlain);
  const bool evidence =
      asked.entry->keeps_posterior && plan.search.fit.select.selection == Selection::evidence;
  require(!plan.search.learns_spectrum || evidence, MERCER_UNSUPPORTED,
          "spectrum = learnt, expected model = gp with select.by = evidence for it");
  require(!last || !asks_local(asked.parameters), MERCER_UNSUPPORTED,
          "local fits of a search, which would choose by the fit about one centre, expected "
          "\"search\": false");
  for (const std::string& key : plan.keys)
    require(
        !key.starts_with("select.") || key == "select.fraction" || (key == "select.by" && evidence),
        MERCER_UNSUPPORTED,
        "%s of a search, which goes by leave-one-out or, above 3,000 rows, by rows held "
        "out, expected fraction alone, or \"search\": false",
        key.c_str());
}

/// Refuses what a search of rows that are not in memory does not serve: a sample of them chooses, and
/// features of all rows, in blocks, are fitted.
void check_sampled(const FitPlan& plan) {
  constexpr const char* kUnsearched = "\"search\": false";
  const FitOptions& fit = plan.search.fit;
  const ModelEntry& entry = *fit.estimate.entry;
  require(!is_fitted_last(fit.estimate) || entry.least_squares || entry.is_searched != nullptr,
          MERCER_UNSUPPORTED,
          "model = \"%s\" of a search of %s, expected ridge, logistic, gp, or %s", entry.name,
          kOfSource, kUnsearched);
  require(
      !fit.select.ordered, MERCER_UNSUPPORTED,
      "ordered = true of a search of %s, expected false, or %s: its sample chooses from rows of "
      "all times",
      kOfSource, kUnsearched);
  const OutputStructure outputs = fit.outputs.structure;
  require(outputs == OutputStructure::independent || outputs == OutputStructure::given,
          MERCER_UNSUPPORTED, "outputs of a search of %s, expected independent or given",
          kOfSource);
}

void settle_selection(FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  const EstimatorOptions& estimate = fit.estimate;
  SelectionOptions& select = fit.select;
  plan.open_selection = select.selection == Selection::automatic;
  if (plan.open_selection)
    select.selection = estimate.problem().iterative == solver::Iterative::no
                           ? estimate.entry->selection
                       : estimate.entry->keeps_posterior ? Selection::evidence
                                                         : Selection::held_out;
  check_path(select);
  for (const std::string& key : plan.keys) {
    if (!key.starts_with("select.")) continue;
    const std::string own = key.substr(key.find('.') + 1);
    require(selection_reads(select.selection, own) || (plan.searches && own == "fraction"),
            MERCER_INVALID_ARGUMENT,
            "%s with select.by = %s, which does not read it, expected it left out", key.c_str(),
            word_of(select.selection));
  }
  if (plan.search.lambda < 0) return;
  select.fix(plan.search.lambda);
  require(fit.estimate.entry->selection == Selection::fixed || !gives(plan, "select"),
          MERCER_UNSUPPORTED, "key \"select\" of a fit with \"lambda\", expected one of the two");
}

/// What is open is left to a search, also in a plan that turns out to have none; a quick search takes
/// what costs least.
void settle_search(FitPlan& plan) {
  SearchOptions& search = plan.search;
  FitOptions& fit = search.fit;
  const auto choose = [](Transform& asked) {
    return asked == Transform::automatic && (asked = Transform::none, true);
  };
  search.choose_transform = choose(fit.prepare.transform);
  search.choose_target_transform = choose(fit.prepare.target_transform);
  fit.outputs.or_independent = fit.outputs.structure == OutputStructure::automatic;
  if (fit.outputs.or_independent) fit.outputs.structure = OutputStructure::covariance;
  if (fit.keep != Keep::nothing) search.estimator = Estimator::ridge;
  if (plan.names_model)
    search.estimator = fit.estimate.entry->least_squares ? Estimator::ridge : Estimator::logistic;
  if (search.quick) {
    search.choose_transform = search.choose_target_transform = false;
    if (search.per_input == PerInput::automatic) search.per_input = PerInput::off;
    if (!plan.names_model) search.estimator = Estimator::ridge;
  }
  search.held_out_fraction = fit.select.held_out_fraction;
  const Value* const features = plan.map.find("features");
  search.given_features = features != nullptr;
  // The map refuses another type.
  if (features != nullptr && std::holds_alternative<int64_t>(*features))
    search.features = std::get<int64_t>(*features);
}

}  // namespace

void count_classes(FitPlan& plan, const FitData& data) {
  TargetOptions& coding = plan.search.fit.coding;
  if (coding.targets != Targets::given) return;
  if (coding.task == Task::regression) {
    require(coding.classes == 0, MERCER_INVALID_ARGUMENT,
            "classes = %ld of task = \"regression\", expected 0", coding.classes);
    return;
  }
  const MatrixView<const double>& Y = data.rows.Y;
  const int64_t targets = data.source == nullptr ? Y.cols : data.targets;
  require(targets == 1, MERCER_DIMENSION_MISMATCH,
          "Y.d = %ld, expected 1 of class numbers because task = \"classification\"", targets);
  if (coding.classes > 0) return;
  require(data.source == nullptr, MERCER_INVALID_ARGUMENT, "classes = 0 of %s, expected K",
          kOfSource);
  double largest = 0;
  bool begins_at_0 = false;
  for (int64_t i = 0; i < Y.rows; ++i) {
    largest = std::max(largest, Y(i, 0));
    begins_at_0 = begins_at_0 || Y(i, 0) == 0;
  }
  coding.classes = class_count(largest, begins_at_0, Y);
}

int64_t class_count(double largest, bool begins_at_0, MatrixView<const double> Y) {
  require(begins_at_0, MERCER_INVALID_ARGUMENT,
          "Y has no row of class 0, expected classes numbered from 0, or \"classes\": K");
  require(largest >= 1 && largest < kMostClasses, MERCER_INVALID_ARGUMENT,
          "the largest class number in Y is %g, expected 1 to 999999", largest);
  const auto K = static_cast<int64_t>(largest) + 1;
  std::vector<char> has_rows(static_cast<size_t>(K), 0);
  for (int64_t i = 0; i < Y.rows; ++i)
    if (Y(i, 0) >= 0 && Y(i, 0) < static_cast<double>(K))
      has_rows[static_cast<size_t>(Y(i, 0))] = 1;
  const auto present = std::ranges::count(has_rows, 1);
  require(2 * present >= K, MERCER_INVALID_ARGUMENT,
          "the largest class number in Y is %ld, but rows are of %ld of the numbers up to it, "
          "expected classes numbered from 0 without gaps, or \"classes\": %ld",
          K - 1, present, K);
  return K;
}

void settle_spec(FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  const ModelEntry& entry = *fit.estimate.entry;
  if (entry.targets != nullptr) {
    fit.coding.targets = entry.targets(fit.estimate.parameters);
    require(fit.coding.task == Task::regression && fit.coding.classes == 0 && !fit.select.ordered,
            MERCER_UNSUPPORTED,
            "task, classes or ordered of a model without targets, expected them left out");
  }
  if (entry.unclipped && !gives(plan, "prepare.extrapolation"))
    fit.prepare.extrapolation = Extrapolation::free;
  settle_selection(plan);
  settle_search(plan);
  check_kept(fit);
}

void settle_data(FitPlan& plan, const FitData& data) {
  FitOptions& fit = plan.search.fit;
  const char* const of = unsearched(plan, data);
  plan.walks = !has_targets(plan) && plan.searches && data.source == nullptr &&
               data.map == nullptr && fit.select.selection != Selection::fixed;
  if (of != nullptr) {
    refuse_search(plan, of);
    plan.searches = false;
  }
  if (!has_targets(plan)) {
    if (fit.estimate.entry->selection == Selection::fixed)
      refuse_keys(plan, {"select"}, of, "it left out: nothing is chosen");
    require(data.rows.groups.empty(), MERCER_UNSUPPORTED,
            "groups of rows without targets, expected none");
  }
  if (data.source == nullptr) count_classes(plan, data);
  const int64_t rows = data.rows.X.rows();
  if (!gives(plan, "select.folds") && fit.select.folds == SelectionOptions().folds && rows >= 2)
    fit.select.folds = std::min(fit.select.folds, rows);
  const bool exchangeable = data.rows.groups.empty() && !fit.select.ordered;
  if (!exchangeable && plan.open_selection && fit.select.selection == Selection::leave_one_out)
    fit.select.selection = Selection::folds;
  if (plan.searches && data.source != nullptr) check_sampled(plan);
  if (data.map != nullptr) {
    follow_kernel(data.map->kernel(), plan);
    refuse_keys(plan, {"map", "lengthscale"}, kOfMap, "one of the two");
    require(data.source == nullptr || data.inputs == data.map->inputs(), MERCER_DIMENSION_MISMATCH,
            "data->source->d = %ld, expected the map's inputs, %ld", data.inputs,
            data.map->inputs());
  } else if (plan.searches) {
    check_searchable(plan);
  }
}

/// Rows may be codes that only the caller's kernel understands.
static void keep_inputs(FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  if (!gives(plan, "prepare.standardize") && !gives(plan, "prepare.scale"))
    fit.prepare.standardize = false;
  if (!gives(plan, "prepare.transform")) plan.search.choose_transform = false;
  if (!gives(plan, "prepare.extrapolation")) fit.prepare.extrapolation = Extrapolation::free;
  if (!gives(plan, "precision")) fit.estimate.precision = feature::Precision::f64;
}

void follow_kernel(const kernel::Kernel& kernel, FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  if (kernel.traits().calls != kernel::Calls::none) keep_inputs(plan);
  plan.search.independent = {fit.prepare.scale, plan.search.choose_transform,
                             plan.search.choose_target_transform};
  const kernel::MatrixKernel* const matrix = kernel.matrix();
  if (matrix == nullptr) return;
  require(fit.keep == Keep::nothing, MERCER_UNSUPPORTED, kKeptOfOutputs);
  plan.search.choose_target_transform = false;
  if (fit.outputs.or_independent) fit.outputs.structure = OutputStructure::independent;
  if (matrix->is_of_directions()) {
    plan.search.choose_transform = false;
    if (!gives(plan, "prepare.scale") && fit.prepare.standardize) fit.prepare.scale = Scale::common;
  }
  check_outputs(kernel, fit);
}

HermiteOptions options_of_sets(const FitPlan& plan, bool has_map) {
  const FitOptions& fit = plan.search.fit;
  const auto is_of = [](const std::string& key, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return key == name || (key.starts_with(name) && key[name.size()] == '.');
    });
  };
  for (const std::string& key : plan.keys)
    require(is_of(key, {"model", "lambda", "noise", "center", "seed", "select"}) ||
                (!has_map && is_of(key, {"map", "lengthscale"})),
            MERCER_UNSUPPORTED,
            "key \"%s\" of sets of observations, expected model, lambda, noise, select, seed and "
            "center, and map and lengthscale without a map of your own: X is what the map is given",
            key.c_str());
  const ModelEntry& entry = *fit.estimate.entry;
  require(entry.least_squares, MERCER_UNSUPPORTED,
          "model = \"%s\" of sets of observations, expected ridge or gp", entry.name);
  HermiteOptions options{
      fit.select.lambda, fit.estimate.center, {}, &entry, fit.estimate.parameters};
  if (fit.select.selection == Selection::fixed) return options;
  options.select = fit.select;
  if (plan.open_selection) options.select->selection = Selection::folds;
  require(options.select->selection == Selection::folds, MERCER_UNSUPPORTED,
          "select.by = %s of sets of observations, expected folds, or \"lambda\"",
          word_of(fit.select.selection));
  return options;
}

}  // namespace mercer::model
