// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Non-negative least squares by their optimality conditions (Karush, Kuhn, Tucker), which decide:
// the problem is convex.
#include "linalg/non_negative.h"

#include <random>

#include "base/aligned.h"
#include "support/catch.h"

namespace non_negative_test {
using namespace mercer;

double normal(std::mt19937_64& words) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(words() >> 11) * 0x1p-53;
  return sum;
}

TEST_CASE("non-negative least squares are optimal") {
  for (const int64_t n : {1, 2, 7, 40}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      std::mt19937_64 words(seed);
      // Fewer rows than columns every other time: G is then singular.
      const int64_t m = seed % 2 == 0 ? n + 5 : (n + 1) / 2;
      Matrix<double> A(m, n), G(n, n);
      std::vector<double> y(m), b(n, 0.0);
      for (double& v : y) v = normal(words);
      for (int64_t i = 0; i < m * n; ++i) A.data()[i] = normal(words);
      G.fill(0);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          b[j] += A(i, j) * y[i];
          for (int64_t k = 0; k < n; ++k) G(j, k) += A(i, j) * A(i, k);
        }
      const std::vector<double> x = linalg::non_negative_least_squares(G.view(), b, 1e-10);
      INFO("n = " << n << ", seed " << seed);
      for (int64_t j = 0; j < n; ++j) {
        double gradient = -b[j];
        for (int64_t k = 0; k < n; ++k) gradient += G(j, k) * x[k];
        CHECK(x[j] >= 0);
        CHECK(gradient >= -2e-9);
        CHECK((x[j] == 0 || gradient <= 2e-9));
      }
    }
  }
}

TEST_CASE("non-negative least squares of what has an answer find it") {
  // x = (1, 2, 0): G x - b = (0, 0, 3).
  const double G[] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, b[] = {4, 5, -1};
  const std::vector<double> x = linalg::non_negative_least_squares({G, 3, 3}, b, 1e-12);
  CHECK(x[0] == Approx(1).epsilon(1e-15));
  CHECK(x[1] == Approx(2).epsilon(1e-15));
  CHECK(x[2] == 0);
}

}  // namespace non_negative_test
