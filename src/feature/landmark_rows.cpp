// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/landmark_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "feature/landmarks.h"

namespace mercer::feature {
namespace {

using Held = std::variant<Matrix<double>, ListedRows>;

Held chosen_rows(const kernel::Kernel& kernel, const Rows& rows, std::span<const int64_t> chosen,
                 Context& context) {
  if (kernel::pairs_as_listed(kernel, rows)) return listed_rows(kernel, rows, chosen, context);
  return copied_rows(kernel, rows, chosen, context);
}

std::vector<NumberArray> arrays_of(const CsrView<double>& rows) {
  const int64_t count = rows.nonzeros();
  std::vector<int64_t> offsets, columns;
  for (int64_t l = 0; l <= rows.rows; ++l) offsets.push_back(rows.offsets[l]);
  for (int64_t p = 0; p < count; ++p) columns.push_back(rows.indices[p]);
  return {{"landmark_offsets", {rows.rows + 1}, std::move(offsets)},
          {"landmark_columns", {count}, std::move(columns)},
          {"landmark_values", {count}, std::vector<double>(rows.values, rows.values + count)}};
}

/// Checked before it is used.
ListedRows loaded_list(const MapArguments& a) {
  const int64_t D = a.features;
  const std::array<int64_t, 1> any{-1};
  const auto& offsets =
      find_integers(a.data.numbers, "landmark_offsets", std::array<int64_t, 1>{D + 1});
  const auto& columns = find_integers(a.data.numbers, "landmark_columns", any);
  const std::array<int64_t, 1> count{std::ssize(columns)};
  const auto& values = find_doubles(a.data.numbers, "landmark_values", count);
  require(offsets.front() == 0 && offsets.back() == count[0] && std::ranges::is_sorted(offsets),
          MERCER_CORRUPT_FILE, "landmark_offsets do not ascend from 0 to %ld", count[0]);
  for (const int64_t column : columns)
    require(column >= 0 && column < a.inputs, MERCER_CORRUPT_FILE,
            "landmark_columns hold %ld, expected 0 to %ld", column, a.inputs - 1);
  for (const double value : values)
    require(std::isfinite(value), MERCER_CORRUPT_FILE, "landmark_values hold %g", value);
  const CsrView<double> view{D, a.inputs, offsets.data(), columns.data(), values.data()};
  Context context;
  return ListedRows(view, context, "landmarks");
}

Held loaded(const MapArguments& a) {
  const bool sparse = std::ranges::any_of(
      a.data.numbers, [](const NumberArray& array) { return array.name == "landmark_offsets"; });
  if (sparse) return loaded_list(a);
  const std::array<int64_t, 2> shape{a.features, a.inputs};
  return matrix_from(find_doubles(a.data.numbers, "landmarks", shape), a.features, a.inputs);
}

}  // namespace

LandmarkRows::LandmarkRows(const kernel::Kernel& kernel, const Rows& rows,
                           std::span<const int64_t> chosen, Context& context)
    : rows_(chosen_rows(kernel, rows, chosen, context)) {}

LandmarkRows::LandmarkRows(const MapArguments& a) : rows_(loaded(a)) {}

Rows LandmarkRows::view() const {
  return std::visit([](const auto& own) -> Rows { return own.view(); }, rows_);
}

MatrixView<const double> LandmarkRows::dense() const noexcept {
  if (const auto* const own = std::get_if<Matrix<double>>(&rows_)) return own->view();
  const CsrView<double> rows = listed()->view();
  return {nullptr, rows.rows, rows.cols};
}

std::vector<NumberArray> LandmarkRows::numbers() const {
  if (listed() != nullptr) return arrays_of(listed()->view());
  const MatrixView<const double> own = dense();
  return {{"landmarks",
           {own.rows, own.cols},
           std::vector<double>(own.data, own.data + own.rows * own.cols)}};
}

Matrix<double> matrix_from(const std::vector<double>& values, int64_t rows, int64_t cols) {
  Matrix<double> A(rows, cols);
  for (const double value : values) {
    require(std::isfinite(value), MERCER_CORRUPT_FILE, "landmarks or their root hold %g", value);
  }
  std::copy(values.begin(), values.end(), A.data());
  return A;
}

}  // namespace mercer::feature
