// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/map_from_rows.h"

#include <algorithm>

#include "model/prepare/row_coding.h"
#include "model/rows/row_sets.h"

namespace mercer::model {

namespace {
constexpr int64_t kMapRows = 10000;
}

RowsForMap rows_for_map(const TargetedRows& rows, const Preparation& preparation,
                        const Coding& coding, const std::vector<int64_t>& from, int64_t sample,
                        uint64_t seed, Context& context) {
  constexpr const char* kRows = "the rows that a map is made from";
  const std::vector<int64_t> chosen = sample_rows(from, std::max(sample, kMapRows), seed);
  const CopiedRows copied(rows.X, chosen, context);
  RowsForMap made{
      PreparedRows(preparation, copied.rows(), context, kRows),
      Matrix<double>(std::ssize(chosen), coded_outputs(coding, rows.Y.cols), context, kRows)};
  for (int64_t i = 0; i < made.Y.rows(); ++i)
    code_target(coding, preparation, rows.Y.cols, rows.Y.row(chosen[i]), made.Y.view().row(i));
  return made;
}

}  // namespace mercer::model
