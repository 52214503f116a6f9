// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <cmath>

#include "model/model.h"
#include "prepared_by.h"
#include "support/catch.h"
#include "support/dense.h"

using namespace mercer;

TEST_CASE("means and deviations of columns with a large offset keep their digits", "[model]") {
  // Column 0: offset 1e6, deviation 1/sqrt(3) of a uniform; the exact values by long double sums of
  // the very entries.
  Matrix<double> X = test::random_matrix(1000, 2, 7);
  for (int64_t i = 0; i < X.rows(); ++i) X(i, 0) += 1e6;
  const auto found = test::fit_standardizer(MatrixView<const double>(X.view()));
  double worst = 0;
  for (int64_t j = 0; j < 2; ++j) {
    long double mean = 0, squares = 0;
    for (int64_t i = 0; i < X.rows(); ++i) mean += X(i, j);
    mean /= X.rows();
    for (int64_t i = 0; i < X.rows(); ++i) squares += (X(i, j) - mean) * (X(i, j) - mean);
    const auto scale = static_cast<double>(std::sqrt(squares / X.rows()));
    const auto c = static_cast<size_t>(j);
    // The mean to n eps of its size; the deviation, of differences from a mean within that, to n
    // eps of its own.
    worst = std::max(worst, std::abs(found.mean[c] - static_cast<double>(mean)) /
                                (1 + std::abs(static_cast<double>(mean))));
    worst = std::max(worst, std::abs(found.scale[c] - scale) / scale);
  }
  CHECK(worst <= 1000 * 0x1p-52);
}

TEST_CASE("a constant column keeps scale 1 and is moved to 0", "[model]") {
  Matrix<float> X(50, 2);
  for (int64_t i = 0; i < 50; ++i) {
    X(i, 0) = 0.1f;
    X(i, 1) = static_cast<float>(i);
  }
  const auto found = test::fit_standardizer(MatrixView<const float>(X.view()));
  CHECK(found.scale[0] == 1.0);
  CHECK(std::abs(found.mean[0] - static_cast<double>(0.1f)) <= 1e-16);
  CHECK(found.scale[1] == Approx(std::sqrt((50.0 * 50.0 - 1) / 12)).epsilon(1e-14));
}
