// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel PCA on the features of a map, without targets (solver/principal_components.h). Scores are
// linear in the features. Pre-images are ridge regression of the prepared inputs on the scores.
#include "base/error.h"
#include "base/fields.h"
#include "model/estimator/model_entry.h"
#include "solver/principal_components.h"

namespace mercer::model {
namespace {

constexpr const char* kComponents = "components";
constexpr const char* kPreimages = "preimages";

Targets targets_of(const Parameters& own) {
  return own.boolean(kPreimages) ? Targets::inputs : Targets::none;
}

void check_kernel_pca(const FitOptions& asked) {
  const PreparationOptions& prepare = asked.prepare;
  require(asked.outputs.structure == OutputStructure::independent &&
              prepare.target_transform == Transform::none,
          MERCER_UNSUPPORTED,
          "outputs or prepare.target_transform with model = kernel_pca, expected them left out: it "
          "has no targets");
  const bool back = targets_of(asked.estimate.parameters) == Targets::inputs;
  require(
      back || asked.select.lambda == 0, MERCER_INVALID_ARGUMENT,
      "lambda = %g with model = kernel_pca, expected 0 without \"preimages\": true, whose it is",
      asked.select.lambda);
  require(!back || (!prepare.unit_rows && prepare.missing != Missing::flag && prepare.buckets == 0),
          MERCER_UNSUPPORTED,
          "preimages with prepare.unit_rows or prepare.missing = flag, expected inputs that can be "
          "had back");
}

EstimatorFit fit_kernel_pca(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                            const TargetOptions&, const SelectionOptions& selecting,
                            Context& context) {
  const Value* const count = estimating.parameters.find(kComponents);
  solver::PrincipalComponents found = solver::principal_components(
      rows, {count == nullptr ? 0 : std::get<int64_t>(*count), estimating.center, selecting.lambda},
      context);
  EstimatorFit learned{make_linear(std::move(found.scores)), selecting.lambda, {}, {}};
  learned.components = {std::move(found.variances), found.total};
  if (rows.outputs() > 0) learned.preimage = make_linear(std::move(found.targets));
  return learned;
}

}  // namespace

const ModelEntry& kernel_pca_model() {
  static const ModelEntry entry = linear_entry(
      {.name = "kernel_pca",
       .help = "principal components of the features of a map, without targets",
       .fields = {count_field(kComponents, kOptional, 1e6,
                              "k; absent: the fewest that explain 95 % of the variance, at most "
                              "100"),
                  {.key = kPreimages,
                   .type = FieldType::boolean,
                   .fallback = false,
                   .help = "learn to reconstruct inputs, for \"preimage\" of a prediction"},
                  number_field("lambda", 0, 0, kUnbounded,
                               "of the ridge regression for pre-images")},
       .selection = Selection::fixed,
       .fit = fit_kernel_pca,
       .check = check_kernel_pca,
       .targets = targets_of});
  return entry;
}

}  // namespace mercer::model
