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

Matrix<double> rows_for_map(const Rows& X, const Preparation& preparation,
                            const std::vector<int64_t>& from, int64_t features, uint64_t seed,
                            Context& context) {
  const std::vector<int64_t> chosen = sample_rows(from, std::max(features, kMapRows), seed);
  const auto count = static_cast<int64_t>(chosen.size());
  Matrix<double> rows(count, preparation.prepared(X.cols()), context,
                      "the rows that a map is made from");
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < count; ++i) {
      standardize_row(preparation, view, chosen[static_cast<size_t>(i)], rows.view().row(i));
    }
  });
  return rows;
}

}  // namespace mercer::model
