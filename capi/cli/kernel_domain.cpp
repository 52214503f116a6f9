// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel_domain.h"

#include <cmath>
#include <cstdio>
#include <vector>

#include "failure.h"
#include "message.h"

namespace mercer::cli {

namespace {

/// Of the number stored at `place`: its row and column.
struct Cell {
  int64_t row, column;
};

Cell cell_at(const Numbers& X, int64_t d, int64_t place) {
  if (!X.sparse) return {place / d, place % d};
  int64_t row = 0;
  while (X.offsets[static_cast<size_t>(row + 1)] <= place) ++row;
  return {row, X.indices[static_cast<size_t>(place)]};
}

[[noreturn]] void refuse(const Kernel& kernel, const TrainingSet& set, int64_t place) {
  const Cell cell = cell_at(set.data.X, set.data.d, place);
  char text[128];
  std::snprintf(text, sizeof text, "row %lld, column %lld (counted from 0) is %g",
                static_cast<long long>(row_of(set.data, cell.row) - 1),
                static_cast<long long>(cell.column), set.data.X.at(place));
  throw Failure(set.data.name + ": " + in_words(text, input_names(set.metadata)) +
                ", which the kernel " + kernel.spec() +
                " does not take: leave the row out or shift the column, or take a kernel of all "
                "numbers");
}

}  // namespace

bool takes(const Kernel& kernel, int64_t d, double number) {
  const std::vector<double> row(static_cast<size_t>(d), number);
  const Rows X(MatrixView<const double>(row.data(), 1, d));
  Matrix<double> value(1, 1);
  kernel.gram(X, X, value);
  return !std::isnan(value(0, 0));
}

void check_domain(const Kernel& kernel, const TrainingSet& set) {
  const Dataset& data = set.data;
  double inside = 0;  // the least number that the kernel takes, of those asked
  for (int64_t place = 0; place < static_cast<int64_t>(data.X.stored()); ++place) {
    const double x = data.X.at(place);
    if (!(x < inside)) continue;
    if (!takes(kernel, data.d, x)) refuse(kernel, set, place);
    inside = x;
  }
}

}  // namespace mercer::cli
