// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Poisson features: given exponents against the reference features, variances against the reference
// numbers, mean and variance over seeds where they can be sampled, extreme rows.
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/map_calls.h"
#include "support/reference_matrix.h"
#include "support/statistic.h"
#include "support/worst.h"
#include "transform/panel.h"

namespace poisson_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<FeatureMap> make(const Parameters& kernel, int64_t d, int64_t D,
                                 uint64_t seed = 1) {
  return made_map("poisson", kernel, d, D, seed);
}

Parameters gaussian(double lengthscale) {
  return {{"kernel", "gaussian"}, {"lengthscale", lengthscale}};
}

double inner_product(const Matrix<double>& Z) {
  double sum = 0;
  for (int64_t j = 0; j < Z.cols(); ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

TEST_CASE("poisson: given exponents give the reference features") {
  constexpr int64_t kColumns = transform::kPanelColumns<double>;
  REQUIRE(oracle("transforms")["maps"].size() == 2);
  for (const auto& [X, omega, expected] : reference_maps("X", "poisson_omega", "poisson_ell1")) {
    Matrix<double> P(X.rows(), kColumns), N(X.rows(), kColumns), offset(X.rows(), 1);
    P.fill(0), N.fill(0), offset.fill(0);
    for (int64_t i = 0; i < X.rows(); ++i) {
      for (int64_t k = 0; k < X.cols(); ++k) {
        offset(i, 0) += 0.5 * (1 - X(i, k) * X(i, k));
        for (int64_t j = 0; j < omega.cols(); ++j) {
          P(i, j) += omega(k, j) * std::log(std::fabs(X(i, k)));
          N(i, j) += X(i, k) < 0 ? omega(k, j) : 0;
        }
      }
    }
    transform::signed_exp(N.data(), X.rows(), kColumns, offset.data(), 1,
                          1 / std::sqrt(static_cast<double>(omega.cols())), P.data());
    double worst = 0;
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t j = 0; j < omega.cols(); ++j)
        worst = std::max(worst, std::fabs(P(i, j) / expected(i, j) - 1));
    CHECK(worst <= 1e-13);  // exponents of some 50 units
  }
}

TEST_CASE("poisson: variances equal the reference numbers") {
  REQUIRE(oracle("variances")["other"].size() == 4);
  for (const Reference& entry : oracle("variances")["other"]) {
    const Matrix<double> x = reference_matrix(Reference::row(entry["x"]));
    const Matrix<double> y = reference_matrix(Reference::row(entry["y"]));
    double variance = 0;
    make(gaussian(1), 3, 1)->variance(x.view(), y.view(), std::span(&variance, 1));
    CHECK(variance == Approx(entry["poisson_ell1"].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("poisson: mean and variance over seeds, one lengthscale and one per input") {
  constexpr uint64_t kSeeds = 4000;
  const Matrix<double> X = random_matrix(2, 3, 4);
  const Parameters each{{"kernel", "gaussian"},
                        {"lengthscale", std::vector<double>{1.5, 2.0, 3.0}},
                        {"variance", 1.7}};
  for (const Parameters& kernel : {gaussian(1.5), each}) {
    const auto exact = kernel::make_kernel(kernel);
    const double k = exact->value(3, X.view().row(0), X.view().row(1));
    std::vector<double> estimates, squares;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      estimates.push_back(inner_product(features_of(*make(kernel, 3, 20, seed), X)));
      squares.push_back((estimates.back() - k) * (estimates.back() - k));
    }
    double variance = 0;
    make(kernel, 3, 20)
        ->variance(X.view().block_rows(0, 1), X.view().block_rows(1, 2), std::span(&variance, 1));
    const double z = z_threshold(kFailure, 4);
    CHECK(std::fabs(mean_z_score(estimates, k, variance)) <= z);
    CHECK(std::fabs(studentised_z_score(squares, variance)) <= z);
    CHECK(variance > 0.001 * k * k);
  }
}

TEST_CASE("poisson: zeros, large rows and many inputs neither overflow nor become NaN") {
  const int64_t d = 300;
  const auto map = make(gaussian(2), d, 64);
  Matrix<float> X(4, d);
  X.fill(0);
  for (int64_t k = 0; k < d; ++k) X(1, k) = 1000, X(2, k) = k % 2 == 0 ? -1.0f : 1.0f, X(3, k) = 1;
  const Matrix<float> Z = features_of(*map, X);
  for (int64_t j = 0; j < 64; ++j) {
    CHECK(std::isfinite(Z(0, j)));
    CHECK(Z(1, j) == 0);
    CHECK(std::fabs(Z(2, j)) == 0.125f);
    CHECK(Z(3, j) == 0.125f);
  }
}

TEST_CASE("poisson: derivatives at inputs of 0 are quotients, far out 0") {
  const int64_t d = 4, D = 300;
  const auto map =
      make({{"kernel", "gaussian"}, {"lengthscale", std::vector<double>{1, 0.7, 2, 1}}}, d, D);
  Matrix<double> X(3, d);
  X.fill(0);
  for (int64_t k = 0; k < d; ++k) X(1, k) = k % 2 == 0 ? 0 : -0.6, X(2, k) = 1e5;
  using Kind = feature::Derivative::Kind;
  const auto gradient = differentiated(*map, {Kind::gradient}, X);
  const auto hessian = differentiated(*map, {Kind::hessian_diagonal}, X);
  const double h = 1e-3;
  for (int64_t k = 0; k < d; ++k) {
    const auto at = [&](double by) {
      const auto moved = copy(X.view());
      for (int64_t i = 0; i < 3; ++i) moved(i, k) += by;
      return features_of(*map, moved);
    };
    const auto A = at(h), B = at(-h), C = at(0);
    double first = 0, second = 0, size = 0;
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < D; ++j) {
        keep_worst(first, std::fabs((A(i, j) - B(i, j)) / (2 * h) - gradient(i, k * D + j)));
        keep_worst(second,
                   std::fabs((A(i, j) + B(i, j) - 2 * C(i, j)) / (h * h) - hessian(i, k * D + j)));
        keep_worst(size, std::fabs(hessian(i, k * D + j)));
      }
    }
    CHECK(first <= 1e-4 * size);
    CHECK(second <= 1e-4 * size);
    CHECK(size > 0);
  }
}

// Of one input, from x^w by exact powers: the map's own exponents are read off its features.
TEMPLATE_TEST_CASE("poisson: derivatives far below 1 and above are numbers", "", float, double) {
  using Kind = feature::Derivative::Kind;
  constexpr int64_t D = 400;
  const auto map = make(gaussian(0.6), 1, D);
  const double m = 1 / 0.36;
  Matrix<double> base(2, 1);
  base(0, 0) = 1, base(1, 0) = 0.5;
  const auto Z = features_of(*map, base);
  const double tiny = std::is_same_v<TestType, float> ? 1e-30 : 1e-100;
  for (const int64_t order : {1, 2, 4, 12}) {
    // The least, where powers below the first are 0 in double; the largest.
    for (const double x : {tiny, -tiny, 1e-160, 1e-4, 1e30, 1e38, 1e160}) {
      if (std::is_same_v<TestType, float> && (x == 1e-160 || x == 1e160)) continue;
      Matrix<TestType> X(1, 1);
      X(0, 0) = static_cast<TestType>(x);
      CAPTURE(order, x);
      const auto dZ = differentiated(*map, {Kind::partials, {{{0, order}}}}, X);
      int64_t wrong = 0;
      for (int64_t j = 0; j < D; ++j) {
        const double out = static_cast<double>(dZ(0, j));
        wrong += !std::isfinite(out);
        if (std::fabs(x) > 1) wrong += out != 0;
        // At 0, which these are next to: the coefficient of x^order times order!.
        const double w = std::round(std::log2(Z(0, j) / Z(1, j)) + 0.375 * m / std::log(2.0));
        if (std::fabs(x) > 1e-10 || w > static_cast<double>(order)) continue;
        double expected = Z(0, j) * std::exp(0.5 * m);
        const auto left = order - static_cast<int64_t>(w);
        for (int64_t i = 0; i < left / 2; ++i) expected *= -0.5 * m / static_cast<double>(i + 1);
        for (int64_t i = 2; i <= order; ++i) expected *= static_cast<double>(i);
        if (left % 2 != 0) expected = 0;
        wrong += !(std::fabs(out - expected) <= 1e-5 * std::fabs(expected) + 1e-20);
      }
      CHECK(wrong == 0);
    }
  }
  // All at once as one by one, also where x^w is 0 or has lost digits, but x^(w - 1) is a number.
  for (const double x : {1e-170, -1e-160, 1e-100, 1e-4, 0.3}) {
    if (std::is_same_v<TestType, float> && std::fabs(x) < 1e-30) continue;
    Matrix<TestType> X(1, 1);
    X(0, 0) = static_cast<TestType>(x);
    CAPTURE(x);
    const auto gradient = differentiated(*map, {Kind::gradient, {}}, X),
               partial = differentiated(*map, {Kind::partials, {{{0, 1}}}}, X);
    int64_t wrong = 0, numbers = 0;
    for (int64_t j = 0; j < D; ++j) {
      const double one = static_cast<double>(partial(0, j));
      numbers += one != 0;
      wrong += !(std::fabs(static_cast<double>(gradient(0, j)) - one) <=
                 (std::is_same_v<TestType, float> ? 1e-5 : 1e-11) * std::fabs(one));
    }
    CHECK((wrong == 0 && numbers > 0));
  }
  // x^4: its fourth derivative is 24 also where x^4 is not a number above 0.
  Matrix<double> X(1, 1);
  X(0, 0) = 1e-100;
  CHECK(largest(differentiated(*map, {Kind::partials, {{{0, 4}}}}, X).view()) > 1e-3);
}

TEST_CASE("poisson: what it cannot do is refused") {
  CHECK(refused_map("poisson", {{"kernel", "cauchy"}}, "kernel cauchy", "expected gaussian") == "");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make(gaussian(0.05), 4, 8), "lengthscale = 0.05");
}

}  // namespace poisson_test
