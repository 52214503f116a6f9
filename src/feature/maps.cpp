// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of what maps exist. A new map is a row here and a .cpp of its own; the sketches' rows
// are in sketch_specs.cpp.
#include "base/error.h"
#include "base/once.h"
#include "feature/fourier.h"
#include "feature/linear.h"
#include "feature/map_entry.h"
#include "feature/sketch.h"

namespace mercer::feature {
namespace {

FourierForm form_of(const std::string& text) {
  return text == "pair"    ? FourierForm::pair
         : text == "phase" ? FourierForm::phase
                           : FourierForm::complex;
}

std::vector<const char*> projection_names() {
  std::vector<const char*> names;
  for (const projection::ProjectionEntry* entry : projection::projection_table())
    names.push_back(entry->name);
  names.push_back("supplied");
  return names;
}

std::unique_ptr<FeatureMap> fourier_from(const MapArguments& arguments) {
  FourierOptions options;
  options.projection = arguments.own.text("projection");
  options.form = form_of(arguments.own.text("form"));
  options.seed = arguments.seed;
  options.radius = arguments.own.text("radius") == "fixed" ? projection::Radius::fixed
                                                           : projection::Radius::drawn;
  options.scramble = arguments.own.text("scramble") == "owen" ? projection::Scramble::owen
                                                              : projection::Scramble::digital_shift;
  options.whole_blocks = arguments.own.boolean("whole_blocks");
  if (options.projection != "supplied") {
    return make_fourier(arguments.kernel, arguments.inputs, arguments.features, options);
  }
  const int64_t d = arguments.inputs;
  const int64_t F = options.form == FourierForm::pair ? arguments.features / 2 : arguments.features;
  const int64_t numbers = static_cast<int64_t>(arguments.numbers.size());
  require(numbers > 0, MERCER_UNSUPPORTED,
          "projection = supplied needs the frequencies themselves: use the typed constructor or a "
          "file");
  require(d >= 1 && F >= 1 && numbers % (d + 1) == 0 && numbers / (d + 1) == F &&
              (options.form != FourierForm::pair || arguments.features % 2 == 0),
          MERCER_CORRUPT_FILE,
          "%lld numbers do not make %lld frequencies of %lld inputs with weights",
          static_cast<long long>(numbers), static_cast<long long>(F), static_cast<long long>(d));
  return make_fourier_supplied(arguments.kernel, {arguments.numbers.data(), F, d},
                               arguments.numbers.subspan(static_cast<size_t>(F * d)), options);
}

std::unique_ptr<FeatureMap> linear_from(const MapArguments& arguments) {
  const std::string& name = arguments.own.text("projection");
  const LinearProjection projection = name == "gaussian"     ? LinearProjection::gaussian
                                      : name == "rademacher" ? LinearProjection::rademacher
                                      : name == "srht"       ? LinearProjection::srht
                                                             : LinearProjection::countsketch;
  return make_linear(arguments.kernel, arguments.inputs, arguments.features,
                     {projection, arguments.seed});
}

/// The inner product: the polynomial of the default degree 2 has no linear map.
Parameters inner_product() {
  Parameters kernel = kernel_named("polynomial");
  kernel.set("degree", int64_t{1});
  return kernel;
}

std::vector<MapEntry> make_table() {
  std::vector<MapEntry> table = {
      {"fourier",
       "random Fourier features of a shift-invariant kernel: cos and sin of x'omega, omega from "
       "the spectral law",
       {{.key = "projection",
         .type = FieldType::text,
         .fallback = std::string("dense"),
         .choices = projection_names(),
         .help = "how frequencies are drawn; supplied: the caller's own, kept in files only"},
        {.key = "form",
         .type = FieldType::text,
         .fallback = std::string("pair"),
         .choices = {"pair", "phase", "complex"},
         .help = "pair: [cos | sin], features even; phase: sqrt(2) cos(. + b); complex: exp(i .)"},
        {.key = "radius",
         .type = FieldType::text,
         .fallback = std::string("drawn"),
         .choices = {"drawn", "fixed"},
         .help = "norms of the columns of sorf and fastfood; fixed: normal spectra only"},
        {.key = "scramble",
         .type = FieldType::text,
         .fallback = std::string("owen"),
         .choices = {"owen", "digital_shift"},
         .help = "randomisation of sobol and halton points"},
        {.key = "whole_blocks",
         .type = FieldType::boolean,
         .fallback = false,
         .help = "round features down to whole blocks of a structured projection",
         .former = "round_blocks"}},
       fourier_from},
      {"linear",
       "random projection that keeps inner products, for the kernel polynomial with degree 1 and "
       "offset 0",
       {{.key = "projection",
         .type = FieldType::text,
         .fallback = std::string("gaussian"),
         .choices = {"gaussian", "rademacher", "srht", "countsketch"},
         .help = "i.i.d. entries; srht: Hadamard blocks, D log d per row; countsketch: one "
                 "addition per non-zero"}},
       linear_from,
       inner_product()},
  };
  for (MapEntry& entry : sketch_table()) table.push_back(std::move(entry));
  return table;
}

}  // namespace

std::span<const MapEntry> map_table() { return made_once<make_table>(); }

}  // namespace mercer::feature
