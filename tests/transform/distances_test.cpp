// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of differences on every target against scalar loops; nothing is written past the end; NaN
// stays in the sums of its row; the bits are those of the two rows the other way round.
#include <cmath>
#include <vector>

#include "support/dense.h"
#include "support/simd_target.h"
#include "transform/elements.h"

namespace mercer::test::distances_test {
namespace {

using Add = void (*)(const transform::DifferenceCall&) noexcept;

double expected(bool squared, const double* x, const Matrix<double>& Y, int64_t j,
                const std::vector<double>& scale) {
  double sum = 0.5;
  for (int64_t k = 0; k < Y.rows(); ++k) {
    const double t = (x[k] - Y(k, j)) * scale[k];
    sum += squared ? t * t : std::fabs(t);
  }
  return sum;
}

}  // namespace

TEST_CASE("sums of differences are those of scalar loops") {
  on_every_target([] {
    for (const bool squared : {true, false})
      for (const int64_t d : {1, 5, 33})
        for (const int64_t n : {0, 1, 3, 8, 31, 32, 33, 64, 70}) {
          const Add add =
              squared ? transform::add_squared_differences : transform::add_absolute_differences;
          const Matrix<double> Y = random_matrix(d, n + 1, 7), x = random_matrix(1, d, 8);
          std::vector<double> scale(d), sums(n + 1, 0.5);
          for (int64_t k = 0; k < d; ++k) scale[k] = 0.5 + static_cast<double>(k);
          if (n > 2) Y.view()(d - 1, 2) = NAN;
          add({x.data(), scale.data(), d, Y.data(), n + 1, n, sums.data()});
          CAPTURE(squared, d, n);
          int64_t wrong = sums[n] != 0.5;
          for (int64_t j = 0; j < n; ++j) {
            const double truth = expected(squared, x.data(), Y, j, scale);
            wrong += j == 2 ? !std::isnan(sums[j]) : std::fabs(sums[j] - truth) > 1e-14 * truth;
            std::vector<double> y(d);
            for (int64_t k = 0; k < d; ++k) y[k] = Y(k, j);
            double other = 0.5;
            add({y.data(), scale.data(), d, x.data(), 1, 1, &other});
            wrong += j != 2 && other != sums[j];
          }
          CHECK(wrong == 0);
        }
  });
}

}  // namespace mercer::test::distances_test
