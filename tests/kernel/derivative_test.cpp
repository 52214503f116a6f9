// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of the Gaussian: the reference numbers, finite differences, refusals.
#include <cmath>

#include "base/aligned.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace mercer::test {
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

TEST_CASE("kernel derivatives are the reference numbers", "[kernel]") {
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
        }
      }
      keep_worst(worst, std::fabs(laplacian - set["laplacian_x"][i].get<double>()));
    }
    CHECK(worst <= 1e-12);
  }
}

TEST_CASE("kernel derivatives are finite differences of those below", "[kernel]") {
  const auto kernel = kernel::make_gaussian({0.9, 1.7, 1.2}, 2.5);
  const auto X = random_matrix(5, 3, 1), Y = random_matrix(4, 3, 2);
  const MultiIndex chain[] = {{}, {{1, 1}}, {{1, 2}}, {{1, 3}}, {{1, 3}, {2, 1}}, {{1, 3}, {2, 2}}};
  const double h = 1e-5;
  for (size_t n = 0; n + 1 < std::size(chain); ++n) {
    const int64_t k = n < 3 ? 1 : 2;
    for (const bool of_y : {false, true}) {
      const auto moved = [&](double by) {
        auto x = copy(X.view()), y = copy(Y.view());
        const Matrix<double>& which = of_y ? y : x;
        for (int64_t i = 0; i < which.rows(); ++i) which(i, k) += by;
        return of_y ? derivatives(*kernel, {{0, 1}}, chain[n], x, y)
                    : derivatives(*kernel, chain[n], {{0, 1}}, x, y);
      };
      const auto above = moved(h), below = moved(-h);
      const auto exact = of_y ? derivatives(*kernel, {{0, 1}}, chain[n + 1], X, Y)
                              : derivatives(*kernel, chain[n + 1], {{0, 1}}, X, Y);
      const auto quotient =
          filled(5, 4, [&](int64_t i, int64_t j) { return (above(i, j) - below(i, j)) / (2 * h); });
      CHECK(difference(exact.view(), quotient.view(),
                       1e-6 * std::max(1.0, largest(exact.view()))) == "");
    }
  }
}

TEST_CASE("kernel derivatives: 0 where the kernel or a polynomial vanishes, not NaN", "[kernel]") {
  const double far[] = {1e5}, farther[] = {1e40}, origin[] = {0};
  CHECK(kernel::make_gaussian({1}, 1)->derivative({{0, 64}}, 1, far, origin) == 0);
  CHECK(kernel::make_gaussian({1}, 1)->derivative({{0, 8}}, 1, farther, origin) == 0);
  CHECK(kernel::make_gaussian({1e-5}, 1)->derivative({{0, 63}}, 1, origin, origin) == 0);
  const double none[] = {NAN};
  CHECK(std::isnan(kernel::make_gaussian({1}, 1)->derivative({{0, 2}}, 1, none, origin)));
}

TEST_CASE("kernel derivatives: refusals, and orders that add up", "[kernel]") {
  const auto X = random_matrix(2, 3, 1), Y = random_matrix(2, 4, 1);
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED,
            [&] {
              derivatives(*kernel::make_laplacian({1}, 1), {}, {{0, 1}}, X, X);
            },
            "laplacian", "gaussian") == "");
  const auto kernel = kernel::make_gaussian({1, 2, 3}, 1);
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { derivatives(*kernel, {}, {}, X, Y); }, "2 x 4") == "");
  CHECK(refusal_fault(MERCER_DIMENSION_MISMATCH, [&] { derivatives(*kernel, {}, {}, Y, Y); }) ==
        "");
  CHECK(std::isnan(kernel::make_laplacian({1}, 1)->derivative({}, 3, X.data(), X.data())));
  const MultiIndex sum = kernel::sum_of({{0, 1}, {2, 1}}, {{1, 4}, {2, 2}, {5, 1}});
  REQUIRE(sum.size() == 4);
  CHECK((sum[0].input == 0 && sum[0].order == 1 && sum[1].input == 1 && sum[1].order == 4));
  CHECK((sum[2].input == 2 && sum[2].order == 3 && sum[3].input == 5 && sum[3].order == 1));
  CHECK(total_order(sum) == 9);
}

}  // namespace mercer::test
