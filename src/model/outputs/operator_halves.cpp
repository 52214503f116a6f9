// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/operator_halves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/outputs/output_units.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::model {
namespace {

constexpr const char* kWhat = "rows held out of an operator-valued fit";
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kHeldOutOneIn = 5;

void subtract(MatrixView<double> Y, const std::vector<double>& mean) {
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) Y(i, k) -= mean[static_cast<std::size_t>(k)];
}

}  // namespace

std::vector<int64_t> observed_rows(MatrixView<const double> Y) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < Y.rows; ++i)
    if (!std::all_of(Y.row(i), Y.row(i) + Y.cols, [](double y) { return std::isnan(y); }))
      rows.push_back(i);
  return rows;
}

OperatorHalves::OperatorHalves(MatrixView<const double> Y, uint64_t seed, bool about_means,
                               Context& context)
    : kept(Y.rows, Y.cols, context, kWhat), held_out(Y.rows, Y.cols, context, kWhat) {
  kept.fill(kMissing);
  held_out.fill(kMissing);
  const std::vector<int64_t> rows = observed_rows(Y);
  const int64_t count = std::ssize(rows);
  require(
      count >= 2, MERCER_INVALID_ARGUMENT,
      "%lld rows with an observed target, expected at least 2 to choose lambda by held-out rows",
      static_cast<long long>(count));
  std::vector<int64_t> order(rows.size());
  random::Cursor cursor({seed, random::Tag::split, kHeldOutOneIn});
  random::permutation(cursor, order);
  const int64_t out = std::max<int64_t>(1, count / kHeldOutOneIn);
  for (int64_t place = 0; place < count; ++place) {
    const int64_t i = rows[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])];
    std::copy_n(Y.row(i), Y.cols, (place < out ? held_out : kept).view().row(i));
  }
  if (!about_means) return;
  const std::vector<double> mean = output_units(kept.view(), OutputScale::own).mean;
  subtract(kept.view(), mean);
  subtract(held_out.view(), mean);
}

}  // namespace mercer::model
