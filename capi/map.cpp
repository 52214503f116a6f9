// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: making maps and asking what they are. Applying them is in map_apply.cpp.
#include "mercer/map.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "base/aligned.h"
#include "feature/fourier.h"
#include "guard.h"
#include "handles.h"
#include "projection/projections.h"
#include "row_arguments.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr mercer_fourier_options kFourierDefaults = {
    sizeof(mercer_fourier_options), MERCER_FORM_PAIR, MERCER_PROJECTION_DENSE, 0, 0, 0, 0};
constexpr uint32_t kFourierFirstSize = 32;

/// The projection of a mercer_projection.
const char* projection_name(int32_t number) {
  const auto table = projection::projection_table();
  const auto of = &projection::ProjectionEntry::number;
  check_range("options->projection", number, 0, (*std::ranges::max_element(table, {}, of))->*of);
  return (*std::ranges::find(table, number, of))->name;
}

feature::FourierOptions read_fourier_options(const mercer_fourier_options* options) {
  const auto read = read_options("options", options, kFourierDefaults, kFourierFirstSize);
  const auto form = read_choice("options->form", read.form, feature::kFourierForm);
  const char* const projection = projection_name(read.projection);
  const auto radius = read_choice("options->radius", read.radius, projection::kRadius);
  const auto scramble = read_choice("options->scramble", read.scramble, projection::kScramble);
  check_range("options->whole_blocks", read.whole_blocks, 0, 1);
  return {{projection, radius, scramble, read.whole_blocks != 0}, form, read.seed};
}

std::span<const double> read_weights(const double* weights, int64_t F) {
  if (weights == nullptr) return {};
  return vector("weights", weights, "F", F).values();
}

}  // namespace

mercer_status mercer_fourier_options_init(mercer_fourier_options* options) {
  return guard("mercer_fourier_options_init", [&] {
    write_defaults(&kFourierDefaults, kFourierFirstSize, sizeof *options, options);
  });
}

mercer_status mercer_fourier_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                    const mercer_fourier_options* options, mercer_map** out) {
  return guard_create("mercer_fourier_create", out, [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    check_at_least("d", d, 1);
    check_at_least("D", D, 1);
    return mercer_map{feature::make_fourier(k, d, D, read_fourier_options(options))};
  });
}

mercer_status mercer_fourier_create_supplied(const mercer_kernel* kernel, int64_t d, int64_t F,
                                             const double* frequencies, int64_t ldw,
                                             const double* weights,
                                             const mercer_fourier_options* options,
                                             mercer_map** out) {
  return guard_create("mercer_fourier_create_supplied", out, [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    check_at_least("d", d, 1);
    check_at_least("F", F, 1);
    const feature::FourierOptions read = read_fourier_options(options);
    require(read.projection == projection_name(MERCER_PROJECTION_DENSE), MERCER_UNSUPPORTED,
            "options->projection is %s, expected MERCER_PROJECTION_DENSE for supplied frequencies",
            read.projection.c_str());
    const auto W = matrix("frequencies", frequencies, "F", F, d, "ldw", ldw);
    return mercer_map{feature::make_fourier_supplied(k, W, read_weights(weights, F), read)};
  });
}

mercer_status mercer_map_from_spec(const char* json, mercer_map** out) {
  return guard_create("mercer_map_from_spec", out,
                      [&] { return mercer_map{spec::map_from_spec(check_text("json", json))}; });
}

mercer_status mercer_map_fit_spec(const char* json, const mercer_rows* X, const mercer_rows* Y,
                                  mercer_context* context, mercer_map** out) {
  return guard_create_long("mercer_map_fit_spec", context, out, [&](Context& running) {
    const std::string_view text = check_text("json", json);
    const auto rows = read_rows("X", X, running);
    check_at_least("X->n", rows.n(), 1);
    if (Y == nullptr) {
      return mercer_map{spec::map_fitted_to_spec(text, rows, nullptr, running)};
    }
    const auto targets = read_rows("Y", Y, running);
    check_same_rows(targets, rows);
    const DoubleRows y(targets, running);
    const MatrixView<const double> view = y.view();
    return mercer_map{spec::map_fitted_to_spec(text, rows, &view, running)};
  });
}

mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                              int64_t* needed) {
  return guard("mercer_map_spec", [&] {
    copy_text(spec::to_spec(*checked("map", map).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_map_shape(const mercer_map* map, int64_t* d, int64_t* D, int32_t* is_complex,
                               int64_t* right_inputs, int64_t* incomplete_block) {
  return guard("mercer_map_shape", [&] {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    write_answers(Answer{"d", d, phi.inputs()}, Answer{"D", D, phi.features()},
                  Answer{"is_complex", is_complex, phi.is_complex() ? 1 : 0},
                  Answer{"right_inputs", right_inputs, phi.right_inputs()},
                  Answer{"incomplete_block", incomplete_block, phi.incomplete_block()});
  });
}

mercer_status mercer_map_kernel(const mercer_map* map, mercer_kernel** out) {
  return guard_create("mercer_map_kernel", out, [&] {
    const auto& phi = checked("map", map).impl;
    return mercer_kernel{std::shared_ptr<const kernel::Kernel>(phi, &phi->kernel())};
  });
}

void mercer_map_free(mercer_map* map) { delete map; }
