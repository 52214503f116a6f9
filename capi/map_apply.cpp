// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: applying maps, packing them ahead of time, their closed-form variances.
#include "feature_matrix.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

template <class T>
void apply(const mercer_map* map, const NumberField& field, int64_t j0, int64_t j1, int64_t n,
           const T* X, int64_t ldx, Context& context, T* Z, int64_t ldz) {
  const feature::FeatureMap& phi = *checked("map", map).impl;
  check_field(phi, field);
  check_range("j1", j1, 0, phi.features());
  check_range("j0", j0, 0, j1);
  const auto rows = matrix("X", X, "n", n, phi.inputs(), "ldx", ldx);
  const auto result = feature_matrix(field, Z, n, j1 - j0, ldz);
  check_no_overlap(result, rows);
  if (n > 0 && j1 > j0) phi.apply(rows, feature::Columns{j0, j1}, context, result);
}

template <class T>
mercer_status apply_all(const char* function, const mercer_map* map, const NumberField& field,
                        int64_t n, const T* X, int64_t ldx, T* Z, int64_t ldz) noexcept {
  return guard(function, [&] {
    Context context;
    const int64_t D = checked("map", map).impl->features();
    apply(map, field, 0, D, n, X, ldx, context, Z, ldz);
  });
}

template <class T>
mercer_status apply_columns(const char* function, const mercer_map* map, const NumberField& field,
                            int64_t j0, int64_t j1, int64_t n, const T* X, int64_t ldx,
                            mercer_context* context, T* Z, int64_t ldz) noexcept {
  return guard_long(function, context, [&](Context& running) {
    apply(map, field, j0, j1, n, X, ldx, running, Z, ldz);
  });
}

using Variance = void (feature::FeatureMap::*)(MatrixView<const double>, MatrixView<const double>,
                                               std::span<double>) const;

mercer_status variances(const char* function, Variance variance, const mercer_map* map, int64_t n,
                        const double* X, int64_t ldx, const double* Y, int64_t ldy,
                        double* out) noexcept {
  return guard(function, [&] {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const auto x = matrix("X", X, "n", n, phi.inputs(), "ldx", ldx);
    const auto y = matrix("Y", Y, "n", n, phi.inputs(), "ldy", ldy);
    const auto result = vector("variance", out, "n", n);
    check_no_overlap(result, x, y);
    (phi.*variance)(x, y, result.values());
  });
}

}  // namespace

mercer_status mercer_map_apply_f32(const mercer_map* map, int64_t n, const float* X, int64_t ldx,
                                   float* Z, int64_t ldz) {
  return apply_all("mercer_map_apply_f32", map, kRealF32, n, X, ldx, Z, ldz);
}

mercer_status mercer_map_apply_f64(const mercer_map* map, int64_t n, const double* X, int64_t ldx,
                                   double* Z, int64_t ldz) {
  return apply_all("mercer_map_apply_f64", map, kRealF64, n, X, ldx, Z, ldz);
}

mercer_status mercer_map_apply_c32(const mercer_map* map, int64_t n, const float* X, int64_t ldx,
                                   float* Z, int64_t ldz) {
  return apply_all("mercer_map_apply_c32", map, kComplexF32, n, X, ldx, Z, ldz);
}

mercer_status mercer_map_apply_c64(const mercer_map* map, int64_t n, const double* X, int64_t ldx,
                                   double* Z, int64_t ldz) {
  return apply_all("mercer_map_apply_c64", map, kComplexF64, n, X, ldx, Z, ldz);
}

mercer_status mercer_map_apply_columns_f32(const mercer_map* map, int64_t j0, int64_t j1, int64_t n,
                                           const float* X, int64_t ldx, mercer_context* context,
                                           float* Z, int64_t ldz) {
  return apply_columns("mercer_map_apply_columns_f32", map, kRealF32, j0, j1, n, X, ldx, context, Z,
                       ldz);
}

mercer_status mercer_map_apply_columns_f64(const mercer_map* map, int64_t j0, int64_t j1, int64_t n,
                                           const double* X, int64_t ldx, mercer_context* context,
                                           double* Z, int64_t ldz) {
  return apply_columns("mercer_map_apply_columns_f64", map, kRealF64, j0, j1, n, X, ldx, context, Z,
                       ldz);
}

mercer_status mercer_map_apply_columns_c32(const mercer_map* map, int64_t j0, int64_t j1, int64_t n,
                                           const float* X, int64_t ldx, mercer_context* context,
                                           float* Z, int64_t ldz) {
  return apply_columns("mercer_map_apply_columns_c32", map, kComplexF32, j0, j1, n, X, ldx, context,
                       Z, ldz);
}

mercer_status mercer_map_apply_columns_c64(const mercer_map* map, int64_t j0, int64_t j1, int64_t n,
                                           const double* X, int64_t ldx, mercer_context* context,
                                           double* Z, int64_t ldz) {
  return apply_columns("mercer_map_apply_columns_c64", map, kComplexF64, j0, j1, n, X, ldx, context,
                       Z, ldz);
}

mercer_status mercer_map_prepare(const mercer_map* map, int32_t precision,
                                 mercer_context* context) {
  return guard_long("mercer_map_prepare", context, [&](Context& run) {
    check_range("precision", precision, MERCER_PRECISION_F32, MERCER_PRECISION_F64);
    const bool f32 = precision == MERCER_PRECISION_F32;
    checked("map", map).impl->prepare(f32 ? feature::Precision::f32 : feature::Precision::f64, run);
  });
}

mercer_status mercer_map_variance_f64(const mercer_map* map, int64_t n, const double* X,
                                      int64_t ldx, const double* Y, int64_t ldy, double* variance) {
  return variances("mercer_map_variance_f64", &feature::FeatureMap::variance, map, n, X, ldx, Y,
                   ldy, variance);
}

mercer_status mercer_map_pseudo_variance_f64(const mercer_map* map, int64_t n, const double* X,
                                             int64_t ldx, const double* Y, int64_t ldy,
                                             double* variance) {
  return variances("mercer_map_pseudo_variance_f64", &feature::FeatureMap::pseudo_variance, map, n,
                   X, ldx, Y, ldy, variance);
}
