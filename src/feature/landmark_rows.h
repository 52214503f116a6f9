// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that a map keeps: sparse if they are out of sparse rows, so that kernel values with them cost
// what these list.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/listed_rows.h"
#include "base/number_array.h"
#include "feature/map_entry.h"

namespace mercer::feature {

class LandmarkRows {
 public:
  /// The chosen rows. Errors: those of copied_rows.
  LandmarkRows(const kernel::Kernel& kernel, const Rows& rows, std::span<const int64_t> chosen,
               Context& context);
  /// What numbers() wrote, a.features rows of a.inputs. CORRUPT_FILE for anything else.
  explicit LandmarkRows(const MapArguments& a);

  Rows view() const;
  int64_t count() const { return view().rows(); }
  /// Null: they are dense.
  const ListedRows* listed() const noexcept { return std::get_if<ListedRows>(&rows_); }
  /// Without data if they are listed.
  MatrixView<const double> dense() const noexcept;
  std::vector<NumberArray> numbers() const;

 private:
  std::variant<Matrix<double>, ListedRows> rows_;
};

/// Rows x cols of finite numbers out of a file.
Matrix<double> matrix_from(const std::vector<double>& values, int64_t rows, int64_t cols);

}  // namespace mercer::feature
