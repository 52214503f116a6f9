// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/statistics.h, row statistics.
#include "mercer/statistics.h"

#include <algorithm>
#include <optional>
#include <span>

#include "arguments.h"
#include "base/aligned.h"
#include "base/views.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"
#include "solver/row_statistics.h"

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

Change read_sign(int32_t sign) {
  require(sign == 1 || sign == -1, MERCER_INVALID_ARGUMENT, "sign = %d, expected 1 or -1", sign);
  return sign == 1 ? Change::add : Change::remove;
}

void change_rows(Change change, solver::RowStatistics& sums, const mercer_rows& Z,
                 const mercer_rows& Y, Context& context) {
  const auto features = read_rows("Z", Z, sums.features(), "the features", context);
  RowsArgument targets{"Y", Rows(MatrixView<const double>(nullptr, features.n(), 0)), {}};
  if (is_given(Y) || sums.outputs() > 0)
    targets = read_rows("Y", Y, sums.outputs(), "the outputs", context);
  check_same_rows(targets, features);
  require_summable("Y", targets);
  require_summable("Z", features);
  require(change == Change::add || features.n() <= sums.rows(), MERCER_INVALID_ARGUMENT,
          "Z.n = %ld rows to remove, but only %ld are present", features.n(), sums.rows());
  const DoubleRows y(targets, context);
  features.rows.visit([&](const auto& rows) {
    if constexpr (kIsSparse<decltype(rows)>) {
      change_sparse(change, sums, rows, y.view(), context);
    } else {
      change_dense(change, sums, rows, y.view(), context);
    }
  });
}

/// The caller's place for sums, which may be absent.
std::optional<Result> sums_result(const char* name, const mercer_matrix& matrix, int64_t rows,
                                  int64_t cols, Context& context) {
  if (!is_given(matrix)) return {};
  return Result(name, matrix, rows, cols, context);
}

void write_sums(const std::optional<Result>& result, std::span<const double> sums) {
  if (!result) return;
  std::ranges::copy(sums, result->view().row(0));
  result->finish();
}

/// Reads numbers of that shape, without gaps.
Matrix<double> read_sums(const char* name, const mercer_rows& given, int64_t rows, int64_t cols,
                         Context& context) {
  Matrix<double> sums(rows, cols);
  if (rows * cols == 0 && !is_given(given)) return sums;
  const auto read = read_rows(name, given, cols, "its columns", context);
  require(read.n() == rows, MERCER_DIMENSION_MISMATCH, "%s.n = %ld, expected %ld", name, read.n(),
          rows);
  const DoubleRows dense(read, context);
  for (int64_t i = 0; i < rows; ++i) std::copy_n(dense.view().row(i), cols, sums.view().row(i));
  return sums;
}

std::span<const double> values_of(const Matrix<double>& sums) {
  return {sums.view().data, static_cast<size_t>(sums.rows() * sums.cols())};
}

}  // namespace

mercer_status mercer_statistics_create(int64_t D, int64_t m, mercer_statistics** out) {
  return guard_create("mercer_statistics_create", out, [&] {
    check_at_least("D", D, 1);
    check_at_least("m", m, 0);
    return mercer_statistics{solver::RowStatistics(D, m)};
  });
}

mercer_status mercer_statistics_add(mercer_statistics* statistics, int32_t sign, mercer_rows Z,
                                    mercer_rows Y, mercer_context* context) {
  return guard_long("mercer_statistics_add", context, [&](Context& running) {
    change_rows(read_sign(sign), checked("statistics", statistics).impl, Z, Y, running);
  });
}

mercer_status mercer_statistics_merge(mercer_statistics* statistics, int32_t sign,
                                      const mercer_statistics* other) {
  return guard("mercer_statistics_merge", [&] {
    solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const solver::RowStatistics& others = checked("other", other).impl;
    read_sign(sign) == Change::add ? sums.merge(others) : sums.subtract(others);
  });
}

mercer_status mercer_statistics_shape(const mercer_statistics* statistics, mercer_shape* shape) {
  return guard("mercer_statistics_shape", [&] {
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    write_shape(sums.rows(), sums.features(), sums.outputs(), shape);
  });
}

mercer_status mercer_statistics_get(const mercer_statistics* statistics, mercer_matrix gram,
                                    mercer_matrix cross, mercer_matrix sum_z, mercer_matrix sum_y,
                                    mercer_matrix sum_y2) {
  return guard("mercer_statistics_get", [&] {
    Context context;
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const int64_t D = sums.features(), m = sums.outputs();
    require(sums.weight() == static_cast<double>(sums.rows()), MERCER_UNSUPPORTED,
            "statistics of %ld rows whose weights sum to %.17g, expected rows without weights: the "
            "sums would not say what n is",
            sums.rows(), sums.weight());
    const auto G = sums_result("gram", gram, D, D, context);
    const auto C = sums_result("cross", cross, D, m, context);
    const auto z = sums_result("sum_z", sum_z, 1, D, context);
    const auto y = sums_result("sum_y", sum_y, 1, m, context);
    const auto y2 = sums_result("sum_y2", sum_y2, 1, m, context);
    if (G) solver::write_plain_gram(sums, G->view()), G->finish();
    if (C) solver::write_plain_cross(sums, C->view()), C->finish();
    write_sums(z, solver::plain_sum_features(sums));
    write_sums(y, solver::plain_sum_outputs(sums));
    write_sums(y2, solver::plain_sum_squared_outputs(sums));
  });
}

mercer_status mercer_statistics_set(mercer_statistics* statistics, int64_t n, mercer_rows gram,
                                    mercer_rows cross, mercer_rows sum_z, mercer_rows sum_y,
                                    mercer_rows sum_y2) {
  return guard("mercer_statistics_set", [&] {
    Context context;
    solver::RowStatistics& sums = checked("statistics", statistics).impl;
    const int64_t D = sums.features(), m = sums.outputs();
    const auto G = read_sums("gram", gram, D, D, context);
    const auto C = read_sums("cross", cross, D, m, context);
    const auto z = read_sums("sum_z", sum_z, 1, D, context);
    const auto y = read_sums("sum_y", sum_y, 1, m, context);
    const auto y2 = read_sums("sum_y2", sum_y2, 1, m, context);
    solver::set_plain_sums(sums,
                           {n, G.view(), C.view(), values_of(z), values_of(y), values_of(y2)});
  });
}

void mercer_statistics_free(mercer_statistics* statistics) { delete statistics; }
