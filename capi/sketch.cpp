// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/sketch.h: sketches, rows in two parts, predicted errors.
#include "feature/sketch.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "feature_matrix.h"
#include "guard.h"
#include "handles.h"
#include "mercer/sketch.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

using feature::Composition;
using feature::SketchField;
using projection::Mixing;

constexpr mercer_sketch_options kSketchDefaults = {
    sizeof(mercer_sketch_options),
    MERCER_SKETCH_TENSOR_SRHT_UPSAMPLED,
    MERCER_FIELD_COMPLEX_TO_REAL,
    MERCER_COMPOSITION_PLAIN,
    MERCER_DOWN_SRHT,
    0,  // reserved
    0,  // intermediate
    0   // seed
};
constexpr uint32_t kSketchFirstSize = 40;

constexpr Mixing kKinds[] = {Mixing::rademacher, Mixing::gaussian, Mixing::tensor_sketch,
                             Mixing::upsampled,  Mixing::stacked,  Mixing::tuple};
constexpr SketchField kFields[] = {SketchField::real, SketchField::complex,
                                   SketchField::complex_to_real};
constexpr Composition kCompositions[] = {Composition::plain, Composition::hierarchical,
                                         Composition::craft};
constexpr Mixing kDowns[] = {Mixing::stacked, Mixing::rademacher, Mixing::gaussian};

feature::SketchOptions read_sketch_options(const mercer_sketch_options* options) {
  const auto read = read_options("options", options, kSketchDefaults, kSketchFirstSize);
  check_range("options->kind", read.kind, MERCER_SKETCH_RADEMACHER,
              MERCER_SKETCH_TENSOR_SRHT_TUPLE);
  check_range("options->field", read.field, MERCER_FIELD_REAL, MERCER_FIELD_COMPLEX_TO_REAL);
  check_range("options->composition", read.composition, MERCER_COMPOSITION_PLAIN,
              MERCER_COMPOSITION_CRAFT);
  check_range("options->projection", read.projection, MERCER_DOWN_SRHT, MERCER_DOWN_GAUSSIAN);
  check_range("options->reserved", read.reserved, 0, 0);
  check_at_least("options->intermediate", read.intermediate, 0);
  require(read.projection == MERCER_DOWN_SRHT || read.composition == MERCER_COMPOSITION_CRAFT,
          MERCER_UNSUPPORTED, "options->projection = %d, expected 0 without composition CRAFT",
          read.projection);
  require(read.intermediate == 0 || read.composition != MERCER_COMPOSITION_PLAIN,
          MERCER_UNSUPPORTED, "options->intermediate = %lld, expected 0 for composition PLAIN",
          static_cast<long long>(read.intermediate));
  return {.mixing = kKinds[read.kind],
          .field = kFields[read.field],
          .composition = kCompositions[read.composition],
          .intermediate = read.intermediate,
          .down = kDowns[read.projection],
          .seed = read.seed};
}

template <class T>
mercer_status apply_pair(const char* function, const mercer_map* map, const NumberField& field,
                         int64_t n, int64_t locations, const T* X, int64_t ldx, const T* Y,
                         int64_t ldy, mercer_context* context, T* Z, int64_t ldz) noexcept {
  return guard_long(function, context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    check_field(phi, field);
    require(phi.second_inputs() > 0, MERCER_UNSUPPORTED,
            "map %s takes one matrix, expected a sketch of kernel bilinear",
            std::string(phi.name()).c_str());
    check_at_least("n", n, 0);
    check_range("locations", locations, 1,
                std::numeric_limits<int64_t>::max() / std::max(n, int64_t{1}));
    const int64_t rows = n * locations, second = phi.second_inputs();
    const auto x = matrix("X", X, "n * locations", rows, phi.inputs() - second, "ldx", ldx);
    const auto y = matrix("Y", Y, "n * locations", rows, second, "ldy", ldy);
    const auto result = feature_matrix(field, Z, n, phi.features(), ldz);
    check_no_overlap(result, x, y);
    const feature::Columns all{0, phi.features()};
    if (n > 0) phi.apply_pair(x, y, locations, all, running, result);
  });
}

}  // namespace

