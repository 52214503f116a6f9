// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// ANOVA kernels against sums over subsets, features against the signs they are made of, refusals.
#include <cmath>
#include <string>

#include "moment/linear_variance.h"
#include "random/law.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;

namespace {

std::unique_ptr<FeatureMap> make(const Parameters& kernel, int64_t d, int64_t D) {
  return made_map("anova", kernel, d, D, 5);
}

}  // namespace

TEST_CASE("anova: the kernel is the sum over subsets") {
  const Matrix<double> X = random_matrix(2, 6, 9);
  const double *const x = X.view().row(0), *const y = X.view().row(1);
  double of_size[7] = {}, all = 0;
  for (int subset = 0; subset < 64; ++subset) {
    double product = 1;
    for (int k = 0; k < 6; ++k)
      if ((subset >> k & 1) != 0) product *= x[k] * y[k];
    of_size[__builtin_popcount(static_cast<unsigned>(subset))] += product;
    all += product;
  }
  for (int64_t m = 1; m <= 6; ++m) {
    const auto kernel = kernel::make_kernel({{"kernel", "anova"}, {"degree", m}});
    CHECK(kernel->value(6, x, y) == Approx(of_size[m]).epsilon(1e-13));
  }
  const auto every = kernel::make_kernel({{"kernel", "anova"}, {"subsets", "all"}});
  CHECK(every->value(6, x, y) == Approx(all).epsilon(1e-13));
}

TEST_CASE("anova: features are the polynomials of signed inputs") {
  const int64_t d = 5, D = 40;
  const Matrix<double> X = random_matrix(3, d, 2);
  for (const int64_t m : {1, 3}) {
    const auto map = make({{"kernel", "anova"}, {"degree", m}, {"variance", 2.0}}, d, D);
    const Matrix<double> Z = features_of(*map, X);
    double worst = 0;
    for (int64_t j = 0; j < D; ++j) {
      std::vector<double> w(static_cast<size_t>(d));
      random::sign_law()->draw(random::Stream(5, random::Tag::frequency, static_cast<uint64_t>(j)),
                               w);
      for (int64_t i = 0; i < 3; ++i) {
        std::vector<double> e(static_cast<size_t>(m) + 1, 0.0);
        e[0] = std::sqrt(2.0 / static_cast<double>(D));
        for (int64_t k = 0; k < d; ++k)
          for (size_t t = static_cast<size_t>(m); t > 0; --t)
            e[t] += e[t - 1] * w[static_cast<size_t>(k)] * X(i, k);
        worst = std::max(worst, std::fabs(Z(i, j) - e.back()));
      }
    }
    CHECK(worst <= 1e-15);
  }
}

TEST_CASE("anova: what does not exist is refused") {
  CHECK(refused_map("anova", {{"kernel", "gaussian"}}, "kernel gaussian", "expected anova") == "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH,
            [&] {
              make({{"kernel", "anova"}, {"degree", int64_t{5}}}, 4, 8);
            },
            "d = 4", "5 inputs") == "");
  CHECK(
      refusal_fault(
          MERCER_INVALID_ARGUMENT,
          [&] {
            kernel::make_kernel({{"kernel", "anova"}, {"degree", int64_t{3}}, {"subsets", "all"}});
          },
          "degree = 3", "left out") == "");
}
