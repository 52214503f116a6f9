// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: making maps and asking what they are. Applying them is in map_apply.cpp.
#include "mercer/map.h"

#include <vector>

#include "arguments.h"
#include "base/aligned.h"
#include "feature/fourier.h"
#include "guard.h"
#include "handles.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr mercer_fourier_options kFourierDefaults = {
    sizeof(mercer_fourier_options), MERCER_FORM_PAIR, MERCER_PROJECTION_DENSE, 0, 0, 0, 0};
constexpr uint32_t kFourierFirstSize = 32;

constexpr const char* kProjectionNames[] = {"dense",     "orthogonal", "sorf",  "fastfood",
                                            "circulant", "sobol",      "halton"};
constexpr feature::FourierForm kForms[] = {feature::FourierForm::pair, feature::FourierForm::phase,
                                           feature::FourierForm::complex};

feature::FourierOptions read_fourier_options(const mercer_fourier_options* options) {
  const auto read = read_options("options", options, kFourierDefaults, kFourierFirstSize);
  check_range("options->form", read.form, MERCER_FORM_PAIR, MERCER_FORM_COMPLEX);
  check_range("options->projection", read.projection, MERCER_PROJECTION_DENSE,
              MERCER_PROJECTION_HALTON);
  check_range("options->radius", read.radius, MERCER_RADIUS_DRAWN, MERCER_RADIUS_FIXED);
  check_range("options->scramble", read.scramble, MERCER_SCRAMBLE_OWEN,
              MERCER_SCRAMBLE_DIGITAL_SHIFT);
  check_range("options->whole_blocks", read.whole_blocks, 0, 1);
  return {
      kProjectionNames[read.projection],
      kForms[read.form],
      read.seed,
      read.radius == MERCER_RADIUS_FIXED ? projection::Radius::fixed : projection::Radius::drawn,
      read.scramble == MERCER_SCRAMBLE_OWEN ? projection::Scramble::owen
                                            : projection::Scramble::digital_shift,
      read.whole_blocks != 0};
}

std::span<const double> read_weights(const double* weights, int64_t F) {
  if (weights == nullptr) return {};
  return vector("weights", weights, "F", F).values();
}

int32_t ask(mercer_frequency_callback fill, void* user, const Matrix<double>& W,
            const FloatEnvironment& callers) {
  const RoundingOf caller(callers);
  return fill(user, W.rows(), W.cols(), W.data());
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
    const auto W = matrix("frequencies", frequencies, "F", F, d, "ldw", ldw);
    return mercer_map{feature::make_fourier_supplied(k, W, read_weights(weights, F),
                                                     read_fourier_options(options))};
  });
}

mercer_status mercer_fourier_create_callback(const mercer_kernel* kernel, int64_t d, int64_t F,
                                             mercer_frequency_callback fill, void* user,
                                             const double* weights,
                                             const mercer_fourier_options* options,
                                             mercer_map** out) {
  const FloatEnvironment callers = FloatEnvironment::current();
  return guard_create("mercer_fourier_create_callback", out, [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    check_at_least("d", d, 1);
    check_at_least("F", F, 1);
    require(fill != nullptr, MERCER_INVALID_ARGUMENT, "fill = NULL, expected a callback");
    const auto read = read_fourier_options(options);
    const auto shares = read_weights(weights, F);
    feature::check_fourier_supplied(k, d, F, shares, read);
    const Matrix<double> W(F, d);
    W.fill(0);  // what the callback leaves out is a frequency of zero, not whatever the memory held
    const int32_t answer = ask(fill, user, W, callers);
    require(answer == 0, MERCER_INVALID_ARGUMENT, "fill returned %d, expected 0", answer);
    return mercer_map{feature::make_fourier_supplied(k, W.view(), shares, read)};
  });
}

mercer_status mercer_map_from_spec(const char* json, mercer_map** out) {
  return guard_create("mercer_map_from_spec", out,
                      [&] { return mercer_map{spec::map_from_spec(check_text("json", json))}; });
}

mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                              int64_t* needed) {
  return guard("mercer_map_spec", [&] {
    copy_text(spec::to_spec(*checked("map", map).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_map_inputs(const mercer_map* map, int64_t* d) {
  return guard("mercer_map_inputs", [&] {
    check_place("d", d);
    *d = checked("map", map).impl->inputs();
  });
}

mercer_status mercer_map_features(const mercer_map* map, int64_t* D) {
  return guard("mercer_map_features", [&] {
    check_place("D", D);
    *D = checked("map", map).impl->features();
  });
}

mercer_status mercer_map_is_complex(const mercer_map* map, int32_t* yes) {
  return guard("mercer_map_is_complex", [&] {
    check_place("yes", yes);
    *yes = checked("map", map).impl->is_complex() ? 1 : 0;
  });
}

mercer_status mercer_map_incomplete_block(const mercer_map* map, int64_t* frequencies) {
  return guard("mercer_map_incomplete_block", [&] {
    check_place("frequencies", frequencies);
    *frequencies = checked("map", map).impl->incomplete_block();
  });
}

mercer_status mercer_map_right_inputs(const mercer_map* map, int64_t* d2) {
  return guard("mercer_map_right_inputs", [&] {
    check_place("d2", d2);
    *d2 = checked("map", map).impl->right_inputs();
  });
}

void mercer_map_free(mercer_map* map) { delete map; }
