// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/learn.h, row statistics.
#include <algorithm>

#include "arguments.h"
#include "base/finite.h"
#include "guard.h"
#include "handles.h"
#include "mercer/learn.h"
#include "solver/plain_sums.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

enum class Change { add, remove };

template <class T>
mercer_status change_rows(const char* function, Change change, mercer_statistics* statistics,
                          int64_t n, const T* Z, int64_t ldz, const double* Y, int64_t ldy,
                          mercer_context* context) noexcept {
  return guard_long(function, context, [&](Context& running) {
    solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const auto features = matrix("Z", Z, "n", n, sums.features(), "ldz", ldz);
    const auto targets = matrix("Y", Y, "n", n, sums.outputs(), "ldy", ldy);
    require_summable("Y", targets.view);
    require_summable("Z", features.view);
    if (change == Change::add) {
      sums.add(features, targets, running);
    } else {
      sums.remove(features, targets, running);
    }
  });
}

void copy_vector(const char* name, const char* count_name, std::span<const double> in,
                 double* out) {
  if (out == nullptr) return;
  std::ranges::copy(in, vector(name, out, count_name, std::ssize(in)).values().begin());
}

}  // namespace

mercer_status mercer_statistics_create(int64_t D, int64_t m, mercer_statistics** out) {
  return guard_create("mercer_statistics_create", out, [&] {
    check_at_least("D", D, 1);
    check_at_least("m", m, 0);
    return mercer_statistics{solver::RowStatistics(D, m)};
  });
}

mercer_status mercer_statistics_add_f32(mercer_statistics* statistics, int64_t n, const float* Z,
                                        int64_t ldz, const double* Y, int64_t ldy,
                                        mercer_context* context) {
  return change_rows("mercer_statistics_add_f32", Change::add, statistics, n, Z, ldz, Y, ldy,
                     context);
}

mercer_status mercer_statistics_add_f64(mercer_statistics* statistics, int64_t n, const double* Z,
                                        int64_t ldz, const double* Y, int64_t ldy,
                                        mercer_context* context) {
  return change_rows("mercer_statistics_add_f64", Change::add, statistics, n, Z, ldz, Y, ldy,
                     context);
}

mercer_status mercer_statistics_remove_f32(mercer_statistics* statistics, int64_t n, const float* Z,
                                           int64_t ldz, const double* Y, int64_t ldy,
                                           mercer_context* context) {
  return change_rows("mercer_statistics_remove_f32", Change::remove, statistics, n, Z, ldz, Y, ldy,
                     context);
}

mercer_status mercer_statistics_remove_f64(mercer_statistics* statistics, int64_t n,
                                           const double* Z, int64_t ldz, const double* Y,
                                           int64_t ldy, mercer_context* context) {
  return change_rows("mercer_statistics_remove_f64", Change::remove, statistics, n, Z, ldz, Y, ldy,
                     context);
}

mercer_status mercer_statistics_merge(mercer_statistics* statistics,
                                      const mercer_statistics* other) {
  return guard("mercer_statistics_merge",
               [&] { checked("statistics", statistics).impl.merge(checked("other", other).impl); });
}

mercer_status mercer_statistics_subtract(mercer_statistics* statistics,
                                         const mercer_statistics* other) {
  return guard("mercer_statistics_subtract", [&] {
    checked("statistics", statistics).impl.subtract(checked("other", other).impl);
  });
}

mercer_status mercer_statistics_shape(const mercer_statistics* statistics, int64_t* n, int64_t* D,
                                      int64_t* m) {
  return guard("mercer_statistics_shape", [&] {
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    check_optional_place("n", n);
    check_optional_place("D", D);
    check_optional_place("m", m);
    if (n != nullptr) *n = sums.rows();
    if (D != nullptr) *D = sums.features();
    if (m != nullptr) *m = sums.outputs();
  });
}

mercer_status mercer_statistics_get_f64(const mercer_statistics* statistics, double* gram,
                                        int64_t ldg, double* cross, int64_t ldc, double* sum_z,
                                        double* sum_y, double* sum_y2) {
  return guard("mercer_statistics_get_f64", [&] {
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const int64_t D = sums.features();
    if (gram != nullptr)
      check_extent(matrix("gram", gram, "D", D, D, "ldg", ldg).extent(), "D", "ldg");
    if (cross != nullptr) matrix("cross", cross, "D", D, sums.outputs(), "ldc", ldc);
    if (gram != nullptr) solver::write_plain_gram(sums, {gram, D, D, ldg});
    if (cross != nullptr) solver::write_plain_cross(sums, {cross, D, sums.outputs(), ldc});
    copy_vector("sum_z", "D", solver::plain_sum_features(sums), sum_z);
    copy_vector("sum_y", "m", solver::plain_sum_outputs(sums), sum_y);
    copy_vector("sum_y2", "m", solver::plain_sum_squared_outputs(sums), sum_y2);
  });
}

void mercer_statistics_free(mercer_statistics* statistics) { delete statistics; }
