// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/statistics.h, row statistics.
#include "mercer/statistics.h"

#include <algorithm>

#include "arguments.h"
#include "base/aligned.h"
#include "base/finite.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"
#include "solver/plain_sums.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

enum class Change { add, remove };

template <class T>
void change_dense(Change change, solver::RowStatistics& sums, MatrixView<const T> Z,
                  MatrixView<const double> Y, Context& context) {
  if (change == Change::add) {
    sums.add(Z, Y, context);
  } else {
    sums.remove(Z, Y, context);
  }
}

/// Blocks of sparse rows made dense.
template <class T>
void change_sparse(Change change, solver::RowStatistics& sums, const CsrView<T>& Z,
                   MatrixView<const double> Y, Context& context) {
  constexpr int64_t kBlock = solver::RowStatistics::kRowBlock;
  const int64_t size = std::min(kBlock, Z.rows);
  const Matrix<T> dense(size, Z.cols, context, "a block of sparse rows made dense");
  dense.fill(T{0});
  Stage stage(context, Z.rows);  // of which every block is a part
  for (int64_t first = 0; first < Z.rows; first += size) {
    const auto block = Z.block_rows(first, std::min(first + size, Z.rows));
    const MatrixView<T> rows = dense.view().block_rows(0, block.rows);
    for (int64_t i = 0; i < block.rows; ++i) add_row(block, i, rows.row(i));
    stage.share(block.rows);
    change_dense(change, sums, MatrixView<const T>(rows),
                 Y.cols > 0 ? Y.block_rows(first, first + block.rows) : Y, context);
    for (int64_t i = 0; i < block.rows; ++i) clear_row(block, i, rows.row(i));
    stage.advance(block.rows);
  }
}

mercer_status change_rows(const char* function, Change change, mercer_statistics* statistics,
                          const mercer_rows* Z, const mercer_rows* Y,
                          mercer_context* context) noexcept {
  return guard_long(function, context, [&](Context& running) {
    solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const auto features = read_rows("Z", Z, sums.features(), "the features", running);
    RowsArgument targets{"Y", Rows(MatrixView<const double>(nullptr, features.n(), 0)), {}};
    if (Y != nullptr || sums.outputs() > 0) {
      targets = read_rows("Y", Y, sums.outputs(), "the outputs", running);
    }
    check_same_rows(targets, features);
    require_summable("Y", targets);
    require_summable("Z", features);
    require(change == Change::add || features.n() <= sums.rows(), MERCER_INVALID_ARGUMENT,
            "Z->n = %lld rows to remove, but only %lld are present",
            static_cast<long long>(features.n()), static_cast<long long>(sums.rows()));
    const DoubleRows y(targets, running);
    features.rows.visit([&](const auto& rows) {
      if constexpr (kIsSparse<decltype(rows)>) {
        change_sparse(change, sums, rows, y.view(), running);
      } else {
        change_dense(change, sums, rows, y.view(), running);
      }
    });
  });
}

/// The places of sums, which may be NULL where they are not wanted.
void write_sums(const char* name, const char* count_name, std::span<const double> sums,
                double* out) {
  if (out == nullptr) return;
  std::ranges::copy(sums, vector(name, out, count_name, std::ssize(sums)).values().begin());
}

}  // namespace

mercer_status mercer_statistics_create(int64_t D, int64_t m, mercer_statistics** out) {
  return guard_create("mercer_statistics_create", out, [&] {
    check_at_least("D", D, 1);
    check_at_least("m", m, 0);
    return mercer_statistics{solver::RowStatistics(D, m)};
  });
}

mercer_status mercer_statistics_add(mercer_statistics* statistics, const mercer_rows* Z,
                                    const mercer_rows* Y, mercer_context* context) {
  return change_rows("mercer_statistics_add", Change::add, statistics, Z, Y, context);
}

mercer_status mercer_statistics_remove(mercer_statistics* statistics, const mercer_rows* Z,
                                       const mercer_rows* Y, mercer_context* context) {
  return change_rows("mercer_statistics_remove", Change::remove, statistics, Z, Y, context);
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
    write_answers(Answer{"n", n, sums.rows()}, Answer{"D", D, sums.features()},
                  Answer{"m", m, sums.outputs()});
  });
}

mercer_status mercer_statistics_get_f64(const mercer_statistics* statistics, double* gram,
                                        double* cross, double* sum_z, double* sum_y,
                                        double* sum_y2) {
  return guard("mercer_statistics_get_f64", [&] {
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const int64_t D = sums.features(), m = sums.outputs();
    require(
        sums.weight() == static_cast<double>(sums.rows()), MERCER_UNSUPPORTED,
        "statistics of %lld rows whose weights sum to %.17g, expected rows without weights: the "
        "sums would not say what n is",
        static_cast<long long>(sums.rows()), sums.weight());
    if (gram != nullptr) matrix("gram", gram, "D", D, D, "D", D);
    if (cross != nullptr) matrix("cross", cross, "D", D, m, "m", m);
    if (gram != nullptr) solver::write_plain_gram(sums, {gram, D, D});
    if (cross != nullptr) solver::write_plain_cross(sums, {cross, D, m});
    write_sums("sum_z", "D", solver::plain_sum_features(sums), sum_z);
    write_sums("sum_y", "m", solver::plain_sum_outputs(sums), sum_y);
    write_sums("sum_y2", "m", solver::plain_sum_squared_outputs(sums), sum_y2);
  });
}

mercer_status mercer_statistics_set_f64(mercer_statistics* statistics, int64_t n,
                                        const double* gram, const double* cross,
                                        const double* sum_z, const double* sum_y,
                                        const double* sum_y2) {
  return guard("mercer_statistics_set_f64", [&] {
    solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const int64_t D = sums.features(), m = sums.outputs();
    solver::set_plain_sums(
        sums, {n, matrix("gram", gram, "D", D, D, "D", D),
               matrix("cross", cross, "D", D, m, "m", m), vector("sum_z", sum_z, "D", D).values(),
               vector("sum_y", sum_y, "m", m).values(), vector("sum_y2", sum_y2, "m", m).values()});
  });
}

void mercer_statistics_free(mercer_statistics* statistics) { delete statistics; }
