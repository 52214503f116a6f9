// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Additive features against the reference numbers, their error against that of other periods, and
// what they refuse.
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/reference_matrix.h"

namespace additive_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<FeatureMap> make(const char* kernel, int64_t d, int64_t D,
                                 const Parameters& options) {
  return made_map("additive", {{"kernel", kernel}}, d, D, 0, options);
}

// The largest |k^ - k| over x in one coordinate, y = 1, in units of (x + y) / 2: k is homogeneous,
// so the ratio of the two says it all.
double largest_error(const char* kernel, const Parameters& options, int64_t order) {
  const auto map = make(kernel, 1, 2 * order + 1, options);
  double worst = 0;
  for (double t = 0; t <= 12; t += 0.01) {
    Matrix<double> x(1, 1), y(1, 1);
    x(0, 0) = std::exp(t);
    y(0, 0) = 1;
    double bias = 0;
    map->bias(x.view(), y.view(), std::span(&bias, 1));
    worst = std::max(worst, std::fabs(bias) / (0.5 * (x(0, 0) + 1)));
  }
  return worst;
}

TEST_CASE("additive: given order and period give the reference features") {
  REQUIRE(oracle("transforms")["maps"].size() == 2);
  for (const Reference& entry : oracle("transforms")["maps"]) {
    const Matrix<double> X = reference_matrix(entry["X_positive"]);
    const int64_t d = X.cols();
    for (const auto& [kernel, key] : {std::pair{"additive_chi2", "chi2"},
                                      {"intersection", "intersection"},
                                      {"jensen_shannon", "js"}}) {
      const Reference& expected = entry["homogeneous"][key];
      const int64_t order = expected["order"], each = 2 * order + 1;
      const auto map =
          make(kernel, d, d * each, {{"order", order}, {"period", expected["L"].get<double>()}});
      const Matrix<double> Z = features_of(*map, X);
      // The reference has the columns of an input side by side.
      Matrix<double> by_input(Z.rows(), Z.cols());
      for (int64_t i = 0; i < Z.rows(); ++i)
        for (int64_t k = 0; k < d; ++k)
          for (int64_t p = 0; p < each; ++p) by_input(i, k * each + p) = Z(i, p * d + k);
      INFO(kernel);
      CHECK(worst_difference(by_input, reference_matrix(expected["features"])) <= 5e-15);
    }
  }
}

TEST_CASE("additive: hellinger is exact with a root per input") {
  const auto map = make("hellinger", 3, 3, {});
  Matrix<double> x(1, 3);
  x(0, 0) = 2, x(0, 1) = 0, x(0, 2) = 0.25;
  const Matrix<double> Z = features_of(*map, x);
  CHECK(Z(0, 0) == std::sqrt(2.0));
  CHECK(Z(0, 1) == 0);
  CHECK(Z(0, 2) == 0.5);
  double bias = 1;
  map->bias(x.view(), x.view(), std::span(&bias, 1));
  CHECK(std::fabs(bias) <= 1e-15);
}

// The guide's figures, and that no period near the default does better by more than the default's
// own digits.
TEST_CASE("additive: the default period is that of least error") {
  struct Figure {
    const char* kernel;
    int64_t order;
    double error;
  };
  for (const auto& [kernel, order, error] :
       {Figure{"additive_chi2", 1, 0.0523}, Figure{"additive_chi2", 3, 0.00944},
        Figure{"intersection", 1, 0.137}, Figure{"intersection", 3, 0.0755},
        Figure{"jensen_shannon", 1, 0.0301}, Figure{"jensen_shannon", 3, 0.00472}}) {
    const auto map = make(kernel, 1, 2 * order + 1, {{"order", order}});
    const double period = map->parameters().number("period");
    const auto at = [&](double factor) {
      return largest_error(kernel, {{"order", order}, {"period", factor * period}}, order);
    };
    INFO(kernel << ", order " << order << ", period " << period);
    CHECK(at(1) == Approx(error).epsilon(0.01));
    for (const double factor : {0.8, 0.9, 0.97, 1.03, 1.1, 1.25}) CHECK(at(factor) > at(1));
  }
}

TEST_CASE("additive: what does not fit is refused with what would") {
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make("additive_chi2", 4, 8, {}), "features = 8",
                "expected 12");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make("additive_chi2", 4, 8, {{"order", int64_t{3}}}),
                "expected 28");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make("hellinger", 4, 12, {{"order", int64_t{1}}}),
                "order = 1", "at most 0");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make("hellinger", 4, 4, {{"period", 0.5}}),
                "period = 0.5");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make("gaussian", 4, 12, {}), "kernel gaussian",
                "additive_chi2");
}

}  // namespace additive_test
