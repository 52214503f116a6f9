// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Norms, feature equivalence and the variance bound of operator-valued kernels and maps, and rows
// outside their domains.
#include "mercer/operator_analysis.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "operator_cases.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

/// "" if A, p x p, is symmetric and positive semi-definite to 1e-12, by Cholesky.
std::string semidefinite_fault(const double* A, size_t p) {
  Numbers L(p * p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j <= i; ++j) {
      if (A[i * p + j] != A[j * p + i]) return "not symmetric";
      double left = A[i * p + j] + (i == j ? 1e-12 : 0);
      for (size_t k = 0; k < j; ++k) left -= L[i * p + k] * L[j * p + k];
      if (i == j && left < 0) return "pivot " + std::to_string(left);
      L[i * p + j] = i == j ? std::sqrt(left) : L[j * p + j] > 0 ? left / L[j * p + j] : 0;
    }
  return "";
}

}  // namespace

TEST_CASE("operator models: rows outside the kernel's domain are named", "[capi]") {
  const std::string skewed =
      R"("decomposable","scalar":{"kernel":"skewed_chi2"},"gamma":[2,1,1,2])";
  const auto kernel =
      make_kernel(R"("decomposable","scalar":{"kernel":"skewed_chi2"},"gamma":[2,1,1,2])");
  const auto map =
      make_operator(R"({"kernel":{"kernel":)" + skewed + R"(},"inputs":3,"features":20})");
  Numbers X(60);
  for (size_t i = 0; i < X.size(); ++i) X[i] = 0.1 * static_cast<double>(i % 7);
  Numbers outside = X, Y = numbers(20, 2);
  outside[16] = -2;
  const double lambda = 0.1;
  auto fit = mercer_operator_fit_of(&lambda, 1);
  const auto model = learnt(map, X, 3, Y, 2, fit);
  REQUIRE(model);
  Numbers u(40), out(80);
  const auto named = [](mercer_status status) {
    return refused(status, "X: row 5, column 1 (counted from 0) is -2") +
           refused(status, "as kernel skewed_chi2 takes");
  };
  for (const bool gaps : {false, true}) {
    if (gaps) Y[3] = kNaN;
    auto exact = exact_fit(0.1, MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC);
    CHECK(named(mercer_operator_kernel_ridge(kernel.get(), rows_of(outside, 3), rows_of(Y, 2),
                                             &exact, nullptr, result_of(u, 2))) == "");
    mercer_operator_model* made = nullptr;
    CHECK(named(mercer_operator_model_fit(map.get(), rows_of(outside, 3), rows_of(Y, 2), &fit,
                                          nullptr, &made)) == "");
    auto search = mercer_operator_search_of(0);
    CHECK(named(mercer_operator_model_search((R"({"kernel":{"kernel":)" + skewed + "}}").c_str(),
                                             rows_of(outside, 3), rows_of(Y, 2), &search, nullptr,
                                             &made)) == "");
    CHECK(named(mercer_operator_model_covariance(model.get(), rows_of(outside, 3), rows_of(Y, 2), 1,
                                                 rows_of(X, 3), nullptr, result_of(out, 4))) == "");
  }
  CHECK(named(mercer_operator_model_equivalence(model.get(), rows_of(outside, 3), rows_of(u, 2),
                                                nullptr, &out[0], nullptr)) == "");
  CHECK(refused(mercer_operator_model_covariance(model.get(), rows_of(X, 3), nullptr, 1,
                                                 rows_of(outside, 3), nullptr, result_of(out, 4)),
                "at: row 5, column 1") == "");
}

