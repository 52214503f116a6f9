// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Laplace features of given frequencies and their variances against the reference numbers.
#include "kernel/kernel.h"
#include "support/dense.h"
#include "support/epilogue.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/reference_matrix.h"
#include "transform/panel.h"

namespace laplace_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<FeatureMap> make(const Parameters& kernel, int64_t d, int64_t D) {
  return made_map("laplace", kernel, d, D);
}

// What the map is made of, on given frequencies: a projection and this epilogue.
TEST_CASE("laplace: given frequencies give the reference features") {
  constexpr int64_t kColumns = transform::kPanelColumns<double>;
  REQUIRE(oracle("transforms")["maps"].size() == 2);
  for (const auto& [X, W, expected] :
       reference_maps("X_positive", "laplace_omega", "random_laplace")) {
    Matrix<double> P(X.rows(), kColumns), out(X.rows(), kColumns), scale(1, kColumns);
    P.fill(0);
    scale.fill(1 / std::sqrt(static_cast<double>(W.cols())));
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t j = 0; j < W.cols(); ++j)
        for (int64_t k = 0; k < X.cols(); ++k) P(i, j) += X(i, k) * W(k, j);
    finish(transform::decay_epilogue(), P.data(), X.rows(), kColumns, scale.data(), scale.data(),
           out.data());
    Matrix<double> Z(X.rows(), W.cols());
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t j = 0; j < W.cols(); ++j) Z(i, j) = out(i, j);
    CHECK(worst_difference(Z, expected) <= 2e-15);
  }
}

TEST_CASE("laplace: variances equal the reference numbers") {
  REQUIRE(oracle("variances")["other"].size() == 4);
  for (const Reference& entry : oracle("variances")["other"]) {
    const Matrix<double> x = reference_matrix(Reference::row(entry["xp"]));
    const Matrix<double> y = reference_matrix(Reference::row(entry["yp"]));
    const auto at = [&](const Parameters& kernel, int64_t D) {
      double variance = 0;
      make(kernel, 3, D)->variance(x.view(), y.view(), std::span(&variance, 1));
      return variance;
    };
    const Parameters exponential{{"kernel", "exponential_semigroup"}, {"beta", 0.7}};
    const Parameters reciprocal{{"kernel", "reciprocal_semigroup"}, {"lambda", 0.9}};
    CHECK(at(exponential, 1) ==
          Approx(entry["exp_semigroup_beta0.7"].get<double>()).epsilon(1e-12));
    CHECK(at(reciprocal, 1) == Approx(entry["reciprocal_lam0.9"].get<double>()).epsilon(1e-12));
    CHECK(at(reciprocal, 8) == Approx(at(reciprocal, 1) / 8).epsilon(1e-14));
  }
}

// The heaviest tails there are: entries beyond the floats.
TEST_CASE("laplace: near the origin the variance vanishes, and is not negative by rounding") {
  for (const Parameters& kernel :
       {Parameters{{"kernel", "exponential_semigroup"}, {"beta", 1.0}},
        Parameters{{"kernel", "reciprocal_semigroup"}, {"lambda", 1.0}}}) {
    const auto map = make(kernel, 3, 1);
    int64_t wrong = 0;
    for (int64_t i = 1; i <= 2000; ++i) {
      const double t = 1e-12 * static_cast<double>(i * i);
      const Matrix<double> x = filled(1, 3, [&](int64_t, int64_t) { return t; });
      double variance = -1;
      map->variance(x.view(), x.view(), std::span(&variance, 1));
      wrong += !(variance >= 0 && variance < 1);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("laplace: a zero input counts for nothing whatever its frequency") {
  const auto map = make({{"kernel", "exponential_semigroup"}, {"beta", 1e20}}, 2, 64);
  Matrix<float> X(2, 2);
  X.fill(0);
  X(1, 1) = 1;
  const Matrix<float> Z = features_of(*map, X);
  for (int64_t j = 0; j < 64; ++j) {
    CHECK(Z(0, j) == 0.125f);
    CHECK(Z(1, j) == 0);
  }
}

// The law of every coordinate, as its distribution function says it.
TEST_CASE("laplace: quantiles of the laws") {
  const auto law = [](const Parameters& kernel) {
    return kernel::make_kernel(kernel::canonical_kernel(kernel, ""));
  };
  const auto levy = law({{"kernel", "exponential_semigroup"}, {"beta", 0.7}}),
             exponential = law({{"kernel", "reciprocal_semigroup"}, {"lambda", 1.8}});
  for (const double u : {1e-9, 1e-3, 0.2, 0.5, 0.9, 0.999, 1 - 1e-9}) {
    const double w = levy->traits().laplace_law->quantile_given(0.3, 1, u);
    CHECK(std::erfc(std::sqrt(0.245 / (2 * w))) == Approx(u).epsilon(1e-6));
    const double v = exponential->traits().laplace_law->quantile_given(0.3, 1, u);
    CHECK(std::exp(-1.8 * v) == Approx(u).epsilon(1e-12));
  }
  CHECK(levy->traits().laplace_law->quantile_given(0, 0, 1 - 0x1p-53) <= 1e37);
}

TEST_CASE("laplace: other kernels are refused") {
  CHECK(refused_map("laplace", {{"kernel", "gaussian"}}, "kernel gaussian",
                    "reciprocal_semigroup") == "");
}

}  // namespace laplace_test
