// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: products with features, which are not formed as a whole.
#include "arguments.h"
#include "base/size.h"
#include "feature/feature_operator.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

using feature::FieldKind;

constexpr FieldKind kKinds[] = {FieldKind::value, FieldKind::jacobian,  FieldKind::divergence,
                                FieldKind::curl,  FieldKind::potential, FieldKind::stream};

}  // namespace

mercer_status mercer_map_multiply(const mercer_map* map, mercer_rows X, mercer_rows theta,
                                  int32_t kind, mercer_context* context, mercer_matrix out) {
  return guard_long("mercer_map_multiply", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    check_range("kind", kind, MERCER_FIELD_VALUE, MERCER_FIELD_STREAM);
    const auto x = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    const auto coefficients = read_rows("theta", theta, running);
    const int64_t numbers = feature::field_numbers(kKinds[kind], phi.outputs(), phi.inputs());
    const auto result = read_feature_matrix(
        "out", out, x.n(), checked_multiply(numbers, coefficients.d(), "out"), x.is_f32(), false);
    check_apart(result.extent, x);
    check_apart(result.extent, coefficients);
    const DoubleRows dense(coefficients, running);
    feature::multiply(
        phi, x.rows, dense.view(), kKinds[kind], running,
        x.is_f32() ? ResultView(result.reals<float>()) : ResultView(result.reals<double>()));
  });
}

mercer_status mercer_map_adjoint(const mercer_map* map, mercer_rows X, mercer_rows Y,
                                 mercer_context* context, mercer_matrix theta) {
  return guard_long("mercer_map_adjoint", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const auto x = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    const auto y = read_rows("Y", Y, running);
    check_same_rows(y, x);
    require(y.d() % phi.outputs() == 0, MERCER_DIMENSION_MISMATCH,
            "Y.d = %ld, expected a multiple of the map's %ld outputs", y.d(), phi.outputs());
    const Result result("theta", theta, phi.features(), y.d() / phi.outputs(), running);
    result.check_apart(x);
    result.check_apart(y);
    feature::adjoint(phi, x.rows, y.rows, running, result.view());
    result.finish();
  });
}
