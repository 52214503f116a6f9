// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: the flat doors to features of dense rows, and packing maps ahead of time.
#include "arguments.h"
#include "base/size.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

template <class T>
mercer_status apply(const char* function, const mercer_map* map, int64_t n, const T* X, int64_t ldx,
                    mercer_context* context, T* Z, int64_t ldz) noexcept {
  return guard_long(function, context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    require(!phi.is_complex(), MERCER_UNSUPPORTED,
            "the map is complex, expected a call of mercer_map_transform");
    const auto rows = matrix("X", X, "n", n, phi.inputs(), "ldx", ldx);
    check_at_least("n", n, 0);
    const auto result =
        matrix("Z", Z, "n", checked_multiply(n, phi.outputs(), "Z"), phi.features(), "ldz", ldz);
    check_no_overlap(result, rows);
    if (n > 0) phi.apply(rows.view, feature::Columns{0, phi.features()}, running, result.view);
  });
}

}  // namespace

#define MERCER_APPLY(suffix, T)                                                         \
  mercer_status mercer_map_apply_##suffix(const mercer_map* map, int64_t n, const T* X, \
                                          int64_t ldx, mercer_context* context, T* Z,   \
                                          int64_t ldz) {                                \
    return apply("mercer_map_apply_" #suffix, map, n, X, ldx, context, Z, ldz);         \
  }
MERCER_APPLY(f32, float)
MERCER_APPLY(f64, double)
#undef MERCER_APPLY

mercer_status mercer_map_prepare(const mercer_map* map, int32_t number, mercer_context* context) {
  return guard_long("mercer_map_prepare", context, [&](Context& run) {
    check_range("number", number, MERCER_NUMBER_F32, MERCER_NUMBER_F64);
    const bool f32 = number == MERCER_NUMBER_F32;
    checked("map", map).impl->prepare(f32 ? feature::Precision::f32 : feature::Precision::f64, run);
  });
}
