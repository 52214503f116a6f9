// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/map_from_rows.h"

#include <algorithm>

#include "model/row_coding.h"
#include "model/row_sets.h"

namespace mercer::model {

namespace {
constexpr int64_t kMapRows = 10000;
}

RowsForMap rows_for_map(const Rows& X, MatrixView<const double> Y, const Preparation& preparation,
                        const FitOptions& options, const std::vector<int64_t>& from,
                        int64_t features, Context& context) {
  constexpr const char* kRows = "the rows that a map is made from";
  const std::vector<int64_t> chosen = sample_rows(from, std::max(features, kMapRows), options.seed);
  const auto count = static_cast<int64_t>(chosen.size());
  RowsForMap rows{Matrix<double>(count, preparation.prepared(X.cols()), context, kRows),
                  Matrix<double>(count, coded_outputs(options, Y.cols), context, kRows)};
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = chosen[static_cast<size_t>(i)];
      standardize_row(preparation, view, row, rows.X.view().row(i));
      code_target(options, preparation, Y.cols, Y.row(row), rows.Y.view().row(i));
    }
  });
  return rows;
}

}  // namespace mercer::model
