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
#include "feature/feature_map.h"
#include "feature/field_fourier.h"
#include "feature/fourier.h"
#include "guard.h"
#include "handles.h"
#include "kernel/matrix_kernel.h"
#include "projection/projection.h"
#include "row_arguments.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kInfoFirstSize = 64;

/// Rows of roots, F p x q, as numbers in the order in which they are passed; of A_j their roots.
feature::SuppliedRoots read_roots(const RowsArgument& roots, const DoubleRows& dense, int64_t F,
                                  bool squares, Matrix<double>& copy) {
  require(roots.n() >= F && roots.n() % F == 0 && roots.d() >= 1, MERCER_DIMENSION_MISMATCH,
          "roots is %ld x %ld, expected p rows of q numbers for each of the %ld frequencies",
          roots.n(), roots.d(), F);
  if (squares) {
    copy = feature::roots_of_squares(dense.view(), F);
    return {
        roots.n() / F, copy.cols(), {copy.data(), static_cast<size_t>(roots.n() * copy.cols())}};
  }
  copy = Matrix<double>(roots.n(), roots.d());
  for (int64_t i = 0; i < roots.n(); ++i)
    std::copy_n(dense.view().row(i), roots.d(), copy.view().row(i));
  const auto size = static_cast<size_t>(roots.n() * roots.d());
  return {roots.n() / F, roots.d(), {copy.data(), size}};
}

mercer_map_data read_map_data(const mercer_map_data* data) {
  const auto read = read_options("data", data, mercer_map_data{}, sizeof(mercer_map_data));
  check_range("data->roots_are_squares", read.roots_are_squares, 0, 1);
  require(is_given(read.X) || !is_given(read.Y), MERCER_INVALID_ARGUMENT,
          "data->Y without data->X, expected both");
  require(is_given(read.frequencies) || !(is_given(read.weights) || is_given(read.roots)),
          MERCER_INVALID_ARGUMENT,
          "data->weights or data->roots without data->frequencies, expected these, too");
  require(read.roots_are_squares == 0 || is_given(read.roots), MERCER_INVALID_ARGUMENT,
          "data->roots_are_squares without data->roots, expected both");
  require(!is_given(read.X) || !is_given(read.frequencies), MERCER_INVALID_ARGUMENT,
          "data->X and data->frequencies, expected one of the two");
  return read;
}

std::shared_ptr<const kernel::Kernel> kernel_of(const mercer_map_data& data) {
  return data.kernel == nullptr ? nullptr : data.kernel->impl;
}

std::unique_ptr<feature::FeatureMap> of_rows(std::string_view json, const mercer_map_data& data,
                                             Context& context) {
  const auto rows = read_rows("X", data.X, context);
  check_at_least("X.n", rows.n(), 1);
  spec::MapInputs inputs{.kernel = kernel_of(data), .rows = &rows.rows};
  if (!is_given(data.Y)) return spec::map_fitted_to_spec(json, inputs, context);
  const auto targets = read_rows("Y", data.Y, context);
  check_same_rows(targets, rows);
  const DoubleRows y(targets, context);
  const MatrixView<const double> view = y.view();
  inputs.targets = &view;
  return spec::map_fitted_to_spec(json, inputs, context);
}

std::unique_ptr<feature::FeatureMap> of_frequencies(std::string_view json,
                                                    const mercer_map_data& data, Context& context) {
  const auto W = read_rows("frequencies", data.frequencies, context);
  check_at_least("frequencies.n", W.n(), 1);
  check_at_least("frequencies.d", W.d(), 1);
  const DoubleRows omega(W, context);
  feature::SuppliedFrequencies supplied{omega.view()};
  std::vector<double> shares;
  if (is_given(data.weights)) {
    const auto weights = read_rows("weights", data.weights, 1, "one weight each", context);
    check_same_rows(weights, W);
    const DoubleRows each(weights, context);
    for (int64_t j = 0; j < W.n(); ++j) shares.push_back(each.view()(j, 0));
    supplied.weights = shares;
  }
  Matrix<double> roots;
  if (is_given(data.roots)) {
    const auto B = read_rows("roots", data.roots, context);
    supplied.roots =
        read_roots(B, DoubleRows(B, context), W.n(), data.roots_are_squares != 0, roots);
  }
  return spec::map_fitted_to_spec(json, {.kernel = kernel_of(data), .frequencies = &supplied},
                                  context);
}

}  // namespace

mercer_status mercer_map_from_spec(const char* json, mercer_map** out) {
  return guard_create("mercer_map_from_spec", out,
                      [&] { return mercer_map{spec::map_from_spec(check_text("json", json))}; });
}

mercer_status mercer_map_fit(const char* json, const mercer_map_data* data, mercer_context* context,
                             mercer_map** out) {
  return guard_create_long("mercer_map_fit", context, out, [&](Context& running) {
    const std::string_view text = check_text("json", json);
    const mercer_map_data read = read_map_data(data);
    if (is_given(read.X)) return mercer_map{of_rows(text, read, running)};
    if (is_given(read.frequencies)) return mercer_map{of_frequencies(text, read, running)};
    return mercer_map{spec::map_fitted_to_spec(text, {.kernel = kernel_of(read)}, running)};
  });
}

mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                              int64_t* needed) {
  return guard("mercer_map_spec", [&] {
    copy_text(spec::to_spec(*checked("map", map).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_map_shape(const mercer_map* map, mercer_map_info* info) {
  return guard("mercer_map_shape", [&] {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const kernel::MatrixKernel* const matrix = phi.kernel().matrix();
    const bool cut = matrix != nullptr && matrix->root() != nullptr;
    const mercer_map_info known = {sizeof known,
                                   phi.is_complex() ? 1 : 0,
                                   phi.inputs(),
                                   phi.outputs(),
                                   phi.features(),
                                   phi.scalar().frequency_count(),
                                   right_inputs_of(phi),
                                   phi.scalar().incomplete_block(),
                                   cut ? matrix->root()->dropped : 0};
    write_defaults(&known, kInfoFirstSize, sizeof *info, info, "info");
  });
}

mercer_status mercer_map_frequencies(const mercer_map* map, mercer_context* context,
                                     mercer_matrix out) {
  return guard_long("mercer_map_frequencies", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const Matrix<double> W = phi.scalar().frequencies(running);
    const Result result("out", out, W.rows(), W.cols(), running);
    for (int64_t j = 0; j < W.rows(); ++j)
      std::copy_n(W.view().row(j), W.cols(), result.view().row(j));
    result.finish();
  });
}

mercer_status mercer_map_kernel(const mercer_map* map, mercer_kernel** out) {
  return guard_create("mercer_map_kernel", out, [&] {
    const auto& phi = checked("map", map).impl;
    return mercer_kernel{std::shared_ptr<const kernel::Kernel>(phi, &phi->kernel())};
  });
}

void mercer_map_free(mercer_map* map) { delete map; }
