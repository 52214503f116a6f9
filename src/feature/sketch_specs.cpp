// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The sketches' rows of the table of maps, and what their fields say as options.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feature/sketch.h"

namespace mercer::feature {
namespace {

using projection::Mixing;

// Extents go to BLAS, whose LP64 interface has 32-bit integers.
constexpr double kMostExtent = 2147483647;

/// The first choice is the default.
Field choice(const char* key, std::vector<const char*> choices, const char* help) {
  Value first = std::string(choices.front());
  return {.key = key,
          .type = FieldType::text,
          .fallback = std::move(first),
          .choices = std::move(choices),
          .help = help};
}

Field field_of_columns(std::vector<const char*> choices) {
  return choice("field", std::move(choices),
                "of weights and columns; complex_to_real: [Re | Im] of features/2 complex columns, "
                "features even");
}

Field base() {
  Parameters sketch;
  sketch.set("map", "tensor_srht");
  return {.key = "base",
          .type = FieldType::sketch,
          .fallback = std::make_shared<const Parameters>(std::move(sketch)),
          .choices = {"product_sketch", "tensor_sketch", "tensor_srht"},
          .help = "the sketch it is made of",
          .canonical = canonical_sketch};
}

Field intermediate(const char* help) {
  return {.key = "intermediate",
          .type = FieldType::integer,
          .fallback = std::numeric_limits<double>::quiet_NaN(),
          .least = 1,
          .most = kMostExtent,
          .help = help};
}

std::unique_ptr<FeatureMap> sketch_from(const char* map, const MapArguments& arguments) {
  return make_sketch(arguments.kernel, arguments.inputs, arguments.features,
                     sketch_options(map, arguments.own, arguments.seed));
}

Mixing mixing_of(std::string_view map, const Parameters& own) {
  if (map == "tensor_sketch") return Mixing::tensor_sketch;
  if (map == "product_sketch")
    return own.text("weights") == "gaussian" ? Mixing::gaussian : Mixing::rademacher;
  const std::string& variant = own.text("variant");
  return variant == "upsampled" ? Mixing::upsampled
         : variant == "stacked" ? Mixing::stacked
                                : Mixing::tuple;
}

SketchField field_of(const std::string& text) {
  return text == "real"      ? SketchField::real
         : text == "complex" ? SketchField::complex
                             : SketchField::complex_to_real;
}

Mixing down_of(const std::string& text) {
  return text == "srht"         ? Mixing::stacked
         : text == "rademacher" ? Mixing::rademacher
                                : Mixing::gaussian;
}

}  // namespace

SketchOptions sketch_options(std::string_view map, const Parameters& own, uint64_t seed) {
  const bool is_plain = own.find("base") == nullptr;
  const Parameters& plain = is_plain ? own : own.object("base");
  SketchOptions options;
  options.mixing = mixing_of(is_plain ? map : plain.text("map"), plain);
  options.field = field_of(plain.text("field"));
  options.seed = seed;
  if (is_plain) return options;
  options.composition = map == "craft" ? Composition::craft : Composition::hierarchical;
  if (own.find("intermediate") != nullptr) options.intermediate = own.integer("intermediate");
  if (map == "craft") options.down = down_of(own.text("projection"));
  return options;
}

std::vector<MapEntry> sketch_table() {
  std::vector<MapEntry> table = {
      {.name = "product_sketch",
       .help = "products of `degree` random projections, for polynomial and bilinear kernels; "
               "degree*d*D per row",
       .fields = {choice("weights", {"rademacher", "gaussian"},
                         "law of the projections; rademacher has the lower variance"),
                  field_of_columns({"real", "complex", "complex_to_real"})},
       .make = [](const MapArguments& a) { return sketch_from("product_sketch", a); },
       .base = true},
      {.name = "tensor_sketch",
       .help = "circular convolution of `degree` CountSketches by FFT; degree*(nnz + D log D) per "
               "row, nnz non-zeros",
       .fields = {field_of_columns({"real", "complex_to_real", "complex"})},
       .make = [](const MapArguments& a) { return sketch_from("tensor_sketch", a); },
       .base = true},
      {.name = "tensor_srht",
       .help = "products of `degree` subsampled randomised Hadamard transforms; degree*(d log d + "
               "D) per row",
       .fields = {choice("variant", {"upsampled", "stacked", "tuple"},
                         "how columns of the transforms meet; stacked: independent blocks; tuple: "
                         "without replacement, features at most d^degree"),
                  field_of_columns({"complex_to_real", "real", "complex"})},
       .make = [](const MapArguments& a) { return sketch_from("tensor_srht", a); },
       .base = true},
      {.name = "hierarchical_sketch",
       .help = "binary tree of sketches of two inputs each, for high degrees",
       .fields = {base(), intermediate("columns of the inner sketches; none: features")},
       .make = [](const MapArguments& a) { return sketch_from("hierarchical_sketch", a); }},
      {.name = "craft",
       .help = "a wide sketch projected down to `features` columns",
       .fields = {base(), intermediate("columns of the wide sketch; none: 4 * features"),
                  choice("projection", {"srht", "rademacher", "gaussian"},
                         "from the wide sketch to the features")},
       .make = [](const MapArguments& a) { return sketch_from("craft", a); }},
  };
  for (MapEntry& entry : table) entry.default_kernel = kernel_named("polynomial");
  return table;
}

}  // namespace mercer::feature
