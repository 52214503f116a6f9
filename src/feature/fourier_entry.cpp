// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier features from specs and files, which hold frequencies that were supplied.
#include <array>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/size.h"
#include "feature/field/field_makers.h"
#include "feature/fourier_parts.h"
#include "feature/leverage_frequencies.h"
#include "feature/map_entry.h"
#include "feature/supplied.h"

namespace mercer::feature {
namespace {

/// Files from before arrays had names hold the frequencies row by row, then one weight for each.
std::unique_ptr<FeatureMap> supplied_from_unnamed(const MapArguments& arguments, int64_t F,
                                                  const FourierOptions& options) {
  const int64_t d = arguments.inputs;
  const std::array<int64_t, 1> any = {-1};
  const std::vector<double>& all = find_doubles(arguments.data.numbers, "", any);
  const auto numbers = static_cast<int64_t>(all.size());
  require(numbers % (d + 1) == 0 && numbers / (d + 1) == F, MERCER_CORRUPT_FILE,
          "%ld numbers do not make %ld frequencies of %ld inputs with weights", numbers, F, d);
  return make_fourier_supplied(arguments.kernel, {all.data(), F, d}, std::span(all).subspan(F * d),
                               options);
}

std::unique_ptr<FeatureMap> rooted_from(const MapArguments& arguments,
                                        const FourierOptions& options,
                                        std::span<const int64_t> shape) {
  const std::span<const NumberArray> arrays = arguments.data.numbers;
  const int64_t F = shape.empty() ? 0 : shape[0], d = arguments.inputs;
  const std::vector<double>& B = find_doubles(arrays, kRoots, std::array<int64_t, 3>{F, -1, -1});
  const SuppliedRoots roots{shape[1], shape[2], B};
  require(arguments.features == checked_multiply(2 * F, roots.q, "features"), MERCER_CORRUPT_FILE,
          "%ld features of %ld frequencies with roots of %ld columns, expected twice as many as "
          "of both",
          arguments.features, F, roots.q);
  const std::vector<double>& W = find_doubles(arrays, "frequencies", std::array<int64_t, 2>{F, d});
  return make_field_supplied(arguments.kernel, {W.data(), F, d},
                             find_doubles(arrays, "weights", std::array<int64_t, 1>{F}), roots,
                             options);
}

std::unique_ptr<FeatureMap> supplied_from(const MapArguments& arguments,
                                          const FourierOptions& options) {
  const std::span<const NumberArray> arrays = arguments.data.numbers;
  require(!arrays.empty(), MERCER_UNSUPPORTED,
          "projection = supplied needs the frequencies themselves: use "
          "mercer_map_fit, or a file");
  const bool pair = options.form == FourierForm::pair;
  const int64_t d = arguments.inputs, F = pair ? arguments.features / 2 : arguments.features;
  require(F >= 1 && (!pair || arguments.features % 2 == 0), MERCER_CORRUPT_FILE,
          "%ld features of form = pair, expected an even number", arguments.features);
  for (const NumberArray& array : arrays)
    if (array.name == kRoots) return rooted_from(arguments, options, array.shape);
  if (arrays.front().name.empty()) return supplied_from_unnamed(arguments, F, options);
  const std::vector<double>& W = find_doubles(arrays, "frequencies", std::array<int64_t, 2>{F, d});
  return make_fourier_supplied(arguments.kernel, {W.data(), F, d},
                               find_doubles(arrays, "weights", std::array<int64_t, 1>{F}), options);
}

std::unique_ptr<FeatureMap> by_leverage(const MapArguments& arguments,
                                        const FourierOptions& options,
                                        const LeverageOptions& leverage) {
  const bool pair = options.form == FourierForm::pair;
  require(!pair || arguments.features % 2 == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected an even number for the form pair", arguments.features);
  options.check();
  const int64_t F = options.columns(arguments.inputs, arguments.features / (pair ? 2 : 1));
  return make_fourier_by_leverage(arguments.kernel, *arguments.data.rows, F, options, leverage,
                                  *arguments.data.context);
}

/// A map says its bias in its spec; nobody asks for another.
void check_bias(const MapArguments& arguments) {
  const std::optional<kernel::StandIn> stand_in = arguments.kernel.stand_in(arguments.inputs);
  const double said[] = {stand_in ? stand_in->largest_bias : 0, stand_in ? stand_in->rms_bias : 0};
  for (int i = 0; i < 2; ++i) {
    const char* const key = kBiasKeys[i];
    require(
        arguments.own.find(key) == nullptr || (stand_in && arguments.own.number(key) == said[i]),
        MERCER_INVALID_ARGUMENT, "%s is given, expected it left out: the bias is %g", key, said[i]);
  }
}

std::unique_ptr<FeatureMap> on_grid(const MapArguments& arguments, const FourierOptions& options,
                                    bool leverage) {
  require(!leverage, MERCER_UNSUPPORTED,
          "weights = leverage does not apply to projection = grid, whose columns have weights");
  GridRequest request = read_grid(arguments.own);
  if (request.diameter.empty() && arguments.data.rows != nullptr)
    request.diameter = diameters(*arguments.data.rows, *arguments.data.context);
  return make_fourier_on_grid(arguments.kernel, arguments.inputs, arguments.features, options,
                              std::move(request));
}

/// "diameter" and "step" say all that rows would.
bool leaves_diameter(const Parameters& canonical) {
  return canonical.text("projection") == kGrid && canonical.find("diameter") == nullptr &&
         canonical.find("step") == nullptr;
}

std::unique_ptr<FeatureMap> fourier_from(const MapArguments& arguments) {
  check_bias(arguments);
  const std::optional<LeverageOptions> leverage = read_leverage(arguments.own);
  require(!leverage || arguments.kernel.matrix() == nullptr, MERCER_UNSUPPORTED,
          "weights = leverage of kernel %s, expected a kernel of one output",
          std::string(arguments.kernel.name()).c_str());
  if (arguments.own.text("projection") != kGrid) refuse_grid_fields(arguments.own);
  if (arguments.kernel.matrix() != nullptr) return make_field_fourier(arguments);
  const FourierOptions options{read_projection_choice(arguments.own),
                               kFourierForm.read(arguments.own), arguments.seed};
  if (options.projection == kGrid) return on_grid(arguments, options, leverage.has_value());
  if (leverage) return by_leverage(arguments, options, *leverage);
  if (options.projection != kSupplied) {
    return make_fourier(arguments.kernel, arguments.inputs, arguments.features, options);
  }
  return supplied_from(arguments, options);
}

/// Checks a size that a spec may leave out.
void check_size(const Parameters& given, const char* key, int64_t size) {
  const Value* const said = given.find(key);
  require(said == nullptr || *said == Value(size), MERCER_DIMENSION_MISMATCH,
          "%s is not that of the frequencies, expected %ld", key, size);
}

}  // namespace

std::unique_ptr<FeatureMap> make_supplied(Parameters given, const kernel::Kernel* kernel,
                                          const SuppliedFrequencies& supplied) {
  const int64_t F = supplied.W.rows, d = supplied.W.cols;
  Parameters filled = given;
  if (given.find("map") == nullptr) filled.set("map", std::string("fourier"));
  require(map_entry(filled).make == fourier_from, MERCER_UNSUPPORTED,
          "map %s takes no frequencies of the caller's, expected fourier", map_entry(filled).name);
  filled.set("inputs", d);
  filled.set("features", checked_multiply(2, F, "features"));
  const Parameters canonical = canonical_map(filled, "", Data::refused);
  const FourierOptions options{read_projection_choice(canonical), kFourierForm.read(canonical),
                               canonical.seed("seed")};
  require(!read_leverage(canonical), MERCER_UNSUPPORTED,
          "weights = leverage of supplied frequencies, expected it left out: these have weights");
  const std::string drawn = ProjectionChoice{}.projection;
  require(options.projection == drawn, MERCER_UNSUPPORTED,
          "projection = %s, expected %s for supplied frequencies", options.projection.c_str(),
          drawn.c_str());
  const int64_t columns = options.form == FourierForm::pair ? 2 * F : F;
  check_size(given, "inputs", d);
  check_size(given, "features", supplied.roots ? columns * supplied.roots->q : columns);
  const std::unique_ptr<kernel::Kernel> own =
      kernel == nullptr ? kernel::make_kernel(canonical.object("kernel")) : kernel->copy();
  own->check_dimension(d);
  if (supplied.roots)
    return make_field_supplied(*own, supplied.W, supplied.weights, *supplied.roots, options);
  return make_fourier_supplied(*own, supplied.W, supplied.weights, options);
}

MapEntry fourier_entry() {
  std::vector<Field> fields = projection_fields(
      "how frequencies are drawn; grid: not at all, few inputs, spectral densities that fall along "
      "every axis; supplied: the caller's own, kept in files only",
      {kGrid, kSupplied});
  fields.insert(fields.begin() + 1, kFourierForm.field());
  for (Field& field : leverage_fields()) fields.push_back(std::move(field));
  fields.push_back(number_field(kBiasKeys[0], kOptional, 0, kUnbounded,
                                "said by the map of sphere_polynomial: the largest bias of its "
                                "estimate over distances from 0 to 2"));
  fields.push_back(number_field(kBiasKeys[1], kOptional, 0, kUnbounded,
                                "and the root of the mean square of the bias"));
  for (Field& field : grid_fields()) fields.push_back(std::move(field));
  return {
      .name = "fourier",
      .help =
          "random Fourier features of a shift-invariant kernel: cos and sin of x'omega, omega from "
          "the spectral distribution",
      .fields = std::move(fields),
      .make = fourier_from,
      .chooses_projection = true,
      .features_step = [](const MapArguments& a) -> int64_t {
        if (a.kernel.matrix() != nullptr) return field_features_step(a);
        return kFourierForm.read(a.own) == FourierForm::pair ? 2 : 1;
      },
      .root_fields = field_fourier_fields(),
      .learns_ranges = leaves_diameter};
}

}  // namespace mercer::feature