TEST_CASE("norms: the penalty of a graph is the norm of its Gamma, and that of known weights",
          "[capi]") {
  // The graph 0 - 1 - 2 and its pseudo-inverse.
  const Numbers W = {0, 1, 0, 1, 0, 0.5, 0, 0.5, 0};
  Numbers gamma(9);
  REQUIRE(mercer_output_structure(MERCER_STRUCTURE_LAPLACIAN, rows_of(W, 3), 0, nullptr,
                                  result_of(gamma, 3)) == MERCER_OK);
  mercer_kernel* joint = nullptr;
  REQUIRE(mercer_kernel_decomposable(gaussian().get(), rows_of(gamma, 3), 1e-12, &joint) ==
          MERCER_OK);
  const KernelHandle kernel(joint);
  mercer_map* made = nullptr;
  REQUIRE(mercer_fourier_create(joint, 2, 32, nullptr, &made) == MERCER_OK);
  const MapHandle map(made);
  const Numbers X = numbers(30, 2), Y = numbers(30, 3);
  const double lambda = 1e-3;
  auto fit = mercer_operator_fit_of(&lambda, 1);
  const auto model = learnt(map, X, 2, Y, 3, fit);
  REQUIRE(model);
  double norm = 0, penalty = 0;
  REQUIRE(mercer_operator_model_norms(model.get(), rows_of(W, 3), nullptr, &norm, &penalty) ==
          MERCER_OK);
  CHECK(std::fabs(norm - fit.squared_norm) < 1e-12 * norm);
  CHECK(std::fabs(penalty - norm) < 1e-10 * norm);

  // f_o = sum_c theta_c B_o z_c of supplied roots: <f_k, f_l> = sum_c theta_c^2 B_ck B_cl.
  const Numbers frequencies = {0.3, 1.1, -0.7, 0.4}, roots = {1, -2, 0.5, 3};
  REQUIRE(mercer_fourier_create_supplied(gaussian().get(), rows_of(frequencies, 2), nullptr,
                                         rows_of(roots, 1), nullptr, &made) == MERCER_OK);
  const MapHandle own(made);
  const Numbers T = numbers(30, 2);
  auto steps = mercer_operator_fit_of(&lambda, 1);
  const auto other = learnt(own, X, 2, T, 2, steps);
  REQUIRE(other);
  Numbers theta(4);
  REQUIRE(mercer_operator_model_parts(other.get(), nullptr, result_of(theta, 1)) == MERCER_OK);
  double expected = 0;
  for (size_t c = 0; c < 4; ++c) {
    const double difference = roots[c % 2 * 2] - roots[c % 2 * 2 + 1];
    expected += 3 * theta[c] * theta[c] * difference * difference;
  }
  const Numbers edge = {0, 3, 3, 0};
  REQUIRE(mercer_operator_model_norms(other.get(), rows_of(edge, 2), nullptr, nullptr, &penalty) ==
          MERCER_OK);
  CHECK(std::fabs(penalty - expected) < 1e-13 * expected);

  CHECK(refused(mercer_operator_model_norms(model.get(), nullptr, nullptr, &norm, &penalty),
                "weights is NULL") == "");
  CHECK(refused(mercer_operator_model_norms(other.get(), rows_of(Numbers{0, 1, 2, 0}, 2), nullptr,
                                            &norm, &penalty),
                "weight[0, 1]") == "");
  CHECK(refused(mercer_operator_model_norms(other.get(), rows_of(Numbers(4), 2), nullptr, &norm,
                                            &penalty),
                "no edges") == "");
  CHECK(fault(mercer_operator_model_norms(other.get(), rows_of(W, 3), nullptr, &norm, &penalty),
              MERCER_DIMENSION_MISMATCH, "weights") == "");
}

TEST_CASE("feature equivalence: 0 for the weights that the theorem names", "[capi]") {
  for (const auto& [spec, d] : kCases) {
    const auto map = make_operator(spec);
    const Numbers X = numbers(14, d), Y = numbers(14, 2);
    const double lambda = 0.02;
    auto fit = mercer_operator_fit_of(&lambda, 1);
    fit.tolerance = 1e-13;
    const auto model = learnt(map, X, d, Y, 2, fit);
    REQUIRE(model);
    // (K + N lambda I) u = y with K u = f: u = (y - f)/(N lambda).
    Numbers u(28);
    REQUIRE(mercer_operator_model_predict(model.get(), rows_of(X, d), MERCER_FIELD_VALUE, nullptr,
                                          result_of(u, 2)) == MERCER_OK);
    for (size_t i = 0; i < u.size(); ++i) u[i] = (Y[i] - u[i]) / (14 * lambda);
    double residual = 1, seen = 1;
    REQUIRE(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 2), nullptr,
                                              &residual, &seen) == MERCER_OK);
    CHECK((residual < 1e-10 && seen < 1e-10));
    // Twice the weights are twice the function.
    for (double& weight : u) weight *= 2;
    REQUIRE(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 2), nullptr,
                                              &residual, &seen) == MERCER_OK);
    CHECK((std::fabs(residual - 1) < 1e-9 && std::fabs(seen - 1) < 1e-9));
    CHECK(fault(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 4),
                                                  nullptr, &residual, nullptr),
                MERCER_DIMENSION_MISMATCH, "u") == "");
    Numbers bad = X;
    bad[1] = kNaN;
    residual = 7;
    CHECK(refused(mercer_operator_model_equivalence(model.get(), rows_of(bad, d), rows_of(u, 2),
                                                    nullptr, &residual, nullptr),
                  "X: row 0, column 1") == "");
    u[0] = INFINITY;
    CHECK(refused(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 2),
                                                    nullptr, &residual, nullptr),
                  "u: row 0, column 0") == "");
    CHECK(residual == 7);
  }
}

