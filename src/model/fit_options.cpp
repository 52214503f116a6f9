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

}  // namespace mercer::model
