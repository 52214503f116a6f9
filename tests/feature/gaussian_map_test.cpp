// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random neurons: kernels that have no such map, one bit a sign, rows of zeros.
#include "feature/derivatives.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/map_calls.h"
#include "support/statistic.h"

namespace gaussian_map_test {
using namespace mercer;
using test::features_of, test::pulled;

std::unique_ptr<feature::FeatureMap> map_of(const std::string& map, const std::string& kernel,
                                            const std::string& more = "") {
  const std::string text = R"({"map":")" + map + R"(","kernel":{)" + kernel +
                           R"(},"inputs":5,"features":48,"seed":3)" + more + "}";
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused));
}

TEST_CASE("arc_cosine and sign: what has no derivative, no such kernel, no such option") {
  const auto step = map_of("arc_cosine", R"("kernel":"arc_cosine","order":0)");
  CHECK(step->derivatives() == nullptr);
  CHECK(map_of("sign", R"("kernel":"sign")")->derivatives() == nullptr);
  const auto X = test::random_matrix(2, 5, 1), G = test::random_matrix(2, 48, 2);
  CHECK_REFUSED(MERCER_UNSUPPORTED, pulled(*step, X, G), "arc_cosine", "order 1 or 2");
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of("sign", R"("kernel":"arc_cosine")"),
                "kernel arc_cosine has no sign features");
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of("arc_cosine", R"("kernel":"gaussian")"),
                "kernel gaussian has no arc-cosine features");
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of("sign", R"("kernel":"sign")", R"(,"whole_blocks":true)"),
                "whole_blocks", "dense");
}

// In low dimensions P = HD1HD2HD3 x is nearly a lattice, and its signs are biased; no more at 17
// inputs. No neuron fires for both of two opposite rows: the estimate is 0 without variance.
TEST_CASE("arc_cosine and sign: opposite rows are exact") {
  const Matrix<double> x = test::random_matrix(1, 5, 7);
  const Matrix<double> X =
      test::filled(2, 5, [&](int64_t i, int64_t k) { return i == 0 ? x(0, k) : -3 * x(0, k); });
  for (const char* order : {"0", "1", "2"}) {
    const auto map = map_of("arc_cosine", std::string(R"("kernel":"arc_cosine","order":)") + order);
    const auto Z = features_of(*map, X);
    double product = 0;
    for (int64_t j = 0; j < 48; ++j) product += std::fabs(Z(0, j) * Z(1, j));
    CHECK(product == 0);
    CHECK((test::variance_of(*map, X) >= 0 && test::variance_of(*map, X) <= 1e-12));
    CHECK(std::fabs(map->kernel().value(5, X.view().row(0), X.view().row(1))) <= 1e-12);
  }
  const auto map = map_of("sign", R"("kernel":"sign")");
  const auto Z = features_of(*map, X);
  double product = 0;
  for (int64_t j = 0; j < 48; ++j) product += Z(0, j) * Z(1, j);
  CHECK(product == Approx(-1).epsilon(1e-14));
  CHECK((test::variance_of(*map, X) >= 0 && test::variance_of(*map, X) <= 1e-12));
}

// Of the kernel at the two rows of X.
double estimate(const char* map, const Parameters& kernel, const char* projection,
                const Matrix<double>& X, int64_t D, int64_t seed) {
  const auto made = test::made_map(map, kernel, X.cols(), D, static_cast<uint64_t>(seed),
                                   {{"projection", projection}});
  const Matrix<double> Z = features_of(*made, X);
  double sum = 0;
  for (int64_t j = 0; j < D; ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

TEST_CASE("sign: features of sorf from 17 inputs on") {
  for (const int64_t d : {17, 40}) {
    const Matrix<double> X = test::random_matrix(2, d, 6);
    for (int64_t k = 0; k < d; ++k) X(1, k) = 0.8 * X(0, k) + 0.5 * X(1, k);
    std::vector<double> estimates, deviations;
    const auto kernel = kernel::make_kernel({{"kernel", "sign"}});
    const double k = kernel->value(d, X.view().row(0), X.view().row(1));
    for (int64_t seed = 0; seed < 3000; ++seed) {
      const double sum = estimate("sign", kernel->parameters(), "sorf", X, 32, seed);
      estimates.push_back(sum);
      deviations.push_back((sum - k) * (sum - k));
    }
    INFO("d = " << d << ", k = " << k);
    const double z = test::z_threshold(test::kFailure, 4);
    CHECK(std::fabs(test::studentised_z_score(estimates, k)) <= z);
    CHECK(test::studentised_z_score(deviations, 1.1 * (1 - k * k) / 32) <= z);
  }
}

// The default kernel of the map is its own, and a column is one of two numbers.
TEST_CASE("sign: a column has one bit, of rows of zeros as well") {
  const auto map = map_of("sign", R"("kernel":"sign","variance":3)");
  const Matrix<double> X = test::random_matrix(40, 5, 7);
  for (int64_t k = 0; k < 5; ++k) X(3, k) = 0;
  const Matrix<double> Z = features_of(*map, X);
  const double bit = std::sqrt(3.0 / 48);
  std::set<double> seen(Z.data(), Z.data() + Z.rows() * Z.cols());
  CHECK(seen == std::set<double>{-bit, bit});
  for (int64_t j = 0; j < 48; ++j) CHECK(Z(3, j) == bit);
}

// Rules with weights see powers of their radius alone (projection/orthogonal.cpp); at d = 4, with
// P(chi^2_{2m} > 4) = exp(-2) sum_{i < m} 2^i/i!, 1 - c = 3/5 and a = 19/15. Per block, so at any
// D.
TEST_CASE("arc_cosine and sign: the mean under quadrature is that of its radii") {
  const Matrix<double> X = test::random_matrix(2, 4, 6);
  for (int64_t k = 0; k < 4; ++k) X(1, k) = 0.8 * X(0, k) + 0.5 * X(1, k);
  struct Case {
    const char* map;
    int64_t order;
    double factor, constant;
  };
  for (const Case& one : {Case{"arc_cosine", 0, 0.6, 0}, Case{"arc_cosine", 1, 1, 0},
                          Case{"arc_cosine", 2, 19.0 / 15, 0}, Case{"sign", 0, 0.6, 0.4}}) {
    Parameters kernel{{"kernel", one.map}};
    if (one.map == std::string("arc_cosine")) kernel.set("order", one.order);
    const auto exact = kernel::make_kernel(kernel);
    std::vector<double> estimates;
    for (int64_t seed = 0; seed < 3000; ++seed) {
      estimates.push_back(estimate(one.map, kernel, "quadrature", X, 12, seed));
    }
    const double k = exact->value(4, X.view().row(0), X.view().row(1));
    INFO(one.map << ", order " << one.order << ", k = " << k);
    CHECK(std::fabs(test::studentised_z_score(estimates, one.constant + one.factor * k)) <=
          test::z_threshold(test::kFailure, 4));
  }
}

TEST_CASE("arc_cosine and sign: weights have no variance in closed form, optical takes none") {
  const auto X = test::random_matrix(1, 5, 1);
  double variance = 0;
  const auto map = map_of("sign", R"("kernel":"sign")", R"(,"projection":"quadrature")");
  CHECK_REFUSED(MERCER_UNSUPPORTED, map->variance(X.view(), X.view(), std::span(&variance, 1)),
                "projection quadrature have weights");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                map_of("optical", R"("kernel":"optical")", R"(,"projection":"quadrature")"),
                "projection = \"quadrature\", expected one of");
}

}  // namespace gaussian_map_test
