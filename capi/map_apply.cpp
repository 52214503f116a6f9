// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: the flat functions for features of dense rows, features as CSR, and packing maps
// ahead of time.
#include "arguments.h"
#include "base/size.h"
#include "feature/feature_map.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map.h"
#include "row_arguments.h"

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

mercer_status mercer_map_apply_f32(const mercer_map* map, int64_t n, const float* X, int64_t ldx,
                                   mercer_context* context, float* Z, int64_t ldz) {
  return apply("mercer_map_apply_f32", map, n, X, ldx, context, Z, ldz);
}

mercer_status mercer_map_apply_f64(const mercer_map* map, int64_t n, const double* X, int64_t ldx,
                                   mercer_context* context, double* Z, int64_t ldz) {
  return apply("mercer_map_apply_f64", map, n, X, ldx, context, Z, ldz);
}

mercer_status mercer_map_transform_csr(const mercer_map* map, mercer_rows X,
                                       mercer_context* context, int64_t* offsets, int64_t* indices,
                                       double* values, int64_t capacity, int64_t* needed) {
  return guard_long("mercer_map_transform_csr", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const auto rows = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    require(phi.sparse_features() != nullptr, MERCER_UNSUPPORTED,
            "map %s, expected one whose rows have few non-zeros, such as random_binning",
            std::string(phi.name()).c_str());
    const int64_t n = rows.n(), each = phi.sparse_features()->entries();
    const int64_t all = checked_multiply(n, each, "values");
    if (!check_buffer(all, values, capacity, needed)) return;
    const auto starts = vector("offsets", offsets, "X.n + 1", n + 1);
    const auto columns = matrix("indices", indices, "X.n", n, each, "entries of a row", each);
    const auto numbers = matrix("values", values, "X.n", n, each, "entries of a row", each);
    for (const Extent& out : {starts.extent(), columns.extent(), numbers.extent()})
      check_apart(out, rows);
    check_no_overlap(columns, numbers, starts);
    check_no_overlap(numbers, starts);
    feature::list_entries(phi, rows.rows, running, columns.view, numbers.view);
    for (int64_t i = 0; i <= n; ++i) offsets[i] = i * each;
  });
}

mercer_status mercer_map_prepare(const mercer_map* map, int32_t number, mercer_context* context) {
  return guard_long("mercer_map_prepare", context, [&](Context& run) {
    check_range("number", number, MERCER_NUMBER_F32, MERCER_NUMBER_F64);
    const bool f32 = number == MERCER_NUMBER_F32;
    checked("map", map).impl->prepare(f32 ? feature::Precision::f32 : feature::Precision::f64, run);
  });
}