TEST_CASE("the variance bound: the reference numbers, the variance where it is exact", "[capi]") {
  for (const auto& entry : oracle("stats")["prop33"]) {
    Numbers tau;
    for (const auto& number : entry["tau"]) tau.push_back(number);
    const auto d = std::ssize(tau);
    const int64_t F = entry["F"];
    const auto map =
        make_operator(R"({"kernel":{"kernel":)" + field_kernel(entry["kind"], entry["sigma"]) +
                      R"(},"inputs":)" + std::to_string(d) + R"(,"features":)" +
                      std::to_string(2 * F * (entry["kind"] == "curl_free" ? 1 : d)) + "}");
    const Numbers origin(tau.size(), 0.0);
    Numbers bound(tau.size() * tau.size()), printed = bound, exact = bound;
    const auto ask = [&](int32_t as_printed, Numbers& out) {
      return mercer_map_variance_bound(map.get(), rows_of(tau, d), rows_of(origin, d), as_printed,
                                       nullptr, result_of(out, d * d));
    };
    REQUIRE((ask(0, bound) == MERCER_OK && ask(1, printed) == MERCER_OK));
    REQUIRE(mercer_map_variance(map.get(), rows_of(tau, d), rows_of(origin, d), 0, nullptr,
                                exact.data()) == MERCER_OK);
    CHECK(worst(bound, flat(entry["prop33_corrected"])) < 1e-12);
    CHECK(worst(printed, flat(entry["prop33_printed"])) < 1e-12);
    CHECK(worst(exact, flat(entry["exact_operator_variance"])) < 1e-12);
    CHECK(refused(ask(2, bound), "printed = 2") == "");
  }
  const Numbers X = numbers(6, 3), far = numbers(8, 3), Z(far.begin() + 6, far.end());
  for (
      const char* spec :
      {R"({"kernel":{"kernel":"decomposable","gamma":[2,1,1,2]},"inputs":3,"features":20})",
       R"({"kernel":{"kernel":"decomposable","scalar":{"kernel":"skewed_chi2"},"gamma":[1]},"inputs":3,"features":10})"}) {
    const auto map = make_operator(spec);
    const int64_t p = info_of(map.get()).outputs;
    Numbers bound(static_cast<size_t>(6 * p * p)), exact = bound;
    REQUIRE(mercer_map_variance_bound(map.get(), rows_of(X, 3), rows_of(Z, 3), 1, nullptr,
                                      result_of(bound, p * p)) == MERCER_OK);
    REQUIRE(mercer_map_variance(map.get(), rows_of(X, 3), rows_of(Z, 3), 0, nullptr,
                                exact.data()) == MERCER_OK);
    CHECK((bound == exact && worst(bound) > 0));
  }
  // Other forms: above the variance, at it where tau = 0.
  for (
      const char* spec :
      {R"({"kernel":{"kernel":"curl_free"},"inputs":3,"features":10,"bounded":true})",
       R"({"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian","lengthscale":[1,3,0.6]}},"inputs":3,"features":10})",
       R"({"kernel":{"kernel":"helmholtz","scalar":{"kernel":"gaussian","lengthscale":[0.7,1,1.5],"variance":2},"alpha":0.3},"inputs":3,"features":40})"}) {
    const auto map = make_operator(spec);
    Numbers bound(54), exact(54), at_zero(54), exact_at_zero(54);
    const auto fill = [&](const Numbers& Y, Numbers& b, Numbers& v) {
      REQUIRE(mercer_map_variance_bound(map.get(), rows_of(X, 3), rows_of(Y, 3), 0, nullptr,
                                        result_of(b, 9)) == MERCER_OK);
      REQUIRE(mercer_map_variance(map.get(), rows_of(X, 3), rows_of(Y, 3), 0, nullptr, v.data()) ==
              MERCER_OK);
    };
    fill(Z, bound, exact);
    fill(X, at_zero, exact_at_zero);
    CHECK(worst(at_zero, exact_at_zero) < 1e-13 * worst(exact_at_zero));
    for (size_t i = 0; i < 6; ++i) {
      CHECK(semidefinite_fault(&bound[9 * i], 3) == "");
      Numbers above(9);
      for (size_t a = 0; a < 3; ++a)  // the symmetric part: rounding of the exact variance
        for (size_t b = 0; b < 3; ++b)
          above[3 * a + b] = bound[9 * i + 3 * a + b] -
                             0.5 * (exact[9 * i + 3 * a + b] + exact[9 * i + 3 * b + a]);
      CHECK(semidefinite_fault(above.data(), 3) == "");
    }
  }
  const Numbers frequencies = numbers(3, 3);
  mercer_map* supplied = nullptr;
  REQUIRE(mercer_fourier_create_supplied(gaussian().get(), rows_of(frequencies, 3), nullptr,
                                         rows_of(frequencies.data(), 3, 1), nullptr,
                                         &supplied) == MERCER_OK);
  const MapHandle owned(supplied);
  Numbers out(6);
  CHECK(fault(mercer_map_variance_bound(supplied, rows_of(X, 3), rows_of(Z, 3), 0, nullptr,
                                        result_of(out, 1)),
              MERCER_UNSUPPORTED) == "");
}

}  // namespace mercer::test
