// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The entries of sketches: one for each family, made from its description, and those composed of
// them.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "feature/sketch.h"

namespace mercer::feature {
namespace {

using projection::SketchFamily;
using projection::SketchKind;

// Extents go to BLAS, whose LP64 interface has 32-bit integers.
constexpr double kMostLocation = 2147483647;

/// The first choice is the default.
Field choice(const char* key, std::vector<const char*> choices, const char* help) {
  Value first = std::string(choices.front());
  return {.key = key,
          .type = FieldType::text,
          .fallback = std::move(first),
          .choices = std::move(choices),
          .help = help};
}

/// The default is the first.
std::vector<Field> family_fields(const SketchFamily& family) {
  std::vector<Field> fields;
  if (family.kinds.size() > 1) {
    std::vector<const char*> kinds;
    for (const SketchKind& kind : family.kinds) kinds.push_back(kind.name);
    fields.push_back(choice("kind", std::move(kinds), family.kinds_help));
    fields.back().former = family.kinds_former;
  }
  fields.push_back(projection::kSketchField.field_of(family.fields));
  return fields;
}

std::vector<const char*> family_names() {
  std::vector<const char*> names;
  for (const SketchFamily& family : projection::sketch_families()) names.push_back(family.name);
  return names;
}

/// Kinds that can be projections of one factor, cheapest first.
std::vector<const SketchKind*> projections() {
  std::vector<const SketchKind*> kinds;
  const auto families = projection::sketch_families();
  for (auto family = families.rbegin(); family != families.rend(); ++family) {
    for (const SketchKind& kind : family->kinds) {
      if (kind.projection != nullptr) kinds.push_back(&kind);
    }
  }
  return kinds;
}

std::vector<const char*> projection_names() {
  std::vector<const char*> names;
  for (const SketchKind* kind : projections()) names.push_back(kind->projection);
  return names;
}

Field intermediate(const char* help) {
  return integer_field("intermediate", kOptional, 1, kMostLocation, help);
}

const SketchKind& kind_of(const std::string& map, const Parameters& own) {
  const Value* kind = own.find("kind");
  for (const SketchFamily& family : projection::sketch_families()) {
    if (map != family.name) continue;
    return kind == nullptr ? family.kinds.front()
                           : *projection::sketch_kind(std::get<std::string>(*kind));
  }
  fail(MERCER_INTERNAL, "map %s is no sketch", map.c_str());
}

SketchOptions plain_options(const std::string& map, const Parameters& own, uint64_t seed) {
  SketchOptions options;
  options.kind = &kind_of(map, own);
  options.field = projection::kSketchField.read(own);
  options.seed = seed;
  return options;
}

/// The step of a sketch, or of one made of it.
int64_t step_of(const MapArguments& a) {
  const Parameters& sketch = a.own.find("base") == nullptr ? a.own : a.own.object("base");
  return projection::kSketchField.read(sketch) == SketchField::complex_to_real ? 2 : 1;
}

std::unique_ptr<FeatureMap> plain_from(const MapArguments& a) {
  return make_sketch(a.kernel, a.inputs, a.features, plain_options(a.map, a.own, a.seed));
}

SketchOptions composed_options(const MapArguments& a, Composition composition) {
  SketchOptions options = sketch_options(a.own.object("base"), a.seed);
  options.composition = composition;
  if (a.own.find("intermediate") != nullptr) options.intermediate = a.own.integer("intermediate");
  return options;
}

std::unique_ptr<FeatureMap> hierarchical_from(const MapArguments& a) {
  return make_sketch(a.kernel, a.inputs, a.features,
                     composed_options(a, Composition::hierarchical));
}

std::unique_ptr<FeatureMap> craft_from(const MapArguments& a) {
  SketchOptions options = composed_options(a, Composition::craft);
  for (const SketchKind* kind : projections()) {
    if (a.own.text("projection") == kind->projection) options.down = kind;
  }
  return make_sketch(a.kernel, a.inputs, a.features, options);
}

}  // namespace

Field sketch_field(const char* key, Parameters fallback, const char* help) {
  return {.key = key,
          .type = FieldType::sketch,
          .fallback = std::make_shared<const Parameters>(std::move(fallback)),
          .choices = family_names(),
          .help = help,
          .canonical = canonical_sketch};
}

SketchOptions sketch_options(const Parameters& sketch, uint64_t seed) {
  return plain_options(sketch.text("map"), sketch, seed);
}

std::vector<MapEntry> sketch_entries() {
  const Field base = sketch_field("base", {{"map", "tensor_srht"}}, "the sketch it is made of");
  std::vector<MapEntry> entries;
  for (const SketchFamily& family : projection::sketch_families()) {
    entries.push_back({.name = family.name,
                       .help = family.help,
                       .fields = family_fields(family),
                       .make = plain_from,
                       .base = true});
  }
  entries.push_back(
      {.name = "hierarchical_sketch",
       .help = "binary tree of sketches of two inputs each, for high degrees",
       .fields = {base, intermediate("columns of the inner sketches; none: features")},
       .make = hierarchical_from});
  entries.push_back(
      {.name = "craft",
       .help = "a wide sketch projected down to `features` columns",
       .fields = {base, intermediate("columns of the wide sketch; none: 4 * features"),
                  choice("projection", projection_names(), "from the wide sketch to the features")},
       .make = craft_from});
  for (MapEntry& entry : entries) {
    entry.default_kernel = kernel_named("polynomial");
    entry.features_step = step_of;
  }
  return entries;
}

}  // namespace mercer::feature
