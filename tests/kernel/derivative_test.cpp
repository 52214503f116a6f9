// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of kernels: the Gaussian by reference numbers and finite differences, others by
// kernels that are the same by another formula; edges of smoothness; refusals.
#include "spec/json.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace mercer::test::derivative_test {
namespace {

using kernel::MultiIndex;

MultiIndex index_of(const Reference& orders) {
  MultiIndex p;
  for (int64_t k = 0; k < static_cast<int64_t>(orders.size()); ++k)
    if (orders[k] != 0) p.push_back({k, orders[k]});
  return p;
}

Matrix<double> rows_of(const Reference& rows) {
  return filled(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()),
                [&](int64_t i, int64_t k) { return rows[i][k].get<double>(); });
}

Matrix<double> derivatives(const kernel::Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
                           const Matrix<double>& X, const Matrix<double>& Y) {
  Matrix<double> K(X.rows(), Y.rows());
  Context context;
  kernel::derivative_gram(kernel, p, q, X.view(), Y.view(), context, K.view());
  return K;
}

}  // namespace

TEST_CASE("kernel derivatives are the reference numbers") {
  REQUIRE(oracle("derivatives")["sets"].size() == 3);
  size_t compared = 0;
  for (const auto& set : oracle("derivatives")["sets"]) {
    const auto X = rows_of(set["X"]), Y = rows_of(set["Y"]);
    const auto kernel =
        kernel::make_gaussian(set["ell"].is_array() ? set["ell"].get<std::vector<double>>()
                                                    : std::vector<double>{set["ell"].get<double>()},
                              1);
    double worst = 0;
    for (size_t b = 0; b < set["p"].size(); ++b) {
      const auto K = derivatives(*kernel, index_of(set["p"][b]), index_of(set["q"][b]), X, Y);
      for (int64_t i = 0; i < X.rows(); ++i) {
        const double expected = set["values"][b][i];
        keep_worst(worst, std::fabs(K(i, i) - expected) / std::max(1.0, std::fabs(expected)));
      }
    }
    for (int64_t i = 0; i < X.rows(); ++i) {
      double laplacian = 0;
      for (int64_t a = 0; a < X.cols(); ++a) {
        const auto gradient = derivatives(*kernel, {{a, 1}}, {}, X, Y);
        keep_worst(worst, std::fabs(gradient(i, i) - set["gradient_x"][i][a].get<double>()));
        laplacian += derivatives(*kernel, {{a, 2}}, {}, X, Y)(i, i);
        for (int64_t b = 0; b < X.cols(); ++b) {
          const auto mixed = derivatives(*kernel, {{a, 1}}, {{b, 1}}, X, Y);
          keep_worst(worst, std::fabs(mixed(i, i) - set["mixed_xy"][i][a][b].get<double>()));
          const auto second = derivatives(*kernel, kernel::sum_of({{a, 1}}, {{b, 1}}), {}, X, Y);
          keep_worst(worst, std::fabs(second(i, i) - set["hessian_x"][i][a][b].get<double>()));
          ++compared;
        }
      }
      keep_worst(worst, std::fabs(laplacian - set["laplacian_x"][i].get<double>()));
    }
    CHECK(worst <= 1e-12);
  }
  CHECK(compared == 3 * (1 + 4 + 9));
}

TEST_CASE("kernel derivatives: 0 where the kernel or a polynomial vanishes, not NaN") {
  const double far[] = {1e5}, farther[] = {1e40}, origin[] = {0};
  CHECK(kernel::make_gaussian({1}, 1)->derivative({{0, 64}}, 1, far, origin) == 0);
  CHECK(kernel::make_gaussian({1}, 1)->derivative({{0, 8}}, 1, farther, origin) == 0);
  CHECK(kernel::make_gaussian({1e-5}, 1)->derivative({{0, 63}}, 1, origin, origin) == 0);
  const double none[] = {NAN};
  CHECK(std::isnan(kernel::make_gaussian({1}, 1)->derivative({{0, 2}}, 1, none, origin)));
}

