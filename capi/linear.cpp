// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: linear maps.
#include "feature/linear.h"

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr mercer_linear_options kLinearDefaults = {sizeof(mercer_linear_options),
                                                   MERCER_LINEAR_GAUSSIAN, 0};
constexpr uint32_t kLinearFirstSize = 16;

constexpr feature::LinearProjection kProjections[] = {
    feature::LinearProjection::gaussian, feature::LinearProjection::rademacher,
    feature::LinearProjection::srht, feature::LinearProjection::countsketch};

feature::LinearOptions read_linear_options(const mercer_linear_options* options) {
  const auto read = read_options("options", options, kLinearDefaults, kLinearFirstSize);
  check_range("options->projection", read.projection, MERCER_LINEAR_GAUSSIAN,
              MERCER_LINEAR_COUNTSKETCH);
  return {kProjections[read.projection], read.seed};
}

}  // namespace

mercer_status mercer_linear_options_init(mercer_linear_options* options) {
  return guard("mercer_linear_options_init", [&] {
    write_defaults(&kLinearDefaults, kLinearFirstSize, sizeof *options, options);
  });
}

mercer_status mercer_linear_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                   const mercer_linear_options* options, mercer_map** out) {
  return guard_create("mercer_linear_create", out, [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    check_at_least("d", d, 1);
    check_at_least("D", D, 1);
    return mercer_map{feature::make_linear(k, d, D, read_linear_options(options))};
  });
}
