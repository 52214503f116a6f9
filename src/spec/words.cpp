// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/words.h"

namespace mercer::spec {
namespace {

Field choice(const char* key, const char* fallback, std::vector<const char*> words,
             const char* help) {
  return {.key = key,
          .type = FieldType::text,
          .fallback = fallback,
          .choices = std::move(words),
          .help = help};
}

}  // namespace

std::vector<Field> preparation_fields() {
  return {
      choice("scale", "standard", choices_of(kScales),
             "how inputs are standardised: mean and deviation, median and quartiles, mean alone; "
             "inputs of 0 and 1 stay as they are"),
      choice("missing", "refuse", choices_of(kMissing),
             "inputs of NaN: refused, filled with the median, or that and a flag of 0 and 1 for "
             "each input that missed some in training"),
      choice("transform", "none", choices_of(kTransforms),
             "of inputs: log of skewed ones, or normal ranks"),
      choice("target_transform", "none", choices_of(kTransforms),
             "of a regression's targets, undone in predictions"),
      {.key = "unit_rows",
       .type = FieldType::boolean,
       .fallback = false,
       .help = "scale prepared rows to norm 1"},
      choice("extrapolation", "clip", choices_of(kExtrapolations),
             "what becomes of inputs outside their training range"),
  };
}

void set_preparation(const model::FitOptions& options, Parameters& to) {
  to.set("scale", word_of(kScales, options.scale));
  to.set("missing", word_of(kMissing, options.missing));
  to.set("transform", word_of(kTransforms, options.transform));
  to.set("target_transform", word_of(kTransforms, options.target_transform));
  to.set("unit_rows", options.unit_rows);
  to.set("extrapolation", word_of(kExtrapolations, options.extrapolation));
}

void read_preparation(const Parameters& from, model::FitOptions& options) {
  options.scale = enumerator_of<model::Scale>(kScales, from.text("scale"));
  options.missing = enumerator_of<model::Missing>(kMissing, from.text("missing"));
  options.transform = enumerator_of<model::Transform>(kTransforms, from.text("transform"));
  options.target_transform =
      enumerator_of<model::Transform>(kTransforms, from.text("target_transform"));
  options.unit_rows = from.boolean("unit_rows");
  options.extrapolation =
      enumerator_of<model::Extrapolation>(kExtrapolations, from.text("extrapolation"));
}

}  // namespace mercer::spec