namespace {

std::unique_ptr<kernel::Kernel> made(const std::string& json) {
  return kernel::make_kernel(spec::parse_object(json));
}

/// The largest difference of d^{p,q} of two kernels for some p and q, as a share of the derivative.
double disagreement(const std::string& a, const std::string& b, int64_t d, double spread) {
  const auto first = made(a), second = made(b);
  const auto X = filled(
                 4, d, [&](int64_t i, int64_t k) { return spread * random_matrix(4, d, 1)(i, k); }),
             Y = random_matrix(3, d, 2);
  const MultiIndex orders[] = {{},          {{0, 1}}, {{0, 2}}, {{0, 3}}, {{0, 2}, {d - 1, 1}},
                               {{d - 1, 6}}};
  double worst = 0;
  for (const MultiIndex& p : orders) {
    for (const MultiIndex& q : orders) {
      if (d == 1 && (p.size() > 1 || q.size() > 1)) continue;
      const auto A = derivatives(*first, p, q, X, Y), B = derivatives(*second, p, q, X, Y);
      for (int64_t i = 0; i < 12; ++i)
        keep_worst(worst,
                   std::fabs(A.data()[i] - B.data()[i]) / std::max(largest(A.view()), 1e-300));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("kernel derivatives: the same kernel by another formula") {
  // Orders up to 12: explicit sums of them lose up to five digits.
  const std::string gaussian = R"({"kernel":"gaussian","lengthscale":0.8,"variance":1.5})";
  CHECK(disagreement(gaussian,
                     R"({"kernel":"product","variance":0.5,"parts":[{"kernel":"gaussian",)"
                     R"("lengthscale":1},{"kernel":"gaussian","lengthscale":1.3333333333333333,)"
                     R"("variance":3}]})",
                     3, 1) <= 1e-10);
  CHECK(disagreement(gaussian,
                     R"({"kernel":"spectral_mixture","weights":[0.7,0.8],"means":[0,0],)"
                     R"("variances":[1.5625,1.5625]})",
                     3, 1) <= 1e-13);
  CHECK(disagreement(R"({"kernel":"cauchy","lengthscale":1.4142135623730951})",
                     R"({"kernel":"rational_quadratic"})", 1, 1) <= 1e-10);
  CHECK(disagreement(R"({"kernel":"polynomial","degree":3,"gamma":0.5,"offset":2})",
                     R"({"kernel":"dot_product","coefficients":[8,6,1.5,0.125]})", 3, 1) <= 1e-13);
  const std::string square = R"({"kernel":"polynomial","degree":2,"offset":1})";
  CHECK(disagreement(R"({"kernel":"polynomial","degree":4,"offset":1,"variance":3})",
                     R"({"kernel":"product","variance":3,"parts":[)" + square + "," + square + "]}",
                     3, 1) <= 1e-12);
  CHECK(disagreement(R"({"kernel":"exponential","lengthscale":[1,2,0.5],"variance":2})",
                     R"({"kernel":"sum","parts":[{"kernel":"exponential","lengthscale":[1,2,0.5],)"
                     R"("variance":0.5},{"kernel":"exponential","lengthscale":[1,2,0.5],)"
                     R"("variance":1.5}]})",
                     3, 0.3) <= 1e-13);
}

TEST_CASE("kernel derivatives: Matern as often as it has them, at 0 too") {
  const double zero[] = {0, 0}, near[] = {1e-120, 0};
  const auto slope = [](const kernel::Kernel& k, const MultiIndex& p, const double* x,
                        const double* y) { return k.differential(p, {})->at(2, x, y); };
  const auto three = made(R"({"kernel":"matern","nu":1.5})"),
             five = made(R"({"kernel":"matern","nu":2.5})");
  CHECK(made(R"({"kernel":"matern","nu":0.5})")->most_derivatives() == 0);
  CHECK(made(R"({"kernel":"matern","nu":1})")->most_derivatives() == 0);
  CHECK(made(R"({"kernel":"matern","nu":1.2})")->most_derivatives() == 1);
  CHECK(made(R"({"kernel":"matern","nu":7})")->most_derivatives() == 6);
  CHECK(made(R"({"kernel":"matern","nu":1e9})")->most_derivatives() == 64);
  REQUIRE(three->most_derivatives() == 2);
  REQUIRE(five->most_derivatives() == 4);
  // 1 - 3 r^2/2 + ..., 1 - 5 r^2/6 + 25 r^4/24 - ...
  for (const double* x : {zero, near}) {
    CHECK(slope(*three, {{0, 1}}, x, zero) == Approx(0).margin(1e-100));
    CHECK(slope(*three, {{0, 2}}, x, zero) == Approx(-3).epsilon(1e-14));
    CHECK(slope(*three, {{0, 1}, {1, 1}}, x, zero) == Approx(0).margin(1e-100));
    CHECK(slope(*five, {{1, 2}}, x, zero) == Approx(-5.0 / 3).epsilon(1e-14));
    CHECK(slope(*five, {{0, 4}}, x, zero) == Approx(25).epsilon(1e-14));
    CHECK(slope(*five, {{0, 2}, {1, 2}}, x, zero) == Approx(25.0 / 3).epsilon(1e-14));
  }
  // Half-integral nu by the mixture: from both sides of 2.5 the closed form.
  const double u[] = {0.3, -0.8};
  const auto below = made(R"({"kernel":"matern","nu":2.499999})"),
             beyond = made(R"({"kernel":"matern","nu":2.500001})");
  for (const MultiIndex& p : {MultiIndex{{0, 1}}, MultiIndex{{0, 1}, {1, 1}}, MultiIndex{{1, 2}}})
    CHECK((slope(*below, p, u, zero) + slope(*beyond, p, u, zero)) / 2 ==
          Approx(slope(*five, p, u, zero)).epsilon(1e-10));
}

TEST_CASE("kernel derivatives: far out they are 0, of no number NaN") {
  const double far[] = {1e200, -3}, origin[] = {0, 0}, none[] = {NAN, 0};
  for (const char* json :
       {R"({"kernel":"gaussian"})", R"({"kernel":"rational_quadratic"})", R"({"kernel":"cauchy"})",
        R"({"kernel":"matern","nu":2.5})", R"({"kernel":"matern","nu":3.2})",
        R"({"kernel":"spectral_mixture","weights":[1],"means":[2],"variances":[1]})"}) {
    INFO(json);
    const auto kernel = made(json);
    double gradient[] = {0, 0}, lost[] = {0, 0};
    kernel->add_gradient(1, 2, far, origin, gradient);
    kernel->add_gradient(1, 2, none, origin, lost);
    CHECK(std::fabs(gradient[0]) + std::fabs(gradient[1]) <= 1e-150);
    CHECK(std::isnan(lost[0]));
    const auto second = kernel->differential({{0, 1}, {1, 1}}, {});
    CHECK(std::fabs(second->at(2, far, origin)) <= 1e-150);
    CHECK(std::isnan(second->at(2, none, origin)));
  }
}

TEST_CASE("kernel derivatives: a row with a NaN has NaN alone") {
  const Matrix<double> X = filled(
      3, 2, [](int64_t i, int64_t k) { return i == 1 && k == 1 ? NAN : static_cast<double>(i); });
  const Matrix<double> Y =
      filled(2, 2, [](int64_t i, int64_t k) { return i == 1 ? NAN : static_cast<double>(2 * k); });
  for (const char* json :
       {R"({"kernel":"gaussian"})", R"({"kernel":"rational_quadratic"})", R"({"kernel":"cauchy"})",
        R"({"kernel":"matern","nu":2.5})", R"({"kernel":"exponential"})",
        R"({"kernel":"polynomial","degree":2})", R"({"kernel":"dot_product","coefficients":[1,2]})",
        R"({"kernel":"spectral_mixture","weights":[1],"means":[2],"variances":[1]})"}) {
    INFO(json);
    const auto kernel = made(json);
    for (const MultiIndex& p : {MultiIndex{}, MultiIndex{{0, 1}}, MultiIndex{{0, 2}}}) {
      const auto K = derivatives(*kernel, p, {}, X, Y);
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 2; ++j) CHECK(std::isnan(K(i, j)) == (i == 1 || j == 1));
    }
  }
}

TEST_CASE("kernel derivatives: Matern is 0 where squared distances nearly overflow") {
  const double origin[] = {0};
  for (const double nu : {0.5, 0.7, 1.5, 2.5, 3.2, 5.01}) {
    for (const double distance : {1e150, 1e154, 1.3e154, 1e200}) {
      const auto kernel = kernel::make_matern(nu, {1.0}, 1);
      CAPTURE(nu, distance);
      CHECK(kernel->value(1, &distance, origin) == 0);
      if (kernel->most_derivatives() < 2) continue;
      double gradient = 0;
      kernel->add_gradient(1, 1, &distance, origin, &gradient);
      CHECK(gradient == 0);
      CHECK(kernel->differential({{0, 2}}, {})->at(1, &distance, origin) == 0);
    }
  }
}

TEST_CASE("kernel derivatives: refusals, and orders that add up") {
  const auto X = random_matrix(2, 3, 1), Y = random_matrix(2, 4, 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                derivatives(*kernel::make_laplacian({1}, 1), {}, {{0, 1}}, X, X), "laplacian",
                "nu < 1.01", "intersection");
  CHECK(kernel::make_matern(1.01, {1}, 1)->most_derivatives() == 1);
  CHECK(kernel::make_matern(1.009, {1}, 1)->most_derivatives() == 0);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                derivatives(*made(R"({"kernel":"sum","parts":[{"kernel":"matern","nu":2.5},)"
                                  R"({"kernel":"gaussian"}]})"),
                            {{0, 3}}, {{0, 2}}, X, X),
                "order 5 in all of kernel sum, expected up to 4");
  const std::string parts = R"({"kernel":"gaussian"},{"kernel":"exponential"})";
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                derivatives(*made(R"({"kernel":"product","parts":[)" + parts + "]}"), {{0, 32}},
                            {{0, 32}}, X, X),
                "1024 coefficients");
  const auto kernel = kernel::make_gaussian({1, 2, 3}, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, derivatives(*kernel, {}, {}, X, Y), "2 x 4");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, derivatives(*kernel, {}, {}, Y, Y));
  CHECK(std::isnan(kernel::make_laplacian({1}, 1)->derivative({}, 3, X.data(), X.data())));
  const MultiIndex sum = kernel::sum_of({{0, 1}, {2, 1}}, {{1, 4}, {2, 2}, {5, 1}});
  REQUIRE(sum.size() == 4);
  CHECK((sum[0].input == 0 && sum[0].order == 1 && sum[1].input == 1 && sum[1].order == 4));
  CHECK((sum[2].input == 2 && sum[2].order == 3 && sum[3].input == 5 && sum[3].order == 1));
  CHECK(total_order(sum) == 9);
}

}  // namespace mercer::test::derivative_test
