// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "linalg/orthogonal_factor.h"

#include <cmath>

#include "base/aligned.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;

TEST_CASE("the upper trapezoid keeps A'A", "[linalg]") {
  Context context;
  for (const auto& [r, D] :
       {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {5, 5}, {20, 33}, {60, 60}}) {
    const Matrix<double> A = random_matrix(r, D, 4), R = copy(A.view());
    linalg::upper_trapezoid(R.view(), context);
    double above = 0, worst = 0;
    for (int64_t j = 0; j < r; ++j)
      for (int64_t l = 0; l < j; ++l) above = std::max(above, std::fabs(R(j, l)));
    const Matrix<double> expected = product(transposed(A.view()).view(), A.view());
    const Matrix<double> got = product(transposed(R.view()).view(), R.view());
    for (int64_t i = 0; i < D * D; ++i)
      worst = std::max(worst, std::fabs(got.data()[i] - expected.data()[i]));
    INFO(r << " x " << D);
    CHECK(above == 0);
    CHECK(worst <= 1e-15 * static_cast<double>(r + D) * static_cast<double>(r));
  }
}

TEST_CASE("the upper trapezoid wants no more rows than columns, and memory", "[linalg]") {
  Context context;
  const Matrix<double> tall = random_matrix(3, 2, 1), wide = random_matrix(2, 3, 1);
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { linalg::upper_trapezoid(tall.view(), context); },
            "3 x 2") == "");
  context.memory_cap = 1;
  CHECK(refusal_fault(
            MERCER_OUT_OF_MEMORY, [&] { linalg::upper_trapezoid(wide.view(), context); },
            "memory_cap") == "");
}
