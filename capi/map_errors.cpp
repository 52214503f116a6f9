// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variances in closed form, errors of kernels, their certificates, and the map that suits rows.
#include <string>
#include <utility>

#include "base/aligned.h"
#include "bound/bound.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map_error.h"
#include "row_arguments.h"
#include "spec/questions.h"
#include "statistic/kernel_error.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_map_variance(const mercer_map* map, mercer_rows X, mercer_rows Y,
                                  int32_t which, mercer_context* context, double* variance) {
  return guard_long("mercer_map_variance", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    check_range("which", which, MERCER_VARIANCE_ESTIMATE, MERCER_VARIANCE_BOUND);
    require(
        which != MERCER_VARIANCE_BOUND || phi.field() != nullptr, MERCER_UNSUPPORTED,
        "which = MERCER_VARIANCE_BOUND of map %s of kernel %s, which has one output, expected a "
        "map of several",
        std::string(phi.name()).c_str(), std::string(phi.kernel().name()).c_str());
    const auto x = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    const auto y = read_rows("Y", Y, phi.inputs(), "the map's inputs", running);
    check_same_rows(y, x);
    const int64_t each = checked_multiply(phi.outputs(), phi.outputs(), "variance");
    const auto result =
        vector("variance", variance, "n p p", checked_multiply(x.n(), each, "variance"));
    check_apart(result.extent(), x);
    check_apart(result.extent(), y);
    const DoubleRows left(x, running), right(y, running);
    if (which == MERCER_VARIANCE_PSEUDO && phi.is_complex())
      return phi.pseudo_variance(left.view(), right.view(), result.values());
    const MatrixView<double> out{result.values().data(), x.n(), each};
    if (which == MERCER_VARIANCE_BOUND)
      return bound::operator_variance_bound(*phi.field(), left.view(), right.view(), running, out);
    phi.variances(left.view(), right.view(), running, out);
  });
}

mercer_status mercer_map_kernel_error(const mercer_map* map, mercer_rows X, int32_t which,
                                      mercer_context* context, double* error) {
  return guard_long("mercer_map_kernel_error", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    check_range("which", which, MERCER_KERNEL_ERROR_MEASURED, MERCER_KERNEL_ERROR_PREDICTED);
    check_place("error", error);
    const auto rows = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    check_at_least("X.n", rows.n(), 1);
    if (which == MERCER_KERNEL_ERROR_MEASURED && rows.rows.sparse()) {
      const CsrRows stored(rows, running, "sparse rows in double");
      *error = statistic::measured_error(phi, stored.view(), running);
      return;
    }
    const DoubleRows x(rows, running);
    *error = which == MERCER_KERNEL_ERROR_MEASURED
                 ? statistic::measured_error(phi, x.view(), running)
                 : statistic::predicted_error(phi, x.view(), running);
  });
}

mercer_status mercer_map_certify(const mercer_map* map, mercer_rows X, const char* json,
                                 mercer_context* context, char* buffer, int64_t capacity,
                                 int64_t* needed) {
  return guard_long("mercer_map_certify", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const std::string_view asked = check_text("json", json);
    const auto rows = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    const DoubleRows x(rows, running);
    copy_text(spec::certify(asked, phi, x.view(), running), buffer, capacity, needed);
  });
}

mercer_status mercer_map_recommend(const char* json, mercer_rows X, mercer_context* context,
                                   mercer_map** out, char* buffer, int64_t capacity,
                                   int64_t* needed) {
  return guard_create_long("mercer_map_recommend", context, out, [&](Context& running) {
    const std::string_view asked = check_text("json", json);
    const auto rows = read_rows("X", X, running);
    check_at_least("X.n", rows.n(), 1);
    check_at_least("X.d", rows.d(), 1);
    const DoubleRows x(rows, running);
    spec::Recommendation best = spec::recommend(asked, x.view(), running);
    if (buffer != nullptr || needed != nullptr) copy_text(best.answer, buffer, capacity, needed);
    return mercer_map{std::move(best.map)};
  });
}
