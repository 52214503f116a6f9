// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that a map keeps. They stay sparse if they come from sparse rows, so that kernel values cost
// what is stored.
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
  /// Reads what numbers() wrote, a.features rows of a.inputs. CORRUPT_FILE for anything else.
  explicit LandmarkRows(const MapArguments& a);

  Rows view() const;
  int64_t count() const { return view().rows(); }
  /// The sparse rows; null: they are dense.
  const ListedRows* listed() const noexcept { return std::get_if<ListedRows>(&rows_); }
  /// The dense rows; without data if they are sparse.
  MatrixView<const double> dense() const noexcept;
  std::vector<NumberArray> numbers() const;

 private:
  std::variant<Matrix<double>, ListedRows> rows_;
};

/// A rows x cols matrix of finite numbers from a file.
Matrix<double> matrix_from(const std::vector<double>& values, int64_t rows, int64_t cols);

}  // namespace mercer::feature