mercer_status mercer_sketch_options_init(mercer_sketch_options* options) {
  return guard("mercer_sketch_options_init", [&] {
    write_defaults(&kSketchDefaults, kSketchFirstSize, sizeof *options, options);
  });
}

mercer_status mercer_sketch_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                   const mercer_sketch_options* options, mercer_map** out) {
  return guard_create("mercer_sketch_create", out, [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    check_at_least("d", d, 1);
    check_at_least("D", D, 1);
    return mercer_map{feature::make_sketch(k, d, D, read_sketch_options(options))};
  });
}

mercer_status mercer_map_apply_pair_f32(const mercer_map* map, int64_t n, int64_t locations,
                                        const float* X, int64_t ldx, const float* Y, int64_t ldy,
                                        mercer_context* context, float* Z, int64_t ldz) {
  return apply_pair("mercer_map_apply_pair_f32", map, kRealF32, n, locations, X, ldx, Y, ldy,
                    context, Z, ldz);
}

mercer_status mercer_map_apply_pair_f64(const mercer_map* map, int64_t n, int64_t locations,
                                        const double* X, int64_t ldx, const double* Y, int64_t ldy,
                                        mercer_context* context, double* Z, int64_t ldz) {
  return apply_pair("mercer_map_apply_pair_f64", map, kRealF64, n, locations, X, ldx, Y, ldy,
                    context, Z, ldz);
}

mercer_status mercer_map_apply_pair_c32(const mercer_map* map, int64_t n, int64_t locations,
                                        const float* X, int64_t ldx, const float* Y, int64_t ldy,
                                        mercer_context* context, float* Z, int64_t ldz) {
  return apply_pair("mercer_map_apply_pair_c32", map, kComplexF32, n, locations, X, ldx, Y, ldy,
                    context, Z, ldz);
}

mercer_status mercer_map_apply_pair_c64(const mercer_map* map, int64_t n, int64_t locations,
                                        const double* X, int64_t ldx, const double* Y, int64_t ldy,
                                        mercer_context* context, double* Z, int64_t ldz) {
  return apply_pair("mercer_map_apply_pair_c64", map, kComplexF64, n, locations, X, ldx, Y, ldy,
                    context, Z, ldz);
}

mercer_status mercer_map_second_inputs(const mercer_map* map, int64_t* d2) {
  return guard("mercer_map_second_inputs", [&] {
    check_place("d2", d2);
    *d2 = checked("map", map).impl->second_inputs();
  });
}

mercer_status mercer_map_predicted_error_f64(const mercer_map* map, int64_t n, const double* X,
                                             int64_t ldx, mercer_context* context, double* error) {
  return guard_long("mercer_map_predicted_error_f64", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    check_place("error", error);
    check_at_least("n", n, 1);
    const auto rows = matrix("X", X, "n", n, phi.inputs(), "ldx", ldx);
    *error = feature::predicted_error(phi, rows, running);
  });
}

mercer_status mercer_sketch_recommend(const mercer_kernel* kernel, int64_t D, uint64_t seed,
                                      int64_t n, int64_t d, const double* X, int64_t ldx,
                                      mercer_context* context, double* predicted_error,
                                      mercer_map** out) {
  double error = 0;
  const mercer_status status =
      guard_create_long("mercer_sketch_recommend", context, out, [&](Context& running) {
        check_optional_place("predicted_error", predicted_error);
        const kernel::Kernel& k = *checked("kernel", kernel).impl;
        check_at_least("D", D, 1);
        check_at_least("n", n, 1);
        check_at_least("d", d, 1);
        const auto rows = matrix("X", X, "n", n, d, "ldx", ldx);
        auto best = feature::recommend_sketch(k, D, seed, rows, running);
        error = best.predicted_error;
        return mercer_map{std::move(best.map)};
      });
  if (status == MERCER_OK && predicted_error != nullptr) *predicted_error = error;
  return status;
}
