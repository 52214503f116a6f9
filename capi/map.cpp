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
#include "feature/field/field_makers.h"
#include "feature/fourier.h"
#include "guard.h"
#include "handles.h"
#include "kernel/output_root.h"
#include "projection/projections.h"
#include "row_arguments.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr mercer_fourier_options kFourierDefaults = {
    sizeof(mercer_fourier_options), MERCER_FORM_PAIR, MERCER_PROJECTION_DENSE, 0, 0, 0, 0};
constexpr uint32_t kFourierFirstSize = 32;
constexpr uint32_t kInfoFirstSize = 64;

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

/// The map fourier of a kernel of several outputs: as of a spec.
std::unique_ptr<feature::FeatureMap> make_rooted(
    const std::shared_ptr<const kernel::Kernel>& kernel, int64_t d, int64_t D,
    const feature::FourierOptions& options) {
  Parameters given{{"map", "fourier"},
                   {"kernel", std::make_shared<const Parameters>(kernel->parameters())},
                   {"inputs", d},
                   {"features", D},
                   {"seed", options.seed}};
  feature::kFourierForm.write(given, options.form);
  options.write(given);
  return feature::make_map_of(kernel, feature::canonical_map(given, "", feature::Data::refused));
}

/// Rows of roots, F p x q, as numbers that lie as they are passed.
feature::SuppliedRoots read_roots(const RowsArgument& roots, const DoubleRows& dense, int64_t F,
                                  Matrix<double>& copy) {
  require(roots.n() >= F && roots.n() % F == 0 && roots.d() >= 1, MERCER_DIMENSION_MISMATCH,
          "roots is %lld x %lld, expected p rows of q numbers for each of the %lld frequencies",
          static_cast<long long>(roots.n()), static_cast<long long>(roots.d()),
          static_cast<long long>(F));
  copy = Matrix<double>(roots.n(), roots.d());
  for (int64_t i = 0; i < roots.n(); ++i)
    std::copy_n(dense.view().row(i), roots.d(), copy.view().row(i));
  const auto size = static_cast<size_t>(roots.n() * roots.d());
  return {roots.n() / F, roots.d(), {copy.data(), size}};
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
    const auto& k = checked("kernel", kernel).impl;
    check_at_least("d", d, 1);
    check_at_least("D", D, 1);
    const feature::FourierOptions read = read_fourier_options(options);
    if (k->matrix() != nullptr) return mercer_map{make_rooted(k, d, D, read)};
    return mercer_map{feature::make_fourier(*k, d, D, read)};
  });
}

mercer_status mercer_fourier_create_supplied(const mercer_kernel* kernel,
                                             const mercer_rows* frequencies, const double* weights,
                                             const mercer_rows* roots,
                                             const mercer_fourier_options* options,
                                             mercer_map** out) {
  return guard_create("mercer_fourier_create_supplied", out, [&] {
    Context context;
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    const auto W = read_rows("frequencies", frequencies, context);
    check_at_least("frequencies->n", W.n(), 1);
    check_at_least("frequencies->d", W.d(), 1);
    const feature::FourierOptions read = read_fourier_options(options);
    require(read.projection == projection_name(MERCER_PROJECTION_DENSE), MERCER_UNSUPPORTED,
            "options->projection is %s, expected MERCER_PROJECTION_DENSE for supplied frequencies",
            read.projection.c_str());
    k.check_dimension(W.d());
    const DoubleRows omega(W, context);
    const auto shares = read_weights(weights, W.n());
    if (roots == nullptr)
      return mercer_map{feature::make_fourier_supplied(k, omega.view(), shares, read)};
    const auto B = read_rows("roots", roots, context);
    Matrix<double> copy;
    const auto numbers = read_roots(B, DoubleRows(B, context), W.n(), copy);
    return mercer_map{feature::make_field_supplied(k, omega.view(), shares, numbers, read)};
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

mercer_status mercer_map_shape(const mercer_map* map, mercer_map_info* info) {
  return guard("mercer_map_shape", [&] {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const kernel::MatrixKernel* const matrix = phi.kernel().matrix();
    const bool cut = matrix != nullptr && matrix->root() != nullptr;
    const mercer_map_info known = {
        sizeof known,       phi.is_complex() ? 1 : 0, phi.inputs(),
        phi.outputs(),      phi.features(),           phi.frequency_count(),
        phi.right_inputs(), phi.incomplete_block(),   cut ? matrix->root()->dropped : 0};
    write_defaults(&known, kInfoFirstSize, sizeof *info, info, "info");
  });
}

mercer_status mercer_map_frequencies(const mercer_map* map, mercer_context* context,
                                     const mercer_matrix* out) {
  return guard_long("mercer_map_frequencies", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const Matrix<double> W = phi.frequencies(running);
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
