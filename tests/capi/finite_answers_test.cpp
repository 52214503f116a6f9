// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Arguments near the ends of the range of double: an answer is a right number, or there is none.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mercer/derivative.h"
#include "mercer/operator_analysis.h"
#include "mercer/ridge.h"
#include "operator_cases.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

}  // namespace

TEST_CASE("exact operator ridge: a system that rounding makes singular is no fit", "[capi]") {
  const Numbers X = {0.1, 0.2, 0.1, 0.2, 0.5, -0.3}, Y = {1, 2, 3, 4, 5, 6};
  const char* const kGammas[] = {"[1e-310,0,0,1e-310]", "[1,1,1,1]", "[2,1,1,2]"};
  for (const char* gamma : kGammas)
    for (const int32_t method :
         {MERCER_OPERATOR_KERNEL_METHOD_EIGEN, MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY}) {
      CAPTURE(gamma, method);
      const auto kernel = make_kernel(std::string(R"("decomposable","gamma":)") + gamma);
      Numbers u(6, 7.0);
      auto fit = exact_fit(0, method);
      CHECK(fault(mercer_operator_kernel_ridge(kernel.get(), rows_of(X, 2), rows_of(Y, 2), &fit,
                                               nullptr, result_of(u, 2)),
                  MERCER_NOT_POSITIVE_DEFINITE) == "");
      CHECK((u == Numbers(6, 7.0) && fit.residual == 0));
    }
}

TEST_CASE("operator fits: targets whose squares overflow are named, with an intercept or without",
          "[capi]") {
  const auto map = make_operator(kCases[0].map);
  const Numbers X = numbers(10, 3);
  Numbers Y = numbers(10, 2);
  Y[0] = kMost;
  Y[2] = -kMost;
  const double lambda = 0.1;
  for (const int32_t intercept : {0, 1}) {
    auto fit = mercer_operator_fit_of(&lambda, 1);
    fit.intercept = intercept;
    mercer_operator_model* model = nullptr;
    CHECK(refused(mercer_operator_model_fit(map.get(), rows_of(X, 3), rows_of(Y, 2), &fit, nullptr,
                                            &model),
                  "Y: row 0, column 0 (counted from 0) is 1.79769e+308") == "");
  }
}

TEST_CASE("structures of outputs: right or refused where numbers are near the ends of double",
          "[capi]") {
  Numbers gamma(4, 7.0);
  const auto structure = [&](int32_t kind, const Numbers& data, double scale) {
    return mercer_output_structure(kind, rows_of(data, 2), scale, nullptr, result_of(gamma, 2));
  };
  CHECK(refused(structure(MERCER_STRUCTURE_COVARIANCE, {1e300, 0, -1e300, 1}, 0),
                "out: row 0, column 0") == "");
  CHECK(gamma == Numbers(4, 7.0));
  for (const double weight : {1e308, 1.0, 1e-300}) {
    REQUIRE(structure(MERCER_STRUCTURE_LAPLACIAN, {0, weight, weight, 0}, 0) == MERCER_OK);
    CHECK(gamma[0] * weight == Approx(0.25));
    CHECK(gamma[1] * weight == Approx(-0.25));
  }
  CHECK(refused(structure(MERCER_STRUCTURE_LAPLACIAN, {0, 1e-310, 1e-310, 0}, 0), "out: row 0") ==
        "");
  REQUIRE(structure(MERCER_STRUCTURE_SIMILARITY, {1e160, 0, 0, 0}, 1e-320) == MERCER_OK);
  CHECK(gamma[1] == Approx(std::exp(-1.0)).epsilon(1e-3));  // 1e-320 has three digits
}

TEST_CASE("posterior covariances of a noise near the largest number", "[capi]") {
  const auto map = make_operator(
      R"({"kernel":{"kernel":"decomposable","gamma":[9,0,0,9]},"inputs":3,"features":20})");
  const Numbers X = numbers(40, 3), Y = numbers(40, 2);
  const double lambda = 0.01;
  auto fit = mercer_operator_fit_of(&lambda, 1);
  const auto model = learnt(map, X, 3, Y, 2, fit);
  REQUIRE(model);
  Numbers one(160), most(160, 7.0);
  const auto covariance = [&](double noise, auto& out) {
    return mercer_operator_model_covariance(model.get(), rows_of(X, 3), nullptr, noise,
                                            rows_of(X, 3), nullptr, result_of(out, 4));
  };
  REQUIRE(covariance(1, one) == MERCER_OK);
  REQUIRE(*std::ranges::max_element(one) < 1);
  REQUIRE(covariance(kMost, most) == MERCER_OK);
  for (size_t i = 0; i < one.size(); ++i) CHECK(std::fabs(most[i] / kMost - one[i]) < 1e-14);
  std::vector<float> narrow(160, 7.0F);
  CHECK(refused(covariance(1e100, narrow), "out: row 0, column 0", "finite float") == "");
  CHECK(narrow == std::vector<float>(160, 7.0F));
}

TEST_CASE("weights of ridge that leave the range of double are refused", "[capi]") {
  const Numbers Z = {1e-153}, Y = {1e150};  // w = Z y/(Z Z'), of which y/(Z Z') = 1e456
  Numbers w(1, 7.0);
  CHECK(refused(mercer_ridge_dual(rows_of(Z, 1), rows_of(Y, 1), 0, 0, nullptr, result_of(w, 1),
                                  nullptr),
                "w: row 0, column 0") == "");
  CHECK(w == Numbers(1, 7.0));
}

TEST_CASE("the bound of derivatives far from 1 is a number or a refusal", "[capi]") {
  const auto kernel = gaussian();
  const int32_t order[] = {1, 0};
  mercer_derivative_bound bound = mercer_derivative_bound_of(2, order, nullptr, 2, 0.01);
  bound.frequencies = 1000;
  REQUIRE(mercer_kernel_derivative_bound(kernel.get(), &bound) == MERCER_OK);
  const double near = bound.epsilon;
  bound.bernstein = 0;
  bound.diameter = kMost;
  bound.delta = 5e-324;
  REQUIRE(mercer_kernel_derivative_bound(kernel.get(), &bound) == MERCER_OK);
  CHECK((bound.epsilon > near && bound.epsilon < 100 * near));  // roots of logarithms
  bound.bernstein = kMost;
  CHECK(refused(mercer_kernel_derivative_bound(kernel.get(), &bound),
                "bound->epsilon would be inf") == "");
}

}  // namespace mercer::test
