// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The bound of kernel derivatives: the reference numbers, Bernstein's condition, the least number
// of frequencies, and that the error of maps keeps below it.
#include "bound/bound.h"
#include "feature/derivatives.h"
#include "feature/fourier.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace derivative_bound_test {
using namespace mercer;
using namespace mercer::bound;

std::unique_ptr<kernel::Kernel> even_power(int64_t order, double lengthscale = 1) {
  return kernel::make_kernel({{"kernel", "generalized_gaussian_spectrum"},
                              {"order", order},
                              {"lengthscale", lengthscale}});
}

bool close(double value, double expected, double tolerance = 1e-10) {
  return std::fabs(value - expected) <= tolerance * std::fabs(expected);
}

TEST_CASE("derivative bound: the reference numbers of the theorem") {
  REQUIRE(test::oracle("stats")["bounds_001"].size() == 3);
  for (const auto& entry : test::oracle("stats")["bounds_001"]) {
    const int64_t d = entry["d"];
    kernel::MultiIndex order;
    const auto orders = entry["p_plus_q"].get<std::vector<int64_t>>();
    for (size_t k = 0; k < orders.size(); ++k)
      if (orders[k] > 0) order.push_back({static_cast<int64_t>(k), orders[k]});
    const auto kernel = kernel::make_gaussian({entry["ell"].get<double>()}, 1);
    const auto constants = spectral_constants(*kernel, d, order);
    CHECK(close(constants.sigma, entry["sigma_pq"]));
    CHECK(close(constants.ratio, entry["C_pq"]));
    CHECK(constants.bernstein <= entry["K"].get<double>());
    const double t = entry["t"];
    const BoundQuestion question{d, entry["diameter"], 2 * std::exp(-t), 0, entry["K"]};
    CHECK(close(question.delta, entry["probability"]));
    CHECK(close(derivative_bound(*kernel, constants, question, entry["m"]), entry["bound"]));
  }
}

TEST_CASE("derivative bound: moment ratios, and the least K that they permit") {
  REQUIRE(test::oracle("stats")["A_rn"]["entries"].size() == 48);
  for (const auto& entry : test::oracle("stats")["A_rn"]["entries"]) {
    const int64_t q = entry["q"], r = entry["r"], n = entry["n"];
    const auto kernel = even_power(q, 0.3);
    CHECK(close(moment_ratio(*kernel, {{0, r}}, n), entry["A"], 1e-9));
    if (q == 1)
      CHECK(close(moment_ratio(*kernel::make_gaussian({7}, 1), {{0, r}}, n), entry["A"], 1e-9));
  }
  for (const int64_t q : {1, 2, 3}) {
    const auto kernel = even_power(q);
    for (int64_t r = 0; r <= 2 * q; ++r) {
      kernel::MultiIndex order;
      if (r > 0) order = {{0, r}};
      const double K = spectral_constants(*kernel, 1, order).bernstein;
      CHECK((K >= 1 && K <= 3));
      for (int64_t n = 2; n <= 140; ++n)
        CHECK(moment_ratio(*kernel, order, n) <= std::tgamma(static_cast<double>(n) + 1) / 2 *
                                                     std::pow(K, static_cast<double>(n - 2)) *
                                                     (1 + 1e-9));
    }
    CHECK_REFUSED(MERCER_UNSUPPORTED, spectral_constants(*kernel, 1, {{0, 2 * q + 1}}), "Bernstein",
                  std::to_string(2 * q));
  }
  // Total orders just below 2q: the largest root is at n = 575, 1,671 and 3,453.
  const auto ones = [](int64_t d) {
    kernel::MultiIndex order;
    for (int64_t k = 0; k < d; ++k) order.push_back({k, 1});
    return order;
  };
  CHECK(
      close(spectral_constants(*even_power(8), 15, ones(15)).bernstein, 269.38347559366775, 1e-9));
  CHECK(
      close(spectral_constants(*even_power(12), 23, ones(23)).bernstein, 16356.09813755789, 1e-9));
  CHECK(close(spectral_constants(*even_power(16), 31, ones(31)).bernstein, 1062690.78333109, 1e-9));
  // Orders shared by several inputs: E|w1 w2|^n grows as n! alone.
  const double K =
      spectral_constants(*kernel::make_gaussian({1}, 1), 3, {{0, 1}, {2, 1}}).bernstein;
  CHECK((K >= 1 && K <= 3));
  CHECK_REFUSED(MERCER_UNSUPPORTED, spectral_constants(*kernel::make_laplacian({1}, 1), 1, {}),
                "laplacian");
}

TEST_CASE("derivative bound: the least number of frequencies, the L^r form, the variance") {
  const auto kernel = kernel::make_gaussian({0.8, 2}, 1),
             large = kernel::make_gaussian({0.8, 2}, 5);
  const auto constants = spectral_constants(*kernel, 2, {{1, 1}});
  BoundQuestion question{2, 3, 0.01, 0, constants.bernstein};
  for (const double epsilon : {10.0, 0.5, 0.01}) {
    const int64_t F = least_frequencies(*kernel, constants, question, epsilon);
    CHECK(derivative_bound(*kernel, constants, question, F) <= epsilon);
    if (F > 1) CHECK(derivative_bound(*kernel, constants, question, F - 1) > epsilon);
  }
  CHECK_REFUSED(MERCER_UNSUPPORTED, least_frequencies(*kernel, constants, question, 1e-9),
                "epsilon");
  const double uniform = derivative_bound(*kernel, constants, question, 1000);
  CHECK(close(derivative_bound(*large, constants, question, 1000), 5 * uniform));
  question.norm = 2;  // the disc of diameter 3
  CHECK(close(derivative_bound(*kernel, constants, question, 1000),
              uniform * 3.14159265358979 * 2.25));
}

TEST_CASE("derivative bound: errors of maps keep below it") {
  const int64_t d = 2, F = 400, n = 40;
  const auto X = test::random_matrix(n, d, 1);  // in a square of diameter 2 sqrt 2
  const kernel::MultiIndex p = {{0, 1}}, q = {{1, 1}};
  const auto kernel = kernel::make_gaussian({0.7}, 1);
  const auto constants = spectral_constants(*kernel, d, kernel::sum_of(p, q));
  const double bound = derivative_bound(*kernel, constants,
                                        {d, 2 * std::sqrt(2.0), 1e-6, 0, constants.bernstein}, F);
  const auto map = feature::make_fourier(*kernel, d, 2 * F, {});
  Matrix<double> A(n, 2 * F), B(n, 2 * F), K(n, n);
  Context context;
  using Kind = feature::Derivative::Kind;
  derivatives_of(*map).differentiate({Kind::partials, {p}}, MatrixView<const double>(X.view()),
                                     context, A.view());
  derivatives_of(*map).differentiate({Kind::partials, {q}}, MatrixView<const double>(X.view()),
                                     context, B.view());
  kernel::derivative_gram(*kernel, p, q, X.view(), X.view(), context, K.view());
  const auto estimate = test::product(A.view(), test::transposed(B.view()).view());
  CHECK(test::difference(estimate.view(), K.view(), bound) == "");
  CHECK(bound < 100);
}

}  // namespace derivative_bound_test
