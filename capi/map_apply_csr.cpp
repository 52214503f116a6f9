// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h: applying maps to sparse rows.
#include "csr_arguments.h"
#include "feature_matrix.h"
#include "guard.h"
#include "handles.h"
#include "mercer/map.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// Sparse rows as the C functions take them.
template <class T, class Index>
struct Rows {
  int64_t n;
  int64_t nnz;
  const Index* offsets;
  const Index* indices;
  const T* values;
};

template <class T, class Index>
mercer_status apply(const char* function, const mercer_map* map, const NumberField& field,
                    const Rows<T, Index>& rows, mercer_context* context, T* Z,
                    int64_t ldz) noexcept {
  return guard_long(function, context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    check_field(phi, field);
    const auto X = csr(rows.n, rows.nnz, rows.offsets, rows.indices, rows.values);
    const auto result = feature_matrix(field, Z, rows.n, phi.features(), ldz);
    check_no_overlap(result, X.offsets, X.indices, X.values);
    check_csr_numbers(rows.n, phi.inputs(), rows.nnz, rows.offsets, rows.indices, running);
    if (rows.n == 0) return;
    phi.apply_sparse(CsrView<T>{rows.n, phi.inputs(), rows.offsets, rows.indices, rows.values},
                     {0, phi.features()}, running, result);
  });
}

}  // namespace

mercer_status mercer_map_apply_csr32_f32(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int32_t* offsets, const int32_t* indices,
                                         const float* values, mercer_context* context, float* Z,
                                         int64_t ldz) {
  return apply<float, int32_t>("mercer_map_apply_csr32_f32", map, kRealF32,
                               {n, nnz, offsets, indices, values}, context, Z, ldz);
}

mercer_status mercer_map_apply_csr32_f64(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int32_t* offsets, const int32_t* indices,
                                         const double* values, mercer_context* context, double* Z,
                                         int64_t ldz) {
  return apply<double, int32_t>("mercer_map_apply_csr32_f64", map, kRealF64,
                                {n, nnz, offsets, indices, values}, context, Z, ldz);
}

mercer_status mercer_map_apply_csr32_c32(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int32_t* offsets, const int32_t* indices,
                                         const float* values, mercer_context* context, float* Z,
                                         int64_t ldz) {
  return apply<float, int32_t>("mercer_map_apply_csr32_c32", map, kComplexF32,
                               {n, nnz, offsets, indices, values}, context, Z, ldz);
}

mercer_status mercer_map_apply_csr32_c64(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int32_t* offsets, const int32_t* indices,
                                         const double* values, mercer_context* context, double* Z,
                                         int64_t ldz) {
  return apply<double, int32_t>("mercer_map_apply_csr32_c64", map, kComplexF64,
                                {n, nnz, offsets, indices, values}, context, Z, ldz);
}

mercer_status mercer_map_apply_csr64_f32(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int64_t* offsets, const int64_t* indices,
                                         const float* values, mercer_context* context, float* Z,
                                         int64_t ldz) {
  return apply<float, int64_t>("mercer_map_apply_csr64_f32", map, kRealF32,
                               {n, nnz, offsets, indices, values}, context, Z, ldz);
}

mercer_status mercer_map_apply_csr64_f64(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int64_t* offsets, const int64_t* indices,
                                         const double* values, mercer_context* context, double* Z,
                                         int64_t ldz) {
  return apply<double, int64_t>("mercer_map_apply_csr64_f64", map, kRealF64,
                                {n, nnz, offsets, indices, values}, context, Z, ldz);
}

mercer_status mercer_map_apply_csr64_c32(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int64_t* offsets, const int64_t* indices,
                                         const float* values, mercer_context* context, float* Z,
                                         int64_t ldz) {
  return apply<float, int64_t>("mercer_map_apply_csr64_c32", map, kComplexF32,
                               {n, nnz, offsets, indices, values}, context, Z, ldz);
}

mercer_status mercer_map_apply_csr64_c64(const mercer_map* map, int64_t n, int64_t nnz,
                                         const int64_t* offsets, const int64_t* indices,
                                         const double* values, mercer_context* context, double* Z,
                                         int64_t ldz) {
  return apply<double, int64_t>("mercer_map_apply_csr64_c64", map, kComplexF64,
                                {n, nnz, offsets, indices, values}, context, Z, ldz);
}
