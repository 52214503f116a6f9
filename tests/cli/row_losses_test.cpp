// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <cmath>
#include <vector>

#include "scoring.h"
#include "support/catch.h"

namespace row_losses_test {
using namespace mercer;
using namespace mercer::cli;

TEST_CASE("losses of rows of which some lack targets: their mean is 1 - R^2", "[cli]") {
  const double Y[] = {1, NAN, 2, 4, NAN, 1, 5, 3, 2, 2}, f[] = {1, 7, 3, 3, 9, 2, 4, 3, 1, 1};
  Dataset data;
  data.n = 5;
  data.m = 2;
  for (const double y : Y) data.Y.push_back(y);
  Matrix<double> predicted(5, 2);
  for (int64_t k = 0; k < 10; ++k) predicted(k / 2, k % 2) = f[k];
  const Rows truth = MatrixView<const double>(Y, 5, 2);
  for (const std::vector<double>& weights : {std::vector<double>{}, {1, 2, 1, 4, 3}}) {
    data.weights = weights;
    mercer_score_options options = score_options();
    if (!weights.empty()) options.weights = weights.data();
    const double loss = mean_of(row_losses(predicted, data, 0), weights).value;
    CHECK(loss == Approx(1 - prediction_score(predicted, truth, 0, options)));
  }
}

}  // namespace row_losses_test
