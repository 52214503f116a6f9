// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: features of any rows, through one function.
#include <algorithm>
#include <limits>
#include <string>

#include "feature/feature_map.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kTransformFirstSize = sizeof(mercer_transform_options);

feature::Columns read_columns(const mercer_transform_options& read, int64_t D) {
  const int64_t end = read.end == 0 ? D : read.end;
  check_range("options->end", end, 0, D);
  check_range("options->begin", read.begin, 0, end);
  return {read.begin, end};
}

/// Z as the map fills it.
ResultView result_view(const FeatureMatrix& Z, bool f32) {
  if (f32) return Z.reals<float>();
  return Z.reals<double>();
}

int64_t check_pair(const feature::FeatureMap& phi, int64_t locations, const RowsArgument& X,
                   const RowsArgument& right) {
  check_same_rows(right, X);
  require(X.n() % locations == 0, MERCER_INVALID_ARGUMENT,
          "X.n = %ld, expected a multiple of options->locations = %ld", X.n(), locations);
  require(phi.pair() != nullptr, MERCER_UNSUPPORTED,
          "map %s takes one matrix, expected a sketch of kernel bilinear",
          std::string(phi.name()).c_str());
  return X.n() / locations;
}

void transform_rows(const feature::FeatureMap& phi, const mercer_rows& X,
                    const mercer_transform_options& read, const mercer_matrix& Z,
                    Context& context) {
  const feature::Columns columns = read_columns(read, phi.features());
  const int64_t width = columns.end - columns.begin;
  check_range("options->locations", read.locations, 0, 1);  // without options->right
  const auto rows = read_rows("X", X, phi.inputs(), "the map's inputs", context);
  const auto result = read_feature_matrix("Z", Z, checked_multiply(rows.n(), phi.outputs(), "Z"),
                                          width, rows.is_f32(), phi.is_complex());
  check_apart(result.extent, rows);
  if (rows.n() > 0 && width > 0)
    phi.apply(rows.rows, columns, context, result_view(result, rows.is_f32()));
}

void transform_pair(const feature::FeatureMap& phi, const mercer_rows& X,
                    const mercer_transform_options& read, const mercer_matrix& Z,
                    Context& context) {
  const feature::Columns columns = read_columns(read, phi.features());
  const int64_t width = columns.end - columns.begin;
  const int64_t right_inputs = right_inputs_of(phi);
  check_at_least("options->locations", read.locations, 0);
  const int64_t locations = std::max<int64_t>(read.locations, 1);
  const auto left =
      read_rows("X", X, phi.inputs() - right_inputs, "the map's left inputs", context);
  const auto right =
      read_rows("options->right", read.right, right_inputs == 0 ? kAnyColumns : right_inputs,
                "the map's right inputs", context);
  const int64_t n = check_pair(phi, locations, left, right);
  const auto result = read_feature_matrix("Z", Z, n, width, left.is_f32(), phi.is_complex());
  check_apart(result.extent, left);
  check_apart(result.extent, right);
  if (n == 0 || width == 0) return;
  require(!left.rows.sparse() && !right.rows.sparse() && left.is_f32() == right.is_f32(),
          MERCER_UNSUPPORTED,
          "X and options->right are not both dense and of one precision, as rows in two parts "
          "must be");
  phi.pair()->apply_pair(left.rows, right.rows, locations, columns, context,
                         result_view(result, left.is_f32()));
}

}  // namespace

mercer_status mercer_map_transform(const mercer_map* map, mercer_rows X,
                                   const mercer_transform_options* options, mercer_context* context,
                                   mercer_matrix Z) {
  return guard_long("mercer_map_transform", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const auto read =
        read_options("options", options, mercer_transform_options{}, kTransformFirstSize);
    check_range("options->reserved", read.reserved, 0, 0);
    (is_given(read.right) ? transform_pair : transform_rows)(phi, X, read, Z, running);
  });
}
